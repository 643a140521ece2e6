"""The columns of joined rows, as a query: what says of which types they are."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    Relation,
)
from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import JoinedRow
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    Occurrence,
    SpjQuery,
    SpjUnion,
)

ROW = "joined rows"
"""What their table is called."""
_DIGITS = 19
"""So many digits have the numbers that decimals are computed by: whole numbers of 64 bits."""


def row_table(columns: Sequence[tuple[str, ColumnType]]) -> Relation:
    """A table with some columns, each of which may be NULL.

    Args:
        columns: names, and types.
    """
    made = (Column(name, _widen(kind), nullable=True) for name, kind in columns)
    return Relation(ROW, DataSource("none", None), tuple(made))


def row_union(
    columns: Sequence[tuple[str, ColumnType]],
    groups: Aggregation | None,
    catalog: Catalog,
    source: Source | None = None,
) -> tuple[SpjUnion, Catalog]:
    """A query of rows with some columns, or of groups of them; and the catalog with their table.
    It is never run: their types are read off it.

    Args:
        columns: names, and types.
        groups: their variables are among the columns (None: rows are told).
        catalog: of the query.
        source: where it is written.
    """
    names = [name for name, _ in columns] if groups is None else groups.variables
    outputs = ((name, LiteralOutput(Attribute(ROW, name), optional=True)) for name in names)
    query = SpjQuery((Occurrence(ROW, ROW),), (), tuple(outputs))
    union = SpjUnion(ROW, tuple(names), (query,), False, source=source, aggregation=groups)
    relations = {**catalog.relations, ROW: row_table(columns)}
    return union, replace(catalog, relations=relations)


def show_columns(
    shown: Sequence[tuple[str, str, ColumnType]],
) -> tuple[tuple[tuple[str, str], ...], JoinedRow[SpjUnion]]:
    """The columns of joined rows, as they are: what is read of the rows, by names that no column
    has, and what is made of that.

    Args:
        shown: name, variable and type of each.
    """
    names, prefix = tuple(name for name, _, _ in shown), "shown "
    while any(name.startswith(prefix) for name in names):
        prefix = f"{prefix} "
    read = tuple((f"{prefix}{name}", variable) for name, variable, _ in shown)
    typed = tuple((name, kind) for name, _, kind in shown)
    computed = tuple((name, Field(f"{prefix}{name}", kind)) for name, kind in typed)
    return read, JoinedRow(Aggregation(tuple(n for n, _ in read), (), names, computed), typed)


def _widen(kind: ColumnType) -> ColumnType:
    if not isinstance(kind, DecimalType):
        return kind
    return DecimalType(max(kind.precision, _DIGITS), kind.scale)
