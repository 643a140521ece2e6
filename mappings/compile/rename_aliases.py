"""Gives the tables of a mapping's source other aliases."""

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingSource,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceNotNull,
    SourceOneOf,
    SourceTable,
    TemplateMap,
    TermMap,
)


def rename_column(column: SourceColumn, renaming: Mapping[str, str]) -> SourceColumn:
    """The column under its new alias."""
    return SourceColumn(renaming[column.alias], column.column)


def rename_source(source: MappingSource, renaming: Mapping[str, str]) -> MappingSource:
    """The source with all aliases renamed."""

    def rename(condition: SourceCondition) -> SourceCondition:
        match condition:
            case SourceNotNull(column=column):
                return SourceNotNull(rename_column(column, renaming))
            case SourceOneOf(column=column):
                return replace(condition, column=rename_column(column, renaming))
            case SourceCompare(left=left, right=right):
                new = rename_column(right, renaming) if isinstance(right, SourceColumn) else right
                return replace(condition, left=rename_column(left, renaming), right=new)
            case _ as unreachable:
                assert_never(unreachable)

    return MappingSource(
        tuple(SourceTable(renaming[t.alias], t.table) for t in source.tables),
        tuple(rename(c) for c in source.conditions),
        source.derived,
    )


def rename_term(term: TermMap, renaming: Mapping[str, str]) -> TermMap:
    """The term map over the renamed columns."""
    match term:
        case ColumnMap(column=column):
            return replace(term, column=rename_column(column, renaming))
        case TemplateMap(parts=parts):
            renamed = (
                rename_column(p, renaming) if isinstance(p, SourceColumn) else p for p in parts
            )
            return replace(term, parts=tuple(renamed))
        case ConstantMap():
            return term
        case _ as unreachable:
            assert_never(unreachable)
