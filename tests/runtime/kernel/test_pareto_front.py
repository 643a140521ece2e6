"""Pareto-minimal frontiers as of every marker, against brute force."""

from random import Random

import numpy as np
import pytest
from hypothesis import given

from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Frame, Name
from ontoweir.runtime.kernel import pareto_front as pareto_front_module
from ontoweir.runtime.kernel.pareto_front import FOREVER, least_rows, pareto_front
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


def _row_by_row(entries: list[Entry]) -> dict[Entry, int]:
    """The entries that are ever best, each with the marker from which a better one is there."""
    front: list[Entry] = []
    until: dict[Entry, int] = {}
    for entry in sorted(entries):
        marker, _, point = entry
        if any(all(a <= b for a, b in zip(p, point, strict=True)) for _, _, p in front):
            continue
        worse = [e for e in front if all(a <= b for a, b in zip(point, e[2], strict=True))]
        until |= dict.fromkeys(worse, marker)
        front = [e for e in front if e not in worse] + [entry]
    until |= dict.fromkeys(front, FOREVER)
    return {entry: end for entry, end in until.items() if end > entry[0]}


@budget(2.0)
@given(seed=SEEDS)
def test_large_fronts_are_those_of_row_by_row(seed: int) -> None:
    """Also where all are best, and fronts are as large as there are rows."""
    random = Random(seed)
    count, keys = random.choice([1, 2, 2, 3, 4]), random.choice([1, 2, 40])
    slope, size = random.choice([-1, 0, 1]), random.choice([30, 300])
    entries = []
    for n in range(size):
        one = n if slope > 0 else size - n if slope < 0 else random.randrange(size)
        rest = [(size - one) * (i % 2) + random.randrange(8) for i in range(count - 1)]
        entries.append((n // random.choice([1, 4]), n % keys, (one, *rest)))
    kept, slots = pareto_front(_frame(entries, count), [_KEY], count)
    points = zip(*(kept[("f", i)].tolist() for i in range(count)), strict=True)
    rows = list(zip(kept[EVENT].tolist(), kept[_KEY].tolist(), points, strict=True))
    found = dict(zip(rows, kept[("until",)].tolist(), strict=True))
    expected: dict[Entry, int] = {}
    for key in range(keys):
        expected |= _row_by_row([e for e in entries if e[1] == key])
    assert found == expected
    for key in range(keys):
        mine = [
            (*e, s) for e, s in zip(found.items(), slots.tolist(), strict=True) if e[0][1] == key
        ]
        markers = {entry[0] for entry, _, _ in mine}
        there = [sum(e[0] < m <= end for e, end, _ in mine) for m in markers | {FOREVER}]
        assert len({slot for *_, slot in mine}) == max(there, default=0), (
            "more slots than rows at once"
        )


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


@budget(1.0)
@given(seed=SEEDS)
def test_least_rows_are_the_first_with_the_least_value(seed: int) -> None:
    """Whether or not a value and a row fit one number, and whatever the order of markers."""
    random = Random(seed)
    far = random.choice([3, 1 << 40, (1 << 63) - 1])
    entries: list[Entry] = [
        (random.randrange(9), random.randrange(4), (random.choice([-far, -1, 0, 2, far]),))
        for _ in range(random.randint(0, 40))
    ]
    if random.random() < 0.6:
        entries.sort(key=lambda entry: entry[0])
    frame = _frame(entries, 1)
    if far == 3 and random.random() < 0.3:
        frame = frame.with_columns({("f", 0): frame[("f", 0)].astype(np.float64)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pareto_front_module, "_BLOCK", random.choice([1, 7, 64]))
        found = least_rows(frame, [_KEY])
    rows = zip(*(found[name].tolist() for name in (_KEY, ("f", 0), EVENT, WEIGHT)), strict=True)
    wanted = {key: min((p[0], e) for e, k, p in entries if k == key) for _, key, _ in entries}
    assert sorted(rows) == sorted((key, v, e, 1) for key, (v, e) in wanted.items())
