"""Sliding windows in SPARQL: `GRAPH ?t { … } FILTER(?t > NOW() - "PT10M"^^xsd:dayTimeDuration)`."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import permutations
from typing import Protocol, TypeVar

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.time_bucket import TimeBucket
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    Filter,
    Literal,
    NamedBuckets,
    TimeFilter,
    Variable,
    filter_variables,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.windows.window import BEGINS, ENDS, Grid, Shown, meet_us


@dataclass(frozen=True, slots=True)
class Now(Variable):
    """The time of evaluation, as a variable that is a time; no variable of a query has its name.
    On a `grid`: the last time of it that has come."""

    grid: Grid | None = None

    def __lt__(self, other: Variable) -> bool:
        """Among other variables, by its name."""
        return self.name < other.name

    def __gt__(self, other: Variable) -> bool:
        """Among other variables, by its name."""
        return self.name > other.name


NOW = Now("NOW()")
"""The time of evaluation."""


def now_on(grid: Grid) -> Now:
    """The last time of a grid that has come."""
    return Now(f"NOW() on {make_column(TimeBucket(grid)).name}", grid)


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
    of_choices = (c.variables for c in branch.choices)
    return any(map(_has_now, (*map(filter_variables, branch.filters), *of_choices)))


def _has_now(variables: Iterable[Variable]) -> bool:
    return any(isinstance(v, Now) for v in variables)


def _read_branch(branch: _Branch) -> tuple[tuple[Filter, ...], tuple[NamedBuckets, ...]]:
    """The filters of a branch without NOW(), and its windows."""
    rest = [f for f in branch.filters if not _has_now(filter_variables(f))]
    windows: dict[Variable, Shown] = defaultdict(Shown)
    for f in branch.filters:
        if _has_now(filter_variables(f)):
            assert isinstance(f, TimeFilter)
            _read(f, windows)
    for choice in branch.choices:
        if _has_now(choice.variables):
            first = next(f for case in choice.cases for f in case)
            raise _refuse("NOW() inside ||, or IN", first)
    times = dict.fromkeys(a.time for a in branch.atoms if a.time is not None)
    for begins, ends in permutations(dict.fromkeys((*times, *windows)), 2):
        within = meet_us(windows[begins], windows[ends])
        if within is not None and begins in times:
            rest.append(TimeFilter(begins, Op.LT, ends, timedelta(microseconds=within)))
    buckets = []
    for prefix, kind in ((ENDS, "ends"), (BEGINS, "begins")):
        edges = [(v, e) for v in sorted(windows) for e in getattr(windows[v], kind)]
        buckets += [NamedBuckets(f"{prefix}{n}", v, e) for n, (v, e) in enumerate(edges, 1)]
    return tuple(rest), tuple(buckets)


def _read(f: TimeFilter, windows: dict[Variable, Shown]) -> None:
    """Note how long a comparison with NOW() shows the rows of a time."""
    now: Variable | Literal = f.left
    time: Variable | Literal = f.right
    op, offset = f.op, f.offset
    if not isinstance(now, Now):
        now, time, op, offset = time, now, op.flipped(), -offset
    if not isinstance(now, Now) or not isinstance(time, Variable) or isinstance(time, Now):
        raise _refuse("NOW() compared with no time of a GRAPH", f)
    shown = windows[time]
    after = offset // timedelta(microseconds=1)
    match op:  # NOW() op time + after
        case Op.LT | Op.LE:
            shown.end(after, now.grid, strict=op is Op.LT)
        case Op.GE | Op.GT:
            shown.begin(after, now.grid, strict=op is Op.GT)
        case Op.EQ if after == 0 and now.grid is None:
            shown.end(after, None, strict=False)
        case Op.EQ | Op.NE:
            raise _refuse(f"NOW() {op.value} a time", f)
    if shown.is_empty:
        raise _refuse(f"a window of ?{time.name} that shows nothing", f)


def _refuse(what: str, f: Filter) -> QueryError:
    return QueryError(
        what,
        why="a window is a filter that every answer meets: a time is later than NOW() minus a "
        "duration",
        fix=_FIX,
        source=f.source,
    )
