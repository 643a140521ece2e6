"""Sliding windows in SPARQL: `GRAPH ?t { … } FILTER(?t > NOW() - "PT10M"^^xsd:dayTimeDuration)`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Protocol, TypeVar

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    Filter,
    NamedBuckets,
    TimeFilter,
    Variable,
    filter_variables,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.windows.window import (
    ENDS,
    INSTANT_US,
    refuse_delay,
)

NOW = Variable("NOW()")
"""The time of evaluation, as a variable that is a time; no variable of a query has this name."""

_FIX = 'write FILTER(?t > NOW() - "PT10M"^^xsd:dayTimeDuration), joined to other filters by &&'


class _Branch(Protocol):
    """A branch of a query."""

    @property
    def atoms(self) -> Sequence[Atom]: ...
    @property
    def filters(self) -> tuple[Filter, ...]: ...
    @property
    def choices(self) -> tuple[AnyFilter, ...]: ...


B = TypeVar("B", bound=_Branch)


def read_sparql_windows(
    branches: Sequence[B], source: Source
) -> tuple[tuple[B, ...], tuple[NamedBuckets, ...]]:
    """The branches of a query without NOW(): their windows are conditions on times; and what says
    when rows leave them.

    Args:
        branches: dataclasses.
        source: the query's place.

    Raises:
        QueryError: NOW() elsewhere than in a comparison with one time; branches with different
            windows.
    """
    if not any(map(_mentions_now, branches)):
        return tuple(branches), ()
    found = [_read_branch(branch) for branch in branches]
    if len({buckets for _, buckets in found}) > 1:
        raise QueryError(
            "branches of the query with different windows",
            why="when answers end would have different meanings",
            fix="write the filter with NOW() outside UNION, or register a query for each",
            source=source,
        )
    made = (
        replace(branch, filters=filters)  # type: ignore[type-var]
        for branch, (filters, _) in zip(branches, found, strict=True)
    )
    return tuple(made), found[0][1]


def _mentions_now(branch: _Branch) -> bool:
    return any(NOW in filter_variables(f) for f in branch.filters) or any(
        NOW in c.variables for c in branch.choices
    )


def _read_branch(branch: _Branch) -> tuple[tuple[Filter, ...], tuple[NamedBuckets, ...]]:
    """The filters of a branch without NOW(), and its windows."""
    rest = [f for f in branch.filters if NOW not in filter_variables(f)]
    windows: dict[Variable, int] = {}
    for f in branch.filters:
        if NOW in filter_variables(f):
            assert isinstance(f, TimeFilter)
            time, us = _read(f)
            if us is not None:
                windows[time] = min(us, windows.get(time, us))
    for choice in branch.choices:
        if NOW in choice.variables:
            first = next(f for case in choice.cases for f in case)
            raise _refuse("NOW() inside ||, or IN", first)
    times = dict.fromkeys(a.time for a in branch.atoms if a.time is not None)
    for ends, us in windows.items():
        rest += (_before(begins, ends, us) for begins in times if begins != ends)
    shown = enumerate(sorted(windows.items()), 1)
    buckets = (NamedBuckets(f"{ENDS}{n}", time, TimeBucket(Moments(us))) for n, (time, us) in shown)
    return tuple(rest), tuple(buckets)


def _before(begins: Variable, ends: Variable, us: int) -> TimeFilter:
    """A row begins before the window of another one ends."""
    return TimeFilter(begins, Op.LT, ends, timedelta(microseconds=us))


def _read(f: TimeFilter) -> tuple[Variable, int | None]:
    """The time of a window, and how long after it a row is not shown any more, in µs; None: the
    comparison always holds."""
    if f.left == NOW:
        time, op, offset = f.right, f.op, f.offset
    else:
        time, op, offset = f.left, f.op.flipped(), -f.offset
    if not isinstance(time, Variable) or time == NOW:
        raise _refuse("NOW() compared with no time of a GRAPH", f)
    after = offset // timedelta(microseconds=1)
    match op:  # NOW() op time + after
        case Op.LT | Op.LE:
            length = after + (INSTANT_US if op is Op.LE else 0)
            if length <= 0:
                raise _refuse(f"a window of ?{time.name} that shows nothing", f)
            return time, length
        case Op.EQ if after == 0:
            return time, INSTANT_US
        case Op.GE | Op.GT if after < (1 if op is Op.GE else 0):
            return time, None
        case Op.GE | Op.GT:
            raise refuse_delay(f"a delay of ?{time.name}", f.source)
        case Op.EQ | Op.NE:
            raise _refuse(f"NOW() {op.value} a time", f)


def _refuse(what: str, f: Filter) -> QueryError:
    return QueryError(
        what,
        why="a window is a filter that every answer meets: a time is later than NOW() minus a "
        "duration",
        fix=_FIX,
        source=f.source,
    )
