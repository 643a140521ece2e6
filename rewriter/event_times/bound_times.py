"""How far from its row's timestamp a time of it lies, as a query's conditions say."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    FloatType,
    IntType,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    Value,
    conjuncts_of,
)
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, Moments
from ontoweir.rewriter.algebra.bound_differences import Limit, close_limits
from ontoweir.rewriter.event_times.add_up import Sum, add_up
from ontoweir.rewriter.model.spj import Attribute, Block, Compare, Constant, Op, SpjQuery

_OPS: dict[Function, Op] = {Function(op): op for op in Op if op is not Op.NE}


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time lies at most `behind_us` before its row's timestamp, and `ahead_us` after it (below 0:
    on the other side of it)."""

    behind_us: int
    ahead_us: int


def bound_times(
    query: SpjQuery, alias: str, name: str, catalog: Catalog, blocks: tuple[Block, ...] = ()
) -> TimeSpan | None:
    """How far from the timestamp of its row a time is in all matches of a query (None: any time).

    Comparisons of sums of times and constants are looked at, those of conditions that hold
    together: `due <= released + INTERVAL '2' HOUR`, also of seconds (EPOCH); and that a row which
    is given with those after it has a time that is none of the later ones'.

    Args:
        query: one disjunct.
        alias, name: of which column of which row of a stream, of type timestamp.
        catalog: with its blocks, buckets and derived columns (`extend_catalog`).
        blocks: the queries whose answers it reads.
    """
    table = {o.alias: o.table for o in query.occurrences}[alias]
    stream = catalog.streams[table]
    meeting = next((b.meeting for b in blocks if b.stream.name == table), None)
    limits: dict[tuple[str, str], Limit] = {}
    known = [_list_sums(c, alias, stream) for c in query.conditions if isinstance(c, Compare)]
    known += [_order_rows(meeting, stream)] if isinstance(meeting, Preceding) else []
    for left, right, most in (one for some in known for one in some):
        old = limits.get((left, right))
        if old is None or most < old[0]:
            limits[left, right] = (most, False)
    names = tuple(dict.fromkeys(n for pair in limits for n in pair))
    closed = close_limits(limits, names)
    if closed is None:
        return TimeSpan(0, 0)  # there is no such match
    behind, ahead = closed.get((stream.timestamp, name)), closed.get((name, stream.timestamp))
    if behind is None or ahead is None:
        return None
    return TimeSpan(-int(-behind[0] // 1), -int(-ahead[0] // 1))


def _order_rows(meeting: Preceding, stream: Stream) -> Iterator[tuple[str, str, Fraction]]:
    """The times of the rows that a row is given with: which is at most how much after which."""
    zero, base = Fraction(0), meeting.time
    if meeting.after:
        yield base, stream.timestamp, zero
    for column in meeting.columns:
        own = column.function == "first" and column.first == column.last
        if not own or column.order or column.argument != Field(meeting.time, TimestampType()):
            continue
        if column.last > 0:
            yield column.name, base, zero
        elif meeting.after:
            yield base, column.name, zero
            yield column.name, stream.timestamp, zero
        if column.last < 0 and -column.last == meeting.after:
            yield stream.timestamp, column.name, zero


def _list_sums(
    condition: Compare, alias: str, stream: Stream
) -> Iterator[tuple[str, str, Fraction]]:
    """What a condition says of the differences of two times of a row."""
    left = _expand(condition.left, alias, stream)
    if left is None or condition.offset or condition.op is Op.NE:
        return
    if isinstance(condition.right, Constant):
        value = condition.right.value
        if value is True and condition.op is Op.EQ:
            yield from () if isinstance(left, Sum) else _read(left)
        elif not isinstance(value, (str, bool)):
            yield from _compare(condition.op, left, Value(value, _type_of(value)))
    elif (right := _expand(condition.right, alias, stream)) is not None:
        yield from _compare(condition.op, left, right)


def _type_of(value: object) -> IntType | FloatType:
    return FloatType() if isinstance(value, float) else IntType()


def _expand(attribute: Attribute, alias: str, stream: Stream) -> Expression | Sum | None:
    """What a column is computed of (None: it is of another row, or not to be computed with)."""
    if attribute.alias != alias:
        return None
    if attribute.column == stream.timestamp:
        return Field(stream.timestamp, TimestampType())
    column = stream.column(attribute.column)
    return None if column is None else _compute(column, stream)


def _compute(column: Column, stream: Stream) -> Expression | Sum | None:
    if column.bucket is not None:
        bucket = column.bucket
        if bucket.ends or bucket.sliding is not None:
            return None
        time = Sum({stream.timestamp: Fraction(1)})
        match bucket.buckets:
            case Moments(after_us=0):
                wide = 0
            case FixedBuckets(width_us=width):
                wide = width - 1
            case CalendarBuckets(zone="UTC") as days:
                wide = days.longest_us
            case _:
                return None
        behind = Fraction(bucket.behind_us)
        return time.widened(behind + wide, -behind)
    if column.expression is not None:
        return column.expression
    return Field(column.name, column.type)


def _read(condition: Expression) -> Iterator[tuple[str, str, Fraction]]:
    """What is so where a condition is true."""
    for side in conjuncts_of(condition):
        if isinstance(side, Call) and (op := _OPS.get(side.function)) is not None:
            yield from _compare(op, *side.arguments)


def _compare(
    op: Op, left: Expression | Sum, right: Expression | Sum
) -> Iterator[tuple[str, str, Fraction]]:
    absolute = isinstance(left, Call) and left.function is Function.ABS and op in (Op.LT, Op.LE)
    if isinstance(left, Call) and absolute and not isinstance(right, Sum):
        yield from _compare(op, left.arguments[0], right)
        yield from _compare(Op.GE, left.arguments[0], Call(Function.NEGATE, (right,), right.type))
        return
    mine = left if isinstance(left, Sum) else add_up(left)
    other = right if isinstance(right, Sum) else add_up(right)
    if mine is None or other is None:
        return
    if op in (Op.LT, Op.LE, Op.EQ):
        yield from _limit(mine.plus(other, -1))
    if op in (Op.GT, Op.GE, Op.EQ):
        yield from _limit(other.plus(mine, -1))


def _limit(of: Sum) -> Iterator[tuple[str, str, Fraction]]:
    """That a sum is at most 0, as one of two times: so much after the other, at most."""
    times = {n: k for n, k in of.times.items() if k}
    if len(times) != 2 or sum(times.values(), Fraction(0)):
        return
    (later, often), (earlier, _) = sorted(times.items(), key=lambda item: -item[1])
    yield later, earlier, -of.low / often
