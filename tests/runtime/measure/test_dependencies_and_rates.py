"""Functional dependencies, rates and ratios, against looking at all rows together."""

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import Column, ColumnType, IntType, StringType
from ontoweir.runtime.columnar.frame import starts_of_runs
from ontoweir.runtime.measure import count_rates, count_values, find_dependencies
from ontoweir.runtime.measure.count_rates import RateCounter, compare_rates
from ontoweir.runtime.measure.count_values import ValueCounter
from ontoweir.runtime.measure.find_dependencies import DependencyFinder

NAMES = ("a", "b", "c", "d")


def _make_rows(random: Random) -> list[tuple[Any, ...]]:
    """`b` follows from `a` but for a row, or always; others are anything."""
    wide = random.choice([2, 5])
    of = {a: random.choice(["x", "y", "z", None]) for a in range(wide)}
    rows = []
    for _ in range(random.randint(1, 60)):
        a = random.choice([*range(wide), None])
        b = random.choice(["x", None]) if a is None else of[a]
        rows.append((a, b, random.choice(["p", "q", None]), random.randrange(4)))
    if random.random() < 0.4:
        place = random.randrange(len(rows))
        rows[place] = (rows[place][0], "w", *rows[place][2:])
    return rows


def _determines(rows: list[tuple[Any, ...]], one: int, other: int) -> bool:
    seen: dict[Any, set[Any]] = {}
    for row in rows:
        if row[one] is not None:
            seen.setdefault(row[one], set()).add(row[other])
    count = sum(row[one] is not None for row in rows)
    several = len({row[other] for row in rows}) > 1
    return (
        len(seen) > 1
        and several
        and all(len(v) == 1 for v in seen.values())
        and (2 * len(seen) <= count)
    )


@pytest.mark.parametrize("seed", range(80))
def test_dependencies(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    monkeypatch.setattr(find_dependencies, "_SAMPLE", random.choice([1, 3, 1000]))
    first_rows = random.choice([(1, 2), (2, 20), (64, 1000)])
    monkeypatch.setattr(find_dependencies, "_FIRST_ROWS", first_rows)
    rows = _make_rows(random)
    types: tuple[ColumnType, ...] = (IntType(), StringType(), StringType(), IntType())
    counters = {n: ValueCounter(Column(n, t)) for n, t in zip(NAMES, types, strict=True)}
    finder = DependencyFinder(NAMES)
    start = 0
    while start < len(rows):
        stop = start + random.choice([1, 4, 30])
        part = rows[start:stop]
        for place, name in enumerate(NAMES):
            kind = pa.int64() if isinstance(types[place], IntType) else pa.string()
            column = pa.chunked_array([pa.array([row[place] for row in part], kind)])
            counters[name].add(column, np.arange(start, start + len(part)))
        finder.add(counters)
        start = stop
    right = {(NAMES[i], NAMES[j]) for i, j in permutations(range(4), 2) if _determines(rows, i, j)}
    assert set(finder.finish(counters)) == right
    assert finder.whole


def test_what_has_too_many_values_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_values, "MOST", 10)
    counters = {n: ValueCounter(Column(n, IntType())) for n in "ab"}
    finder = DependencyFinder("ab")
    for start in range(0, 40, 5):
        values = np.arange(start, start + 5)
        counters["a"].add(pa.chunked_array([pa.array(values)]), values)
        counters["b"].add(pa.chunked_array([pa.array(values // 5)]), values)
        finder.add(counters)
    assert finder.finish(counters) == ()
    assert not finder.whole


def test_memory_for_dependencies_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_dependencies, "CELLS", 6)
    counters = {n: ValueCounter(Column(n, IntType())) for n in "ab"}
    finder = DependencyFinder("ab")
    values = np.arange(10) // 2
    for counter in counters.values():
        counter.add(pa.chunked_array([pa.array(values)]), np.arange(10))
    finder.add(counters)
    assert len(finder.finish(counters)) == 1
    assert not finder.whole


@pytest.mark.parametrize("seed", range(40))
def test_rates(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    monkeypatch.setattr(count_rates, "SPANS", random.choice([2, 8, 512]))
    monkeypatch.setattr(count_rates, "_SHORTEST", random.choice([0, 3]))
    most = random.choice([5, 100, 5_000])
    times = np.sort(np.array([random.randint(-50, most) for _ in range(random.randint(1, 200))]))
    counter = RateCounter()
    start = 0
    while start < len(times):
        stop = start + random.choice([1, 10, 100])
        while stop < len(times) and times[stop] == times[stop - 1]:
            stop += 1
        part = times[start:stop]
        counter.add(part, np.flatnonzero(starts_of_runs(part)))
        start = stop
    found = counter.finish()
    assert found is not None
    assert len(found.counts) <= count_rates.SPANS
    for place, count in enumerate(found.counts):
        low = (found.begin + place) * found.width_us
        assert count == ((times >= low) & (times < low + found.width_us)).sum()
    assert sum(found.counts) == len(times)
    sizes = np.sort(np.unique(times, return_counts=True)[1])
    assert found.quantiles == tuple(
        int(sizes[int(np.ceil(share * len(sizes))) - 1]) for share in (0.5, 0.99, 0.999)
    )


def _count(times: list[int]) -> RateCounter:
    counter, made = RateCounter(), np.array(times) * 1_048_576
    counter.add(made, np.flatnonzero(starts_of_runs(made)))
    return counter


def test_ratios() -> None:
    twice = _count([t for t in range(100) for _ in range(2)]).finish()
    once = _count(list(range(50, 150))).finish()
    assert twice is not None
    assert once is not None
    found = compare_rates(twice, once)
    assert found is not None
    assert (found.overall, found.least, found.most) == (2.0, 2.0, 2.0)
    assert (found.spans, found.alone) == (48, 0)
    seldom = _count([t for t in range(100) if t % 2]).finish()
    assert seldom is not None
    found = compare_rates(seldom, twice)
    assert found is not None
    assert (found.overall, found.alone) == (50 / 198, 49)


def test_streams_that_do_not_overlap_have_no_ratio() -> None:
    early, late = _count(list(range(10))).finish(), _count(list(range(20, 30))).finish()
    assert early is not None
    assert late is not None
    assert compare_rates(early, late) is None


def test_spans_of_different_lengths_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_rates, "SPANS", 16)
    long = _count([t for t in range(200) for _ in range(3)]).finish()
    short = _count(list(range(60, 70))).finish()
    assert long is not None
    assert short is not None
    assert long.width_us > short.width_us
    found = compare_rates(long, short)
    assert found is not None
    assert found.width_us == long.width_us
