"""Rows with the first numbers in a window, against all rows that are shown numbered anew."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.runtime.numbered.slide_first import list_first, slide_first
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL

KEYS, VALUES, TIMES = "xyz", [None, 0.0, -0.0, 1.5, 2.5, 4.0], 24
Row = tuple[str, float | None, int, int, int]
"""Key, value, when it begins and ends, and how often it is there."""
FIELDS = [("k", pa.string()), ("v", pa.float64()), ("i", pa.int64()), ("n", pa.int64())]
SCHEMA = pa.schema([*FIELDS, (AT, INSTANT), (UNTIL, INSTANT), (MULTIPLICITY, pa.int64())])


def number(rows: list[Row], first: FirstRows) -> Counter[Any]:
    """What is told of rows that are shown: by the definitions of SQL."""
    orders = [(how[0][1], how[0][2]) for how in [first.order]]
    ((down, nulls),) = orders
    told: Counter[Any] = Counter()
    for key in {row[0] for row in rows}:
        mine = [(r[1], i) for i, r in enumerate(rows) if r[0] == key for _ in range(r[4])]

        def place(value: float | None) -> tuple[int, float]:
            if value is None:
                return (0 if nulls else 2), 0.0
            return 1, (-value if down else value) + 0.0

        by_id = len(first.order) > 1
        mine.sort(key=lambda row: (place(row[0]), rows[row[1]][2] if by_id else 0))
        places = [(place(v), rows[i][2] if by_id else 0) for v, i in mine]
        for n, (value, i) in enumerate(mine):
            match first.numbering:
                case Numbering.ROWS:
                    got = n + 1
                case Numbering.RANKS:
                    got = places.index(places[n]) + 1
                case Numbering.DENSE:
                    got = len(set(places[: n + 1]))
            if first.least <= got <= first.limit:
                value = None if value is None else value + 0.0
                told[key, value, rows[i][2], got if first.number else 1] += 1
    return told


def tabulate(rows: list[Row]) -> pa.Table:
    columns = [
        *([row[c] for row in rows] for c in (0, 1, 2)),
        [1] * len(rows),
        *([row[c] for row in rows] for c in (2, 3, 4)),
    ]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


def draw_first(random: Random) -> FirstRows:
    numbering = random.choice(list(Numbering))
    order = [("v", random.random() < 0.6, random.random() < 0.5)]
    if numbering is Numbering.ROWS:  # i tells rows apart
        order.append(("i", False, False))
    limit = random.randint(1, 3)
    named = random.random() < 0.6
    least = random.randint(1, limit) if named else 1
    return FirstRows(numbering, limit, tuple(order), None, "n" if named else None, least)


def draw_rows(random: Random) -> list[Row]:
    """Rows of one time, key and value are one, counted."""
    steady, sizes = random.random() < 0.5, random.choice([6, 12, 60])
    made: dict[Any, Row] = {}
    for _ in range(sizes):
        begin = random.randrange(TIMES)
        end = begin + (5 if steady else random.randint(0, 9))
        key, value = random.choice(KEYS), random.choice(VALUES)
        made[key, value, begin] = (key, value, begin, end, random.choice([1, 1, 2]))
    return sorted(made.values(), key=lambda row: row[2])


def portions(random: Random, rows: list[Row]) -> Iterator[tuple[list[Row], int]]:
    """Rows as they come, some of them before they begin, and up to when none is to come."""
    now, ahead = -1, random.choice([0, 0, 2])
    while now < TIMES + 10:
        after = now + random.randint(1, 6)
        found = after + ahead
        yield [r for r in rows if (now + ahead < r[2] or now < 0) and r[2] <= found], after
        now = after


def show(table: pa.Table) -> Counter[Any]:
    made: Counter[Any] = Counter()
    for row in table.drop_columns([AT, UNTIL]).to_pylist():
        value = None if row["v"] is None else row["v"] + 0.0
        made[row["k"], value, row["i"], row["n"]] += row[MULTIPLICITY]
    return made


def of_first(first: FirstRows) -> Standing:
    return Standing(("k",), first=first)


@pytest.mark.parametrize("seed", range(300))
def test_numbers_are_those_of_all_rows_that_are_shown(seed: int) -> None:
    random = Random(seed)
    first, rows = draw_first(random), draw_rows(random)
    standing, held, holds = of_first(first), None, Counter[Any]()
    told: list[tuple[int, int, Any]] = []
    finished = -1
    for new, now in portions(random, rows):
        found = slide_first(standing, held, tabulate(new), now)
        held = found.held
        shown = [*show_each(found.changed)]
        told += zip(found.at.tolist(), found.deltas.tolist(), shown, strict=True)
        for time in range(finished + 1, now + 1):
            for _, delta, row in (t for t in told if t[0] == time):
                holds[row] += delta
            assert +holds == number([r for r in rows if r[2] <= time < r[3]], first), (time, first)
            assert min(holds.values(), default=0) >= 0
        finished = now
        kept = held if held is not None else SCHEMA.empty_table()
        assert show(list_first(standing, kept)) == +holds
        assert kept.num_rows <= sum(r[3] > now for r in rows)
    assert held is None


def show_each(table: pa.Table) -> Iterator[Any]:
    for row in table.drop_columns([AT, UNTIL]).to_pylist():
        value = None if row["v"] is None else row["v"] + 0.0
        yield row["k"], value, row["i"], row["n"]


def one_key(ends: list[int], values: list[float]) -> pa.Table:
    rows = [("x", v, n, e, 1) for n, (v, e) in enumerate(zip(values, ends, strict=True))]
    return tabulate([*rows])


@pytest.mark.parametrize(("values", "kept"), [([1.0, 2.0, 3.0, 4.0], 2), ([4.0, 3.0, 2.0, 1.0], 4)])
def test_what_will_never_be_among_the_first_is_not_held(values: list[float], kept: int) -> None:
    order = (("v", True, False), ("i", False, False))
    first = FirstRows(Numbering.ROWS, 2, order)
    rows = one_key([10, 11, 12, 13], values)
    found = slide_first(of_first(first), None, rows, 5)
    assert found.held is not None
    assert found.held.num_rows == kept
    alike = replace(first, numbering=Numbering.DENSE, order=order[:1])
    again = slide_first(of_first(alike), None, rows, 5)
    assert again.held is not None
    assert again.held.num_rows == kept


def test_rows_are_left_out_while_they_come() -> None:
    """Twin of a list that grows with the rows of a chunk: what is looked at stays short."""
    first = FirstRows(Numbering.ROWS, 1, (("v", True, False), ("i", False, False)))
    size = 3000
    rows = one_key([10_000 + n for n in range(size)], [float(n) for n in range(size)])
    found = slide_first(of_first(first), None, rows, size)
    assert found.held is not None
    assert found.held.num_rows == 1
    assert np.count_nonzero(found.deltas > 0) == size


def test_sets_and_groups_get_what_holds_of_all_keys() -> None:
    first = FirstRows(Numbering.RANKS, 1, (("v", True, False),))
    standing = replace(of_first(first), distinct=True)
    found = slide_first(standing, None, tabulate([("x", 1.0, 0, 9, 1), ("y", 1.0, 0, 4, 1)]), 0)
    after = slide_first(standing, found.held, tabulate([("y", 2.0, 1, 9, 1)]), 1)
    spans = zip(after.told.column("k").to_pylist(), after.begins, after.ends, strict=True)
    assert sorted((k, b >= 0, e < 100) for k, b, e in spans) == [
        ("x", False, False),
        ("y", False, True),
        ("y", True, False),
    ]
