"""What windows of SQL and SPARQL share: how long rows are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    Moments,
    MonthsLater,
    TimeBucket,
)

BEGINS, ENDS = "window begins ", "window ends "
"""The variables that say from when on a row is shown, and when it leaves its window, begin so."""

Grid = FixedBuckets | CalendarBuckets
"""The times at which a window with a step moves: where buckets begin."""


@dataclass(slots=True)
class Shown:
    """How long the rows of a member are shown: from their own time on, and from all of `begins`,
    until the first of `ends`."""

    begins: list[TimeBucket] = field(default_factory=list)
    ends: list[TimeBucket] = field(default_factory=list)

    def end(self, after_us: int, grid: Grid | None, *, strict: bool) -> None:
        """NOW(), or the last time of the grid, is earlier than a row's time and so many µs."""
        self.ends = _with_edge(self.ends, _edge(after_us + (not strict), grid), min)

    def end_months(self, months: int, grid: CalendarBuckets, *, strict: bool) -> None:
        """The last time of the grid, so many months before, is earlier than a row's time."""
        edge = TimeBucket(MonthsLater(months, grid), behind_us=-(not strict))
        self.ends = _with_edge(self.ends, edge, min)

    def begin_months(self, months: int, grid: CalendarBuckets, *, strict: bool) -> None:
        """The last time of the grid, so many months before, is later than a row's time."""
        edge = TimeBucket(MonthsLater(months, grid), behind_us=-strict)
        self.begins = _with_edge(self.begins, edge, max)

    def begin(self, after_us: int, grid: Grid | None, *, strict: bool) -> None:
        """NOW(), or the last time of the grid, is later than a row's time and so many µs."""
        edge = _edge(after_us + strict, grid)
        if edge.latest_us > 0:  # else it always holds
            self.begins = _with_edge(self.begins, edge, max)

    @property
    def length_us(self) -> int | None:
        """No row is shown so long after its time (None: it may be for ever)."""
        return min((edge.latest_us for edge in self.ends if not edge.is_never), default=None)

    @property
    def delay_us(self) -> int:
        """No row is shown earlier than so long after its time."""
        return max((0, *(earliest_us(edge) for edge in self.begins)))

    @property
    def is_empty(self) -> bool:
        """Whether no row is ever shown."""
        return self.length_us is not None and self.delay_us >= self.length_us


def meet_us(begins: Shown, ends: Shown) -> int | None:
    """A row that is shown at some time together with another one is earlier than that one's time
    and so many µs (None: nothing says so)."""
    return None if ends.length_us is None else ends.length_us - begins.delay_us


def _edge(after_us: int, grid: Grid | None) -> TimeBucket:
    """The first time, of the grid, that is not before a row's time and so much more."""
    if grid is None:
        return TimeBucket(Moments(after_us))
    return TimeBucket(grid, ends=True, behind_us=1 - after_us)


def _with_edge(
    edges: Sequence[TimeBucket], edge: TimeBucket, best: Callable[[int, int], int]
) -> list[TimeBucket]:
    """Edges and one more; of those on no grid one is enough."""
    gridded = [e for e in edges if not isinstance(e.buckets, Moments)]
    after = [e.latest_us for e in (*edges, edge) if isinstance(e.buckets, Moments)]
    if not isinstance(edge.buckets, Moments):
        gridded.append(edge)
    plain = [_edge(reduce(best, after), None)] if after else []
    return [*plain, *dict.fromkeys(gridded)]


def earliest_us(edge: TimeBucket) -> int:
    """No value is earlier than so long after its timestamp."""
    if isinstance(edge.buckets, Moments):
        return edge.buckets.after_us - edge.behind_us
    if isinstance(edge.buckets, MonthsLater):
        return edge.buckets.shortest_us - edge.behind_us
    return 1 - edge.behind_us
