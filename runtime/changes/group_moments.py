"""When the groups of sliding windows may change: the moments at which matches begin, or end."""

import numpy as np

from ontoweir.runtime.columnar.frame import LONG_AGO, Array, first_of, group_codes, starts_of_runs


class GroupMoments:
    """The moments of groups up to a time, group by group, in order; the first of each stands for
    what was before.

    Args:
        groups: of every match, the code of its group.
        count: how many groups there are.
        begins, ends: int64 (µs), when every match begins and ends; LONG_AGO: it has begun before.
        now: nothing is still to come up to it (µs).

    `group`, `at`, `first`: of every moment, its group, its time (LONG_AGO: before), and whether it
    is its group's first. `rows`: the matches that hold at some of the moments, and `begin`, `end`,
    where. Groups without a moment have nothing of these.
    """

    def __init__(self, groups: Array, count: int, begins: Array, ends: Array, now: int) -> None:
        came = np.flatnonzero((begins <= now) & (begins > LONG_AGO))
        gone = np.flatnonzero(ends <= now)
        times = np.concatenate([begins[came], ends[gone]])
        distinct = _distinct(times)
        places = np.searchsorted(distinct, times) + 1
        owners = np.concatenate([groups[came], groups[gone]])
        touched = np.zeros(count, dtype=np.bool_)
        touched[owners] = True
        width = len(distinct) + 1
        before = np.flatnonzero(touched)
        packed = np.concatenate([before * width, owners * width + places])
        codes, moments = group_codes([packed], len(packed))
        numbers = packed[first_of(codes, moments)]
        self.group, place = np.divmod(numbers, width)
        self.first = place == 0
        self.at = np.where(self.first, LONG_AGO, np.append(LONG_AGO, distinct)[place])
        starts = np.full(count, -1, dtype=np.int64)
        starts[before] = np.flatnonzero(self.first)
        stops = np.full(count, -1, dtype=np.int64)
        stops[before] = np.append(np.flatnonzero(self.first)[1:], moments)
        begin, end = starts[groups], stops[groups]
        begin[came] = codes[len(before) : len(before) + len(came)]
        end[gone] = codes[len(before) + len(came) :]
        self.rows = np.flatnonzero((begins <= now) & touched[groups])
        self.begin, self.end = begin[self.rows], end[self.rows]

    def __len__(self) -> int:
        return len(self.group)


def _distinct(times: Array) -> Array:
    """The distinct times, in order."""
    if bool((times[1:] >= times[:-1]).all()):
        return times[starts_of_runs(times)]
    distinct: Array = np.unique(times)
    return distinct
