"""Declared references that a run enforces on every tuple, and what they leave to be compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.runtime.columnar.encode import flatten
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck
from ontoweir.runtime.pool.text_table import TextTable

ColumnPlace = tuple[str, str]
"""A static relation, and a column of it."""


@dataclass(frozen=True, slots=True)
class EnforcedReference:
    """A value of `stream`.`column` has to be in `relation`.`to`; else its tuple is rejected, for
    the `reason`."""

    stream: str
    column: str
    relation: str
    to: str
    reason: str


def list_references(catalog: Catalog, streams: Sequence[str]) -> tuple[EnforcedReference, ...]:
    """Declared references of one column to enforce, each once."""
    references: dict[EnforcedReference, None] = {}
    for stream in map(catalog.streams.__getitem__, streams):
        for column, relation, to in refers_to(stream):
            reason = f"{stream.name}.{column} is not in {relation}.{to}"
            references[EnforcedReference(stream.name, column, relation, to, reason)] = None
    return tuple(references)


def refers_to(stream: Stream) -> Iterator[tuple[str, str, str]]:
    """The references of a stream that are enforced: its column, the relation and its column."""
    for reference in stream.references:
        if len(reference.columns) == 1 and reference.columns[0] != stream.timestamp:
            yield reference.columns[0], reference.relation, reference.to[0]


def compare_within(form: NormalForm, catalog: Catalog) -> Mapping[Attribute, list[ColumnPlace]]:
    """Of attributes, the columns that hold every value of their class, and may not hold theirs.

    Left out are those that hold it for certain: the attribute's own column, and what its stream
    refers to with a value of the same type, as tuples that break a reference are not admitted.

    Args:
        form: whose attributes.
        catalog: its tables.
    """
    tables = {o.alias: catalog.table(o.table) for o in form.query.occurrences}
    wanted: dict[Attribute, list[ColumnPlace]] = {}
    for group in form.classes:
        for attribute, shift in group.attributes:
            if not group.domain.within:
                wanted[attribute] = []
                continue
            table = tables[attribute.alias]
            known: set[ColumnPlace] = set()
            column = table.column(attribute.column)
            if shift == 0 and isinstance(table, Relation):
                known = {(table.name, attribute.column)}
            elif shift == 0 and isinstance(table, Stream) and column is not None:
                places = [(r, t) for c, r, t in refers_to(table) if c == column.name]
                there = ((p, catalog.relations[p[0]].column(p[1])) for p in places)
                known = {p for p, to in there if to is not None and to.type == column.type}
            wanted[attribute] = [p for p in group.domain.within if p not in known]
    return wanted


def reference_checks(
    references: Sequence[EnforcedReference], statics: Mapping[str, pa.Table]
) -> dict[str, list[ReferenceCheck]]:
    """The declared references that a run compares with its static data, by stream."""
    checks: dict[str, list[ReferenceCheck]] = {}
    tables: dict[tuple[str, str], TextTable] = {}
    for reference in references:
        column = statics[reference.relation].column(reference.to)
        values: pa.Array | TextTable
        if pa.types.is_string(column.type):
            place = reference.relation, reference.to
            if place not in tables:
                tables[place] = TextTable()
                tables[place].add(flatten(column))
            values = tables[place]
        else:
            values = pc.drop_null(pc.unique(column))
        check = ReferenceCheck(reference.column, values, reference.reason)
        checks.setdefault(reference.stream, []).append(check)
    return checks
