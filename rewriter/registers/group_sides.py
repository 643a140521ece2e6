"""Groups of the rows of several SELECTs, in which some columns have no value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.sql.read_scope import Scope

if TYPE_CHECKING:
    from sqlglot import exp

ROWS = "rows beside"


@dataclass(frozen=True, slots=True)
class GroupSide:
    """Rows of a SELECT, whose items are not looked at. `known`: a column that has a value in all of
    them; `hidden`: columns, by alias and name, that are NULL in them; `marks`: columns more, each
    with its number."""

    select: "exp.Select"
    known: "exp.Column"
    hidden: frozenset[tuple[str, str]] = frozenset()
    marks: Mapping[str, int] = field(default_factory=dict)


def group_sides(
    written: "exp.Select", sides: Sequence[GroupSide], scope: Scope, kept: Sequence[str]
) -> "exp.Select":
    """A SELECT over the rows of several sides together, in the place of those of its own FROM.

    Args:
        written: its columns say of which table they are.
        sides: what the rows are.
        scope: its tables.
        kept: what it has besides its items: "group", "having".
    """
    from sqlglot import exp

    outer = exp.Select(expressions=[e.copy() for e in written.expressions])
    for key in kept:
        if written.args.get(key) is not None:
            outer.set(key, written.args[key].copy())
    names: dict[tuple[str, str], str] = {}
    for column in list(outer.find_all(exp.Column)):
        if column.table and column.table != ROWS:
            name = names.setdefault((column.table, column.name), f"column {len(names)}")
            shown = exp.column(name, ROWS, quoted=True)
            alone = column.parent is outer
            column.replace(exp.alias_(shown, column.name, quoted=True) if alone else shown)
    rows: exp.Query | None = None
    for side in sides:
        items = [
            exp.alias_(_show(place, side, scope, n), name, quoted=True)
            for n, (place, name) in enumerate(names.items())
        ]
        items += [
            exp.alias_(_spell(number, len(items) + n, side.known), called, quoted=True)
            for n, (called, number) in enumerate(side.marks.items())
        ]
        one = side.select.copy()
        one.set("expressions", items)
        rows = one if rows is None else exp.union(rows, one, distinct=False, copy=False)
    alias = exp.TableAlias(this=exp.to_identifier(ROWS, quoted=True))
    outer.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))
    return outer


def mark(name: str) -> "exp.Column":
    """A column of the sides' own."""
    from sqlglot import exp

    return exp.column(name, ROWS, quoted=True)


def count_marked(name: str) -> "exp.Expr":
    """How many rows have a mark: of no rows a sum is NULL, and a number 0."""
    from sqlglot import exp

    return exp.Coalesce(this=exp.Sum(this=mark(name)), expressions=[exp.Literal.number(0)])


def _spell(number: int, place: int, known: "exp.Expr") -> "exp.Expr":
    """A number, computed of a column that has a value, in another way in every place: what is
    computed in one way would be one column."""
    from sqlglot import exp

    absent = exp.Is(this=known.copy(), expression=exp.Null())
    one = exp.If(this=absent, true=exp.Literal.number(place))
    return exp.Case(ifs=[one], default=exp.Literal.number(number))


def _null_of(kind: ColumnType, place: int, known: "exp.Expr") -> "exp.Expr":
    """NULL as an expression of a type, likewise."""
    import sqlglot
    from sqlglot import exp

    match kind:
        case IntType():
            text = str(place)
        case DecimalType(precision=precision, scale=scale):
            text = f"CAST({place % 10 ** (precision - scale)} AS DECIMAL({precision}, {scale}))"
        case FloatType():
            text = f"CAST({place} AS DOUBLE)"
        case BooleanType():
            text = "TRUE" if place % 2 else "FALSE"
        case DateType():
            text = f"DATE '{1970 + place}-01-01'"
        case StringType():
            text = f"'{place}'"
        case TimestampType():
            return exp.Nullif(this=known.copy(), expression=known.copy())
    value: exp.Expr = sqlglot.parse_one(text, dialect="spark")
    absent = exp.Is(this=known.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=absent, true=value)], default=exp.Null())


def _type_of(place: tuple[str, str], scope: Scope) -> ColumnType:
    """The type of a column."""
    table = scope.tables[place[0]]
    if isinstance(table, Stream) and place[1] == table.timestamp:
        return TimestampType()
    column = table.column(place[1])
    assert column is not None
    return column.type


def _show(place: tuple[str, str], side: GroupSide, scope: Scope, number: int) -> "exp.Expr":
    from sqlglot import exp

    if place in side.hidden:
        return _null_of(_type_of(place, scope), number, side.known)
    return exp.column(place[1], place[0], quoted=True)
