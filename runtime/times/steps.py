"""The timestamps of rows as steps, counted where they are asked for."""

from dataclasses import dataclass, field

import numpy as np

from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.times.time_runs import TimeRuns, Times, pick_times


@dataclass(frozen=True, slots=True)
class Steps:
    """Rows' timestamps in steps.

    `times`: in order, in µs, each a whole number of steps of `step_us`; `first`: of each time, the
    number of its first row (None: not found yet), so that equal ones are divided once.
    """

    times: Times
    step_us: int = 1
    first: Array | None = None
    _all: list[Array] = field(default_factory=list, compare=False, repr=False)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.times)

    def counted_in(self, step_us: int) -> "Steps":
        """The same timestamps in other steps, of which they are whole numbers."""
        return self if step_us == self.step_us else Steps(self.times, step_us, self.first)

    def at(self, index: Array) -> Array:
        """Of some rows."""
        if self._all:
            return self._all[0][index]
        return pick_times(self.times, index) // self.step_us

    def all(self) -> Array:
        """Of all rows."""
        if not self._all:
            self._all.append(self._count())
        return self._all[0]

    def _count(self) -> Array:
        if isinstance(self.times, TimeRuns):
            return np.repeat(self.times.marks // self.step_us, self.times.lengths)
        if self.step_us == 1:
            return self.times
        if self.first is None:
            return self.times // self.step_us
        length = np.diff(self.first, append=len(self.times))
        return np.repeat(self.times[self.first] // self.step_us, length)


def count_steps(at: Array, weights: Array) -> tuple[Array, Array, Array]:
    """The steps in which rows came, in order; that of each row, by number; and how many rows there
    were up to the end of each step.

    Args:
        at: the rows' times, in order in all but few cases.
        weights: how many each of them is.
    """
    if (at[1:] >= at[:-1]).all():
        fresh = starts_of_runs(at)
        first = np.flatnonzero(fresh)
        ends = np.append(first[1:], len(at))[: len(first)] - 1
        return at[first], np.cumsum(fresh) - 1, np.cumsum(weights)[ends]
    steps, step = np.unique(at, return_inverse=True)
    total = np.zeros(len(steps), dtype=np.int64)
    np.add.at(total, step, weights)
    return steps, step, np.cumsum(total)
