"""Comparisons of buckets of time, of days and years, in the timestamps of rows."""

from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import CalendarBuckets
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.calendar.change_comparisons import change_comparisons
from ontoweir.rewriter.calendar.side import Constant, Moment, Side, read_side
from ontoweir.rewriter.windows.read_sql_grid import write_interval

if TYPE_CHECKING:
    from sqlglot import exp

Op = Literal["<", "<=", "=", ">=", ">"]
_FLIP: dict[Op, Op] = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def compare_buckets(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT whose WHERE and ON say of timestamps what they say of their buckets.

    - `CAST(ts AS DATE) = DATE '2026-03-02'` is a range of ts, as are <, <=, >=, > and BETWEEN, of
      buckets, days and years; IN is in the range of all its values.
    - Of two rows, as in `CAST(a.ts AS DATE) = CAST(b.ts AS DATE)` and `b.ts >= date_trunc('hour',
      a.ts)`, it follows how far apart they are; days and years that are equal are buckets.

    Args:
        tree: a SELECT without subqueries; it is copied.
        catalog: the tables.
    """
    return change_comparisons(tree, catalog, _may_be_bucket, _compare)


def _may_be_bucket(node: "exp.Expr") -> bool:
    """Whether a part of it may be a bucket of time: more than columns and constants."""
    from sqlglot import exp

    if isinstance(node, exp.NEQ):
        return False
    plain = (exp.Column, exp.Literal, exp.Identifier, exp.Paren, exp.Boolean, exp.Null)
    return any(not isinstance(n, plain) for n in node.walk() if n is not node)


def _compare(node: "exp.Expr", scope: Scope) -> "exp.Expr | None":
    """What stands for a comparison (None: the comparison itself)."""
    from sqlglot import exp

    match node:
        case exp.Between(this=time):
            low, high = node.args["low"], node.args["high"]
            both: tuple[tuple[exp.Expr, Op], ...] = (low, ">="), (high, "<=")
            made = [_compare_sides(time, op, other, scope) for other, op in both]
            if made == [None, None]:
                return None
            kinds = {">=": exp.GTE, "<=": exp.LTE}
            plain = [kinds[op](this=time.copy(), expression=o.copy()) for o, op in both]
            return _all([m or p for m, p in zip(made, plain, strict=True)])
        case exp.In(this=time):
            return _list_values(node, read_side(time, scope), scope)
        case _:
            ops: dict[type[exp.Expr], Op] = {
                exp.LT: "<",
                exp.LTE: "<=",
                exp.EQ: "=",
                exp.GTE: ">=",
                exp.GT: ">",
            }
            return _compare_sides(node.this, ops[type(node)], node.expression, scope)


def _compare_sides(left: "exp.Expr", op: Op, right: "exp.Expr", scope: Scope) -> "exp.Expr | None":
    one, other = read_side(left, scope), read_side(right, scope)
    match one, other:
        case Moment(), Constant():
            return _limit(one, op, other)
        case Constant(), Moment():
            return _limit(other, _FLIP[op], one)
        case Moment(), Moment() if one.alias != other.alias and _are_compared(one, other):
            return _relate(left, one, op, right, other)
        case _:
            return None


def _are_compared(one: Moment, other: Moment) -> bool:
    """Whether one is a bucket; years are compared with years."""
    years = {one.kind == "year", other.kind == "year"}
    return len(years) == 1 and (one.grid is not None or other.grid is not None)


def _limit(moment: Moment, op: Op, constant: Constant) -> "exp.Expr | None":
    """`bucket op constant` as a range of the timestamp."""
    from sqlglot import exp

    if moment.grid is None or not _is_of(moment, constant):
        return None
    found = _find_range(moment, op, constant.time_us)
    if found is None:
        return None
    low, high = found
    if low is not None and high is not None and low >= high:
        return exp.false()
    return _range(moment, low, high)


def _is_of(moment: Moment, constant: Constant) -> bool:
    """Whether they are compared as what both are."""
    if "year" in (moment.kind, constant.kind):
        return moment.kind == constant.kind
    return moment.kind == "instant" or constant.kind == "day"


def _find_range(moment: Moment, op: Op, time: int) -> tuple[int | None, int | None] | None:
    """From when, and until before when, the timestamp of a row is so that its bucket is `op` a
    time, in µs since 1970 (None: always); None: in no year that is counted."""
    assert moment.grid is not None
    grid = moment.grid

    def after(limit: int) -> int:
        """From when the bucket begins, or ends, later than a limit."""
        limit -= moment.after_us
        begins = grid.start(limit)
        return (begins if moment.ends else grid.end(begins)) + moment.before_us

    try:
        low = {"=": time - 1, ">=": time - 1, ">": time}.get(op)
        high = {"=": time, "<=": time, "<": time - 1}.get(op)
        found = tuple(None if limit is None else after(limit) for limit in (low, high))
        for edge in found:
            _text(edge or 0)
    except (OverflowError, ValueError):
        return None
    return found[0], found[1]


def _range(moment: Moment, low: int | None, high: int | None) -> "exp.Expr":
    from sqlglot import exp

    made: list[exp.Expr] = []
    for kind, edge in ((exp.GTE, low), (exp.LT, high)):
        if edge is not None:
            text = exp.cast(exp.Literal.string(_text(edge)), "timestamp")
            made.append(kind(this=moment.column.copy(), expression=text))
    return _all(made)


def _text(time: int) -> str:
    return (_EPOCH + timedelta(microseconds=time)).replace(tzinfo=None).isoformat(" ")


def _list_values(node: "exp.In", moment: Side | None, scope: Scope) -> "exp.Expr | None":
    """IN as one range, or in the range of all its values."""
    from sqlglot import exp

    if not isinstance(moment, Moment) or moment.grid is None:
        return None
    ranges = list[tuple[int, int]]()
    for value in node.expressions:
        constant = read_side(value, scope)
        if not isinstance(constant, Constant) or not _is_of(moment, constant):
            return None
        found = _find_range(moment, "=", constant.time_us)
        if found is None or found[0] is None or found[1] is None:
            return None
        ranges += [(found[0], found[1])] if found[0] < found[1] else []
    if not ranges:
        return exp.false()
    ranges.sort()
    low, high = ranges[0][0], max(end for _, end in ranges)
    whole = _range(moment, low, high)
    gaps = any(b > e for (_, e), (b, _) in pairwise(ranges))
    return _all([node.copy(), whole]) if gaps else whole


def _relate(left: "exp.Expr", one: Moment, op: Op, right: "exp.Expr", other: Moment) -> "exp.Expr":
    """A comparison of two rows with how far apart they are where it holds."""
    from sqlglot import exp

    kinds: dict[Op, type[exp.Binary]] = {
        "<": exp.LT,
        "<=": exp.LTE,
        "=": exp.EQ,
        ">=": exp.GTE,
        ">": exp.GT,
    }
    written = [m if s.kind == "instant" else _truncate(s) for m, s in ((left, one), (right, other))]
    parts: list[exp.Expr] = [kinds[op](this=written[0].copy(), expression=written[1].copy())]
    sides = {"<": [(one, other)], "<=": [(one, other)], "=": [(one, other), (other, one)]}
    for early, late in sides.get(op, [(other, one)]):
        most = _most_apart(early, late, strict=op in "<>")
        parts.append(exp.LTE(this=early.column.copy(), expression=_move(late.column.copy(), most)))
    return _all(parts)


def _most_apart(early: Moment, late: Moment, *, strict: bool) -> int:
    """How much later the timestamp of `early` is at most, in µs, where its bucket is not later."""
    even = [None if m.grid is None else m.grid.even for m in (early, late)]
    if (grid := even[0]) is not None and even == [grid, grid]:
        width = grid.width_us
        ends = (early.ends - late.ends) * width
        least = late.after_us - early.after_us - ends - (1 if strict else 0)
        apart = least // width * width + width - 1
        return apart + early.before_us - late.before_us
    return late.reach_us[1] - early.reach_us[0] - (1 if strict else 0)


def _truncate(moment: Moment) -> "exp.Expr":
    """Where a day or a year begins, as a bucket, or so much later."""
    from sqlglot import exp

    assert isinstance(moment.grid, CalendarBuckets)
    time = _move(moment.column.copy(), -moment.before_us)
    given = [exp.Literal.string(moment.grid.unit), time]
    return _move(exp.Anonymous(this="DATE_TRUNC", expressions=given), moment.after_us)


def _move(tree: "exp.Expr", micros: int) -> "exp.Expr":
    from sqlglot import exp

    return exp.Add(this=tree, expression=write_interval(micros)) if micros else tree


def _all(parts: "list[exp.Expr]") -> "exp.Expr":
    from sqlglot import exp

    return exp.Paren(this=reduce(lambda a, b: exp.And(this=a, expression=b), parts))
