"""Pareto-minimal frontiers as of every marker, against brute force."""

from random import Random

import numpy as np
from hypothesis import given

from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Frame, Name
from ontoweir.runtime.kernel.pareto_front import FOREVER, pareto_front
from tests.oracle.budget import SEEDS, budget

_KEY: Name = ("v", 0)
Entry = tuple[int, int, tuple[int, ...]]
"""(marker, key, frontier values)"""


def _frame(entries: list[Entry], count: int) -> Frame:
    columns = {
        EVENT: np.array([e for e, _, _ in entries], dtype=np.int64),
        _KEY: np.array([k for _, k, _ in entries], dtype=np.int64),
        WEIGHT: np.ones(len(entries), dtype=np.int64),
    }
    for i in range(count):
        columns[("f", i)] = np.array([p[i] for _, _, p in entries], dtype=np.int64)
    return Frame(len(entries), columns)


def _minimal(points: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    return {
        p
        for p in points
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    }


@budget(3.0)
@given(seed=SEEDS)
def test_what_a_look_up_sees_is_the_front_of_strictly_earlier_markers(seed: int) -> None:
    random = Random(seed)
    count = random.choice([1, 1, 2, 3])
    entries: list[Entry] = [
        (
            random.randrange(8),
            random.randrange(3),
            tuple(random.randrange(5) for _ in range(count)),
        )
        for _ in range(random.randrange(25))
    ]
    by = random.choice([[_KEY], []])
    kept, slots = pareto_front(_frame(entries, count), by, count)
    assert kept.rows == len(slots)
    keys = kept[_KEY].tolist() if by else [0] * kept.rows
    points = list(zip(*(kept[("f", i)].tolist() for i in range(count)), strict=True))
    ends, starts = kept[("until",)].tolist(), kept[EVENT].tolist()
    for key in range(3) if by else [0]:
        for now in range(10):
            past = {p for e, k, p in entries if e < now and (k == key or not by)}
            seen = [
                (p, slot)
                for p, k, slot, start, end in zip(
                    points, keys, slots.tolist(), starts, ends, strict=True
                )
                if k == key and start < now <= end
            ]
            assert sorted(p for p, _ in seen) == sorted(_minimal(past))
            assert len({slot for _, slot in seen}) == len(seen), "slots overlap in time"
        at_last = {p for _, k, p in entries if k == key or not by}
        final = {p for p, k, end in zip(points, keys, ends, strict=True) if k == key}
        assert _minimal(at_last) <= final
        assert _minimal(at_last) == {
            p for p, k, end in zip(points, keys, ends, strict=True) if k == key and end == FOREVER
        }


def test_a_better_value_of_the_same_marker_hides_the_worse() -> None:
    kept, _ = pareto_front(
        _frame([(1, 0, (5,)), (1, 0, (3,)), (2, 0, (4,)), (3, 0, (1,))], 1), [], 1
    )
    assert kept[("f", 0)].tolist() == [3, 1]
    assert kept[("until",)].tolist() == [3, FOREVER]


def test_nothing_in_nothing_out() -> None:
    for count in (1, 2):
        kept, slots = pareto_front(_frame([], count), [_KEY], count)
        assert (kept.rows, len(slots)) == (0, 0)
