"""How far apart rows are by values that are times, such as when something ends."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import ceil, floor
from typing import NamedTuple, TypeAlias

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream, TimestampType
from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.rewriter.algebra.bound_differences import Limit, close_limits, is_tighter
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op, SpjQuery

_Node: TypeAlias = str | Attribute | None
"""The time of an occurrence's row (its alias), a value, or 1970."""
_Limits: TypeAlias = dict[tuple[_Node, _Node], Limit]


class _Point(NamedTuple):
    """A time of a condition: a node, and how much later it is, at least and at most (µs)."""

    node: _Node
    least: int
    most: int


def imply_lags(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """The query with what follows of the times of its rows where values lie between them: of
    `a.ts <= b.ts AND b.ts < a.due AND a.due <= a.ts + INTERVAL '1' HOUR`, `b.ts < a.ts + 1 hour`.

    Answers stay, as the comparisons hold wherever the others do.

    Args:
        query: a disjunct; values that are times are compared to the microsecond.
        catalog: its tables.
    """
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    said = [c for c in query.conditions if isinstance(c, Compare) and c.op is not Op.NE]
    beside = [c for c in said if _is_beside_value(c, tables)]
    if not beside:
        return query
    known = _close([c for c in said if c not in beside], tables)
    whole = _close(said, tables)
    if known is None or whole is None:
        return query  # it has no answers
    streams = {a: t for a, t in tables.items() if isinstance(t, Stream)}
    more = list(_list_more(streams, known, whole, beside[0].source))
    return replace(query, conditions=(*query.conditions, *more)) if more else query


def _close(said: list[Compare], tables: dict[str, Stream | Relation]) -> _Limits | None:
    """How much later each is than each, at most, in µs; None: there is no solution."""
    limits: _Limits = {}
    nodes: dict[_Node, None] = {None: None}
    for c in said:
        for left, right, limit in _edges(c, tables):
            nodes |= {left: None, right: None}
            old = limits.get((left, right))
            if old is None or is_tighter(limit, old):
                limits[left, right] = limit
    return close_limits(limits, tuple(nodes))


def _list_more(
    streams: dict[str, Stream], known: _Limits, whole: _Limits, source: Source | None
) -> Iterator[Compare]:
    """What the whole says of two rows, or of one, and what is known does not."""
    pairs: list[tuple[str, str | None]] = [*permutations(streams, 2), *((a, None) for a in streams)]
    for later, earlier in pairs:
        step = streams[later].step_us
        if earlier is not None and streams[earlier].step_us != step:
            continue
        most, said = (_steps(found.get((later, earlier)), step) for found in (whole, known))
        if most is None or (said is not None and said <= most):
            continue
        left = Attribute(later, streams[later].timestamp)
        if earlier is None:
            yield Compare(left, Op.LE, Constant(most), source=source)
        else:
            yield Compare(left, Op.LE, Attribute(earlier, streams[earlier].timestamp), most, source)


def _steps(limit: Limit | None, step: int) -> int | None:
    """A limit in whole steps: what is below it, where it is not reached."""
    if limit is None:
        return None
    return ceil(limit[0] / step) - 1 if limit[1] else floor(limit[0] / step)


def _is_beside_value(c: Compare, tables: dict[str, Stream | Relation]) -> bool:
    """Whether values that are times are compared."""
    sides = (c.left, c.right) if isinstance(c.right, Attribute) else (c.left,)
    return all(_is_time(s, tables) for s in sides) and not _is_plain(c.left, tables)


def _is_plain(attribute: Attribute, tables: dict[str, Stream | Relation]) -> bool:
    """Whether it is a stream's own timestamp, which is counted in steps."""
    table = tables[attribute.alias]
    return isinstance(table, Stream) and table.timestamp == attribute.column


def _is_time(attribute: Attribute, tables: dict[str, Stream | Relation]) -> bool:
    if _is_plain(attribute, tables):
        return True
    column = tables[attribute.alias].column(attribute.column)
    return column is not None and isinstance(column.type, TimestampType)


def _edges(
    c: Compare, tables: dict[str, Stream | Relation]
) -> Iterator[tuple[_Node, _Node, Limit]]:
    """What a comparison says: so much is the first later than the second, at most."""
    left, right = _read(c.left, tables), _read(c.right, tables, c.left)
    if left is None or right is None:
        return
    moved = 0
    if c.offset:
        stream = tables[c.left.alias]
        if not _is_plain(c.left, tables) or not isinstance(stream, Stream):
            return
        moved = int(c.offset) * stream.step_us
    strict = c.op in (Op.LT, Op.GT)
    if c.op in (Op.LT, Op.LE, Op.EQ):
        yield left.node, right.node, (Fraction(right.most + moved - left.least), strict)
    if c.op in (Op.GT, Op.GE, Op.EQ):
        yield right.node, left.node, (Fraction(left.most - moved - right.least), strict)


def _read(
    side: Attribute | Constant, tables: dict[str, Stream | Relation], other: Attribute | None = None
) -> _Point | None:
    """A side of a comparison (None: it is no time, or nothing is known of it)."""
    if isinstance(side, Constant):
        time = _read_constant(side, other, tables)
        return None if time is None else _Point(None, time, time)
    if _is_plain(side, tables):
        return _Point(side.alias, 0, 0)
    if not _is_time(side, tables):
        return None
    column = tables[side.alias].column(side.column)
    bucket = None if column is None else column.bucket
    if bucket is None:
        return _Point(side, 0, 0)
    if bucket.sliding is not None or bucket.is_never:
        return None
    exact = bucket.longest_us == 0
    latest = bucket.latest_us
    return _Point(side.alias, latest if exact else latest - bucket.longest_us + 1, latest)


def _read_constant(
    side: Constant, other: Attribute | None, tables: dict[str, Stream | Relation]
) -> int | None:
    """The time of a constant that is compared with an attribute, in µs since 1970."""
    if other is None or not _is_time(other, tables):
        return None
    table = tables[other.alias]
    if isinstance(side.value, int) and isinstance(table, Stream) and _is_plain(other, tables):
        return side.value * table.step_us
    try:
        return epoch_us(parse_instant(side.value)) if isinstance(side.value, str) else None
    except ValueError:
        return None
