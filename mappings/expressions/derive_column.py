"""Derived columns: what a row's expression is in the catalog."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ontoweir.errors import CatalogError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Scalar,
    Stream,
    StringType,
)
from ontoweir.mappings.model.column_types import is_value
from ontoweir.mappings.model.expression import Expression, UserCall, fields_of


def derive_column(expression: Expression, columns: Sequence[Column]) -> Column:
    """The column that an expression is: named after what it computes, with a domain where one
    follows from those of the columns that it reads (`columns`: its table's)."""
    if isinstance(expression, UserCall):  # nothing is known of its values
        return Column(write_expression(expression), expression.type, expression=expression)
    # few commands need Arrow, which takes long to start
    from ontoweir.mappings.expressions.domains.derive_domain import Range, derive_domain
    from ontoweir.mappings.expressions.domains.evaluate_all import Finite

    column = Column(write_expression(expression), expression.type, expression=expression)
    kind = column.type
    match derive_domain(expression, columns):
        case Finite(values=values) if values:
            ordered = tuple(sorted(values))
            whole = isinstance(kind, IntType) and ordered[-1] - ordered[0] == len(ordered) - 1  # type: ignore[operator]
            if isinstance(kind, DateType) or whole:
                return replace(column, minimum=ordered[0], maximum=ordered[-1])
            if isinstance(kind, IntType | DecimalType | FloatType | StringType):
                return replace(column, enum=ordered)
        case Range(low=low, high=high) if isinstance(kind, IntType | DecimalType):
            return replace(column, minimum=_end(low, kind, -1), maximum=_end(high, kind, 1))
    return column


def add_derived(catalog: Catalog, derived: Iterable[tuple[str, Expression]]) -> Catalog:
    """The catalog with derived columns, by their tables. Their domains follow from what it declares
    of these.

    Raises:
        CatalogError: a table has a column of the name that a derived one would have.
    """
    streams, relations = dict(catalog.streams), dict(catalog.relations)
    for name, expression in derived:
        table: Stream | Relation = streams[name] if name in streams else relations[name]
        column = derive_column(expression, table.columns)
        known = table.column(column.name)
        if known is not None and known.expression == expression:
            continue
        if known is not None:
            raise CatalogError(
                f"{name} has a column called {column.name!r}",
                why="the expression of this text would be a column of the same name",
                fix="rename the column",
                source=table.source,
            )
        columns = (*table.columns, column)
        if isinstance(table, Stream):
            streams[name] = replace(table, columns=columns)
        else:
            relations[name] = replace(table, columns=columns)
    return replace(catalog, streams=streams, relations=relations)


def read_columns(table: Stream | Relation, names: Iterable[str]) -> set[str]:
    """Columns of the data behind some columns: themselves, or what derived ones are computed
    from; a stream's timestamp is left out."""
    read: set[str] = set()
    for name in names:
        column = table.column(name)
        if column is not None and column.expression is not None:
            read |= read_columns(table, fields_of(column.expression))
        elif column is not None:
            read.add(name)
    return read


def _end(end: Fraction | None, kind: IntType | DecimalType, side: int) -> Scalar | None:
    """An end of a range as a value of the type, not inside the range; None where the type has none
    there, and so none beyond."""
    if end is None:
        return None
    scale = kind.scale if isinstance(kind, DecimalType) else 0
    moved = end * 10**scale
    whole = moved.__floor__() if side < 0 else moved.__ceil__()
    exact = Fraction(whole, 10**scale)
    number: Scalar = int(exact) if exact.denominator == 1 else _decimal(whole, scale)
    return number if is_value(number, kind) else None


def _decimal(whole: int, scale: int) -> Scalar:
    return Decimal(whole).scaleb(-scale)
