"""Rows that are needed beside better ones, as of every marker: against row by row."""

from collections.abc import Sequence
from math import prod
from random import Random

import numpy as np
from hypothesis import given

from ontoweir.checker.model.plan import (
    Bound,
    DistinctSample,
    Frontier,
    Key,
    ServedComparison,
    SynopsisTable,
    Term,
)
from ontoweir.runtime.columnar.columns import frontier, value
from ontoweir.runtime.columnar.frame import EVENT, UNTIL, WEIGHT, Frame
from ontoweir.runtime.kernel.keep_apart import keep_apart
from ontoweir.runtime.kernel.pareto_front import FOREVER
from tests.oracle.budget import SEEDS, budget

Point = tuple[int, ...]
Entry = tuple[int, int, int, Point]
"""(key, marker, frontier value, values of the sampled classes)"""


def can_miss(front: Sequence[Point], room: Point, point: Point) -> bool:
    """Whether later values, so many for each place as there is room, can equal a value of every
    point of a front but none of `point`."""
    if not front:
        return True
    for place, most in enumerate(room):
        if most and front[0][place] != point[place]:
            rest = [other for other in front if other[place] != front[0][place]]
            if can_miss(rest, (*room[:place], most - 1, *room[place + 1 :]), point):
                return True
    return False


def row_by_row(entries: Sequence[Entry], room: Point) -> dict[Entry, int]:
    """The entries of a key that are ever needed, each with the marker when it no longer was."""
    until: dict[Entry, int] = {}
    front: list[Entry] = []
    for entry in sorted(entries):
        if not can_miss([p for _, _, best, p in front if best <= entry[2]], room, entry[3]):
            continue
        kept: list[Entry] = []
        for other in sorted([*front, entry], key=lambda e: (e[2], e[1])):
            if can_miss([p for *_, p in kept], room, other[3]):
                kept.append(other)
            else:
                until[other] = entry[1]
        front = kept
    until |= dict.fromkeys(front, FOREVER)
    return {entry: end for entry, end in until.items() if end > entry[1]}


@budget(2.0)
@given(seed=SEEDS)
def test_the_rows_of_row_by_row(seed: int) -> None:
    random = Random(seed)
    room = random.choice([(1,), (1,), (2,), (3,), (1, 1), (2, 1), (1, 1, 1)])
    keys, size, spread = random.choice([1, 3]), random.choice([0, 5, 60]), random.choice([2, 4, 30])
    slope = random.choice([-1, 0, 0])
    entries = set()
    for n in range(size):
        best = size - n if slope else random.randrange(size)
        point = tuple(random.randrange(spread) for _ in room)
        entries.add((random.randrange(keys), n // random.choice([1, 3]), best, point))
    rows = list(entries)
    random.shuffle(rows)
    least_first = Frontier((Term(0, 1, 0),), (ServedComparison(9, 1, strict=True),))
    samples = tuple(DistinctSample(n, most) for n, most in enumerate(room, 1))
    table = SynopsisTable(
        frozenset({0}),
        (Key(9), *(Key(s.value) for s in samples)),
        (),
        (least_first,),
        (),
        True,
        Bound(None, ""),
        samples=samples,
    )
    columns = {value(9): [r[0] for r in rows], EVENT: [r[1] for r in rows]}
    columns |= {frontier(0): [r[2] for r in rows], WEIGHT: [1] * len(rows)}
    columns |= {value(n): [r[3][n - 1] for r in rows] for n in range(1, len(room) + 1)}
    frame = Frame(len(rows), {n: np.array(c, dtype=np.int64) for n, c in columns.items()})
    kept, slots = keep_apart(frame, table)
    points = zip(*(kept[value(n)].tolist() for n in range(1, len(room) + 1)), strict=True)
    lists = [kept[n].tolist() for n in (value(9), EVENT, frontier(0), UNTIL)]
    found = {
        (key, event, least, point): end
        for key, event, least, end, point in zip(*lists, points, strict=True)
    }
    expected: dict[Entry, int] = {}
    for key in range(keys):
        mine = row_by_row([e for e in entries if e[0] == key], room)
        expected |= mine
        for now in range(size + 1):
            there = [
                slot
                for (e, end), slot in zip(found.items(), slots.tolist(), strict=True)
                if e[0] == key and e[1] < now <= end
            ]
            assert len(set(there)) == len(there) <= prod(n + 1 for n in room)
    assert found == expected
