"""The selected columns of which NULL is not shown: rows where they are NULL are no results."""

from collections.abc import Iterator

from ontoweir.mappings.expressions.derive_column import read_columns
from ontoweir.mappings.expressions.may_be_null import is_nullable, may_be_null
from ontoweir.mappings.model.assertion import SourceColumn, SourceCompare
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.sql.read_select import SelectShape


def list_hidden(select: SelectShape) -> Iterator[tuple[str, str]]:
    """The tables and columns of a SELECT of columns, as far as no condition asks for a value."""
    for _, shown in select.projections:
        if not isinstance(shown, SourceColumn):
            continue
        table = select.scope.tables[shown.alias]
        column = table.column(shown.column)
        if column is None or column.bucket is not None:
            continue
        if all(_is_asked(shown, alternative) for alternative in select.alternatives):
            continue
        never, expression = never_null(table), column.expression
        if is_nullable(table, shown.column):
            continue
        if expression is not None and not may_be_null(expression, never):
            continue
        for name in read_columns(table, [shown.column]):
            read = table.column(name)
            if read is not None and not read.nullable and name not in never:
                yield table.name, name


def _is_asked(column: SourceColumn, conditions: tuple[object, ...]) -> bool:
    """Whether a condition holds only where a column has a value."""
    for c in conditions:
        sides = (c.left, c.right) if isinstance(c, SourceCompare) else (getattr(c, "column", None),)
        if column in sides:
            return True
    return False
