"""Aggregates of the rows before a row, as correlated subqueries: windows over the stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.latest.join_latest import compare_greatest
from ontoweir.rewriter.windows.read_sql_grid import read_interval

if TYPE_CHECKING:
    from sqlglot import exp


def window_subqueries(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query where `(SELECT AVG(b.x) FROM s b WHERE b.k = a.k AND b.ts < a.ts AND b.ts >= a.ts -
    INTERVAL '1' HOUR)`, beside `s a`, is a column of s: `AVG(x) OVER (PARTITION BY k ORDER BY ts
    RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW EXCLUDE GROUP)`; in place.

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
            if table.name.lower() in named:
                continue
            if name is not None and not table.args.get("joins"):
                _window(select, table, catalog.streams[name], catalog)
    return tree


def list_tables(select: "exp.Select") -> "list[exp.Table]":
    """The tables of FROM and its inner joins: their rows are there as they are, not as NULL."""
    from sqlglot import exp

    start, joins = select.args.get("from_"), select.args.get("joins") or ()
    if any(str(j.args.get("side") or "").upper() in ("RIGHT", "FULL") for j in joins):
        return []
    items = [] if start is None else [start.this]
    items += [j.this for j in joins if not j.side and not j.method]
    return [item for item in items if isinstance(item, exp.Table) and not item.args.get("when")]


def _window(select: "exp.Select", table: "exp.Table", stream: Stream, catalog: Catalog) -> None:
    """Make windows of what is asked beside the rows of a table."""
    from sqlglot import exp

    alias = table.alias_or_name
    inners = [s for s in select.find_all(exp.Subquery) if s.find_ancestor(exp.Select) is select]
    joins = [i.find_ancestor(exp.Join) for i in inners]
    inners = [
        inner
        for inner, join in zip(inners, joins, strict=True)
        if join is None or compare_greatest(select, join, catalog) is None
    ]
    found = [(i, w) for i in inners if (w := _read(i, alias, stream, catalog)) is not None]
    if not found:
        return
    expand_stars(select, catalog, found[0][0].sql("spark"))
    shown: list[exp.Expr] = [exp.column(n, quoted=True) for n in column_names(stream)]
    taken = list(column_names(stream))
    for inner, window in found:
        taken.append(name_value(inner, taken))
        shown.append(exp.alias_(window, taken[-1], quoted=True))
        put_value(inner, taken[-1], alias)
    for column in list_own(select, exp.Column):
        mine = find_name(column.name, column_names(stream)) is not None
        if mine and not column.args.get("table") and not select.args.get("joins"):
            column.set("table", exp.to_identifier(alias, quoted=True))
    rows = exp.select(*shown).from_(exp.to_table(stream.name, quoted=True))
    keys = [{k.name for k in w.args["partition_by"]} for _, w in found]
    for key in list_said(select, alias, sorted(set.intersection(*keys))):
        there = exp.Not(this=exp.Is(this=exp.column(key, quoted=True), expression=exp.Null()))
        rows.where(there, copy=False)
    table.replace(exp.alias_(exp.Subquery(this=rows), alias, table=True, quoted=True))


def list_said(select: "exp.Select", alias: str, columns: Sequence[str]) -> "list[str]":
    """Those of some columns of a table that the query says are not NULL: rows without one count
    nowhere.

    Args:
        select: the query.
        alias: of the table.
        columns: which.
    """
    from sqlglot import exp

    said: list[str] = []
    where = select.args.get("where")
    for conjunct in [] if where is None else split_conjuncts(where.this):
        inner = conjunct.this if isinstance(conjunct, exp.Not) else None
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            column = inner.this
            if isinstance(column, exp.Column) and column.table.lower() == alias.lower():
                said.append(column.name.lower())
    return [k for k in columns if k.lower() in said]


@dataclass(frozen=True, slots=True)
class Sides:
    """The rows that are asked about, and the row that they are beside: their aliases, and their
    streams."""

    mine: str
    alias: str
    theirs: Stream
    row: Stream


@dataclass(slots=True)
class Rows:
    """Which rows a value is of: of the same `key`, columns of theirs and of the row, that hold
    `held`, from so long before the row (`span_us`, None: from the first) to so long before it
    (`until_us`, None: it is not said)."""

    key: list[tuple[str, str]] = field(default_factory=list)
    held: "list[exp.Expr]" = field(default_factory=list)
    span_us: int | None = None
    until_us: int | None = None


def _read(inner: "exp.Subquery", alias: str, stream: Stream, catalog: Catalog) -> "exp.Expr | None":
    """The window that a subquery is (None: it is something else)."""
    found = read_beside(inner, alias, stream, catalog)
    if found is None or found[0].theirs.name != stream.name:
        return None
    _, call, rows = found
    same = all(theirs == own for theirs, own in rows.key)
    return write_window(call, rows, [own for _, own in rows.key], stream) if same else None


def name_value(inner: "exp.Subquery", taken: Sequence[str]) -> str:
    """What the value of a subquery is called: what it selects, and as often as needed, `'`."""
    item = inner.this.expressions[0]
    name = item.alias or item.sql("spark")
    while name.lower() in map(str.lower, taken):
        name += "'"
    return str(name)


def put_value(inner: "exp.Subquery", name: str, alias: str) -> None:
    """A column in the place of a subquery; an item of SELECT is called as what it selects."""
    from sqlglot import exp

    made: exp.Expr = exp.column(name, alias, quoted=True)
    if isinstance(inner.parent, exp.Select) and inner.arg_key == "expressions":
        shown = inner.alias or name.rstrip("'")
        made = exp.alias_(made, shown, quoted=True)
    inner.replace(made)


def read_beside(
    inner: "exp.Subquery", alias: str, stream: Stream, catalog: Catalog
) -> "tuple[Sides, exp.Expr, Rows] | None":
    """What a subquery asks of the rows of a stream before a row: of which, and the aggregate, whose
    columns have bare names (None: it is something else).

    Args:
        inner: the subquery.
        alias: of the table around it that the row is of.
        stream: that table.
        catalog: the tables.
    """
    from sqlglot import exp

    query = inner.this
    if not isinstance(query, exp.Select) or query.args.get("where") is None:
        return None
    held = {k for k, v in query.args.items() if v} - {"expressions", "from_", "where"}
    start = query.args.get("from_")
    table = None if start is None else start.this
    if held or not isinstance(table, exp.Table) or len(query.expressions) != 1:
        return None
    call = query.expressions[0].unalias()
    if not isinstance(call, (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count)):
        return None
    name = find_name(table.name, catalog.streams)
    if name is None or table.alias_or_name.lower() == alias.lower() or table.args.get("when"):
        return None
    sides = Sides(table.alias_or_name, alias, catalog.streams[name], stream)
    rows, call = _find_rows(query, sides), _own(call, sides)
    if rows is None or call is None or isinstance(call.this, exp.Distinct):
        return None
    return sides, call, rows


def _find_rows(query: "exp.Select", sides: Sides) -> Rows | None:
    """Which rows a subquery is of (None: others than those before a row)."""
    rows = Rows()
    for conjunct in split_conjuncts(query.args["where"].this):
        if (held := _own(conjunct, sides)) is not None:
            rows.held.append(held)
        elif not _read_key(conjunct, sides, rows) and not _read_time(conjunct, sides, rows):
            return None
    until, span = rows.until_us, rows.span_us
    if until is None or until < 0 or (span is None and until > 1):
        return None
    return None if span is not None and span < until else rows


def _side(tree: "exp.Expr", sides: Sides) -> tuple[str, bool] | None:
    """A column, and whether it is of the rows asked about (None: it is neither theirs nor the
    row's)."""
    from sqlglot import exp

    tree = tree.unnest()
    if not isinstance(tree, exp.Column):
        return None
    own = find_name(tree.name, column_names(sides.theirs))
    if own is not None and tree.table.lower() in ("", sides.mine.lower()):
        return own, True
    around = find_name(tree.name, column_names(sides.row))
    if around is not None and tree.table.lower() in ("", sides.alias.lower()):
        return around, False
    return None


def _read_key(conjunct: "exp.Expr", sides: Sides, rows: Rows) -> bool:
    """Whether a condition says that a column of theirs is one of the row's."""
    from sqlglot import exp

    if not isinstance(conjunct, exp.EQ):
        return False
    found = [_side(t, sides) for t in (conjunct.this, conjunct.expression)]
    left, right = found
    if left is None or right is None or left[1] == right[1]:
        return False
    theirs, own = (left[0], right[0]) if left[1] else (right[0], left[0])
    if theirs == sides.theirs.timestamp or own == sides.row.timestamp:
        return False
    rows.key.append((theirs, own))
    return True


def _read_time(conjunct: "exp.Expr", sides: Sides, rows: Rows) -> bool:
    """Whether a condition says how long before the row others are; `rows` is told."""
    from sqlglot import exp

    if isinstance(conjunct, exp.Between):
        low, high = conjunct.args["low"], conjunct.args["high"]
        ends = (
            exp.GTE(this=conjunct.this, expression=low),
            exp.LTE(this=conjunct.this, expression=high),
        )
        return all(_read_time(end, sides, rows) for end in ends)
    kind = type(conjunct)
    if turn_comparison(kind) is kind:
        return False
    left, right = (_moved(t, sides) for t in (conjunct.this, conjunct.expression))
    if left is None or right is None or left[1] == right[1]:
        return False
    if not left[1]:
        left, right, kind = right, left, turn_comparison(kind)
    before = left[0] - right[0]  # mine + before <?> the row's
    if kind in (exp.LT, exp.LTE):
        until = before + (kind is exp.LT)
        rows.until_us = until if rows.until_us is None else max(rows.until_us, until)
    else:
        span = before - (kind is exp.GT)
        rows.span_us = span if rows.span_us is None else min(rows.span_us, span)
    return True


def _moved(tree: "exp.Expr", sides: Sides) -> tuple[int, bool] | None:
    """How much is added to a timestamp (µs), and whether it is that of the rows asked about."""
    from sqlglot import exp

    tree, more = tree.unnest(), 0
    if isinstance(tree, (exp.Add, exp.Sub)) and isinstance(tree.expression.unnest(), exp.Interval):
        length = read_interval(tree.expression.unnest())
        if length is None:
            return None
        tree, more = tree.this.unnest(), length if isinstance(tree, exp.Add) else -length
    side = _side(tree, sides)
    if side is None:
        return None
    of = sides.theirs if side[1] else sides.row
    return (more, side[1]) if side[0] == of.timestamp else None


def _own(tree: "exp.Expr", sides: Sides) -> "exp.Expr | None":
    """What is asked of their rows alone, with bare names (None: of others, too)."""
    from sqlglot import exp

    if tree.find(exp.Query) is not None:
        return None
    made = tree.copy()
    for column in made.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        known = find_name(column.name, column_names(sides.theirs)) is not None
        if not known or (column.table and column.table.lower() != sides.mine.lower()):
            return None
        column.set("table", None)
    return made


def write_window(call: "exp.Expr", rows: Rows, key: Sequence[str], stream: Stream) -> "exp.Expr":
    """The window that an aggregate of the rows before a row is.

    Args:
        call: the aggregate.
        rows: which rows.
        key: the columns that they have in common.
        stream: what both are.
    """
    from sqlglot import exp

    if rows.held:
        call = exp.Filter(this=call, expression=exp.Where(this=exp.and_(*rows.held)))
    first: exp.Expr | str = "UNBOUNDED" if rows.span_us is None else _interval(rows.span_us)
    last: dict[str, object] = {"end": "CURRENT ROW", "exclude": "GROUP" if rows.until_us else None}
    if rows.until_us and rows.span_us is not None:
        last = {"end": _interval(rows.until_us), "end_side": "PRECEDING"}
    spec = exp.WindowSpec(kind="RANGE", start=first, start_side="PRECEDING", **last)
    order = exp.Ordered(this=exp.column(stream.timestamp, quoted=True), nulls_first=True)
    return exp.Window(
        this=call,
        partition_by=[exp.column(k, quoted=True) for k in dict.fromkeys(key)],
        order=exp.Order(expressions=[order]),
        spec=spec,
        over="OVER",
    )


def _interval(length_us: int) -> "exp.Expr":
    from sqlglot import exp

    return exp.Interval(this=exp.Literal.string(str(length_us)), unit=exp.var("MICROSECOND"))
