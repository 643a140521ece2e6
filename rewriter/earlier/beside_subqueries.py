"""Aggregates of the rows of another stream before a row, as correlated subqueries: windows over the
rows of both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.earlier.window_subqueries import (
    Rows,
    Sides,
    list_said,
    list_tables,
    name_value,
    put_value,
    read_beside,
    write_window,
)
from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp

_OWN = "own row"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A subquery: its rows, and the aggregate of them; `name`: what its value is called."""

    inner: "exp.Subquery"
    sides: Sides
    call: "exp.Expr"
    rows: Rows
    name: str

    @property
    def key(self) -> "dict[str, str]":
        """Of the columns of the row that are equal, those of theirs."""
        return {own: theirs for theirs, own in self.rows.key}


def beside_subqueries(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query where `(SELECT AVG(t.x) FROM t WHERE t.k = s.k AND t.ts BETWEEN s.ts - INTERVAL '1'
    HOUR AND s.ts)`, beside `s`, is a column of s; in place. The rows of s and of t are those of a
    UNION ALL, over which the value is a window of the rows of t with the key, and the rows of s are
    what is read of it: no row of s is lost, or is there twice.

    Values of the rows of s alone are left (window_subqueries).

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: `*` is beside one, of what is no declared table.
    """
    from sqlglot import exp

    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for select in list(tree.find_all(exp.Select)):
        for table in list_tables(select):
            name = find_name(table.name, catalog.streams)
            if name is None or table.name.lower() in named or table.args.get("joins"):
                continue
            _open(select, table, catalog.streams[name], catalog, named)
    return tree


def _open(
    select: "exp.Select", table: "exp.Table", stream: Stream, catalog: Catalog, named: set[str]
) -> None:
    """Make windows of what is asked beside the rows of a table."""
    from sqlglot import exp

    alias = table.alias_or_name
    taken = list(column_names(stream))
    asked: list[_Asked] = []
    for inner in select.find_all(exp.Subquery):
        if inner.find_ancestor(exp.Select) is not select:
            continue
        found = read_beside(inner, alias, stream, catalog)
        if found is None or inner.this.args["from_"].this.name.lower() in named:
            continue
        one = _Asked(inner, *found, name_value(inner, taken))
        if _fits(one):
            taken.append(one.name)
            asked.append(one)
    if all(one.sides.theirs.name == stream.name for one in asked):
        return
    expand_stars(select, catalog, asked[0].inner.sql("spark"))
    said = list_said(select, alias, sorted({own for one in asked for own in one.key}))
    for column in list_own(select, exp.Column):
        mine = find_name(column.name, column_names(stream)) is not None
        if mine and not column.args.get("table") and not select.args.get("joins"):
            column.set("table", exp.to_identifier(alias, quoted=True))
    names = {i.name.lower() for i in select.find_all(exp.Identifier)}
    read = [c for c in column_names(stream) if c.lower() in names or c == stream.timestamp]
    rows = _write(asked, stream, read, said)
    for one in asked:
        put_value(one.inner, one.name, alias)
    table.replace(exp.alias_(exp.Subquery(this=rows), alias, table=True, quoted=True))


def _fits(one: _Asked) -> bool:
    """Whether each column of the row is equal to one of theirs, of its type; and it is no time that
    chooses the latest row (join_latest)."""
    from sqlglot import exp

    times = one.sides.theirs.timestamp in _list_read(one)
    if len(one.key) < len(dict.fromkeys(one.rows.key)) or (
        times and isinstance(one.inner.parent, exp.EQ)
    ):
        return False
    for own, theirs in one.key.items():
        mine, other = one.sides.row.column(own), one.sides.theirs.column(theirs)
        if mine is None or other is None or type(mine.type) is not type(other.type):
            return False
    return True


def _write(
    asked: Sequence[_Asked], stream: Stream, read: Sequence[str], said: Sequence[str]
) -> "exp.Select":
    """The columns of a stream that are read, with the values."""
    from sqlglot import exp

    parts: list[exp.Query] = [_own_part(asked, stream, read, said)]
    parts += [_other_part(n, asked, stream, read) for n in range(len(asked))]
    united = parts[0]
    for part in parts[1:]:
        united = exp.Union(this=united, expression=part, distinct=False)
    words = dict.fromkeys(one.sides.theirs.name for one in asked)
    name = " and ".join([asked[0].sides.alias, *words])
    shown: list[exp.Expr] = [exp.column(c, name, quoted=True) for c in read]
    inner = exp.select(*(c.copy() for c in shown), exp.column(_OWN, name, quoted=True))
    for n, one in enumerate(asked):
        window = write_window(_placed(one, n), _without_held(one), list(one.key), stream)
        window = _of(window, name)
        inner = inner.select(exp.alias_(window, one.name, quoted=True))
    inner = inner.from_(exp.alias_(exp.Subquery(this=united), name, table=True, quoted=True))
    for key in said:
        inner.where(_is_there(key, name), copy=False)
    outer = exp.select(*shown, *(exp.column(one.name, name, quoted=True) for one in asked))
    outer = outer.from_(exp.alias_(exp.Subquery(this=inner), name, table=True, quoted=True))
    mine = exp.EQ(this=exp.column(_OWN, name, quoted=True), expression=exp.Literal.number(1))
    return outer.where(mine)


def _without_held(one: _Asked) -> Rows:
    """The rows of a subquery, without what its part of the UNION ALL says of them."""
    return Rows(one.rows.key, [], one.rows.span_us, one.rows.until_us)


def _placed(one: _Asked, place: int) -> "exp.Expr":
    """An aggregate of the columns of a part of the UNION ALL."""
    from sqlglot import exp

    call = one.call.copy()
    if isinstance(call.this, exp.Star) or call.this.find(exp.Column) is None:
        column = exp.column(_there(place), quoted=True)
        if isinstance(call, exp.Count):
            call.set("this", column)
            return call
        missing = exp.Is(this=column, expression=exp.Null())
        case = exp.Case(ifs=[exp.If(this=exp.Not(this=missing), true=call.this.copy())])
        call.set("this", case)
        return call
    for column in list(call.find_all(exp.Column)):
        read = _read_column(one, column)
        column.replace(exp.column(_theirs(read, place), quoted=True))
    return call


def _read_column(one: _Asked, column: "exp.Column") -> str:
    name = find_name(column.name, column_names(one.sides.theirs))
    assert name is not None
    return name


def _list_read(one: _Asked) -> list[str]:
    """The columns that an aggregate reads."""
    from sqlglot import exp

    columns = [c for c in one.call.find_all(exp.Column) if not isinstance(c.this, exp.Star)]
    return list(dict.fromkeys(_read_column(one, c) for c in columns))


def _theirs(column: str, place: int) -> str:
    return f"{column} {place + 1}"


def _there(place: int) -> str:
    return f"row {place + 1}"


def _own_part(
    asked: Sequence[_Asked], stream: Stream, read: Sequence[str], said: Sequence[str]
) -> "exp.Select":
    """The rows of the stream, without values of others."""
    from sqlglot import exp

    shown = [exp.column(c, stream.name, quoted=True) for c in read]
    mark = exp.alias_(exp.Literal.number(1), _OWN, quoted=True)
    made = exp.select(*shown, mark, *_absent(asked, None))
    made = made.from_(_table(stream))
    for key in said:
        made.where(_is_there(key, stream.name), copy=False)
    return made


def _other_part(
    place: int, asked: Sequence[_Asked], stream: Stream, read: Sequence[str]
) -> "exp.Select":
    """The rows that a value is of, in the columns of the stream."""
    from sqlglot import exp

    one = asked[place]
    theirs, key = one.sides.theirs, one.key
    shown: list[exp.Expr] = []
    for name in read:
        value: exp.Expr
        if name == stream.timestamp:
            value = exp.column(theirs.timestamp, theirs.name, quoted=True)
        elif name in key:
            value = exp.column(key[name], theirs.name, quoted=True)
        else:
            column = stream.column(name)
            assert column is not None
            value = _sample(column)
        shown.append(exp.alias_(value, name, quoted=True))
    mark = exp.alias_(exp.Literal.number(0), _OWN, quoted=True)
    made = exp.select(*shown, mark, *_absent(asked, place))
    made = made.from_(_table(theirs))
    made.where(*(_of(c, theirs.name) for c in one.rows.held), copy=False)
    for column_name in dict.fromkeys(key.values()):
        made.where(_is_there(column_name, theirs.name), copy=False)
    return made


def _table(stream: Stream) -> "exp.Table":
    from sqlglot import exp

    return exp.Table(this=exp.to_identifier(stream.name, quoted=True))


def _absent(asked: Sequence[_Asked], place: int | None) -> "Iterator[exp.Expr]":
    """The columns of all subqueries, NULL but for those of one of them."""
    from sqlglot import exp

    for n, one in enumerate(asked):
        of = one.sides.theirs.name
        there: exp.Expr = exp.Literal.number(1) if n == place else exp.Null()
        yield exp.alias_(there, _there(n), quoted=True)
        for name in _list_read(one):
            value = exp.column(name, of, quoted=True) if n == place else exp.Null()
            yield exp.alias_(value, _theirs(name, n), quoted=True)


def _is_there(column: str, table: str) -> "exp.Expr":
    from sqlglot import exp

    read = exp.column(column, table, quoted=True)
    return exp.Not(this=exp.Is(this=read, expression=exp.Null()))


def _of(tree: "exp.Expr", table: str) -> "exp.Expr":
    """An expression whose columns are those of a table."""
    from sqlglot import exp

    made = tree.copy()
    for column in list(made.find_all(exp.Column)):
        if not isinstance(column.this, exp.Star):
            column.set("table", exp.to_identifier(table, quoted=True))
    return made


def _sample(column: Column) -> "exp.Expr":
    """A value of a column, which no answer shows."""
    from sqlglot import exp

    value = column.enum[0] if column.enum else column.minimum
    match column.type:
        case BooleanType():
            return exp.true()
        case StringType():
            return exp.Literal.string(str(value or ""))
        case DateType():
            return exp.cast(exp.Literal.string(str(value or "1970-01-01")), "date")
        case TimestampType():
            return exp.cast(exp.Literal.string(str(value or "1970-01-01 00:00:00")), "timestamp")
        case FloatType():
            return exp.Literal.number("0e0")
        case DecimalType(scale=scale):
            return exp.Literal.number(f"0.{'0' * max(1, scale)}")
        case IntType():
            least = value if isinstance(value, int) else 0
            number = exp.Literal.number(abs(least))
            return exp.Neg(this=number) if least < 0 else number
        case _:
            assert_never(column.type)
