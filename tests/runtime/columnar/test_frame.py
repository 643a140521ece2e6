"""The relational primitives against plain Python."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from ontoweir.errors import RunError
from ontoweir.runtime.columnar import frame as frames
from ontoweir.runtime.columnar import runs
from ontoweir.runtime.columnar.frame import (
    WEIGHT,
    Array,
    Frame,
    add_up,
    concat,
    expand,
    first_of,
    group_codes,
    last_of,
    multiply,
    pair_up,
)
from ontoweir.runtime.columnar.runs import blocks
from ontoweir.runtime.distinct.aggregate import aggregate
from tests.oracle.budget import SEEDS, budget

_A, _B = ("v", 0), ("v", 1)


def _column(random: Random, rows: int, *, dense: bool = False) -> Array:
    numbers = [random.choice([-(1 << 61), -1, 0, 1, 2, 3, 1 << 61]) for _ in range(rows)]
    if dense:
        return np.array([random.choice([0.5, -0.5, 2.0]) for _ in range(rows)], dtype=np.float64)
    return np.array(numbers, dtype=np.int64)


@budget(1.0)
@given(seed=SEEDS)
def test_codes_are_dense_and_tell_rows_apart(seed: int) -> None:
    random = Random(seed)
    rows = random.randrange(30)
    columns = [
        _column(random, rows, dense=random.random() < 0.3) for _ in range(random.randrange(4))
    ]
    codes, count = group_codes(columns, rows)
    tuples = list(zip(*(c.tolist() for c in columns), strict=True)) if columns else [()] * rows
    assert len(codes) == rows
    assert count == len(set(tuples))
    assert set(codes.tolist()) == set(range(count))
    for i, j in combinations(range(rows), 2):
        assert (codes[i] == codes[j]) == (tuples[i] == tuples[j])
    first, last = first_of(codes, count), last_of(codes, count)
    assert [codes[:i].tolist().count(codes[i]) for i in first] == [0] * count
    assert [codes[i + 1 :].tolist().count(codes[i]) for i in last] == [0] * count
    assert codes[first].tolist() == codes[last].tolist() == list(range(count))


@pytest.mark.parametrize(("each", "more"), [(0, 0), (1, 0), (2, 1), (8, 4_096)])
@pytest.mark.parametrize("rare", [0, 19, None])
def test_numbers_may_be_seen_late(
    each: int, more: int, rare: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first rows all numbers occur, or one of them only at an end."""
    monkeypatch.setattr(frames, "_EACH", each)
    monkeypatch.setattr(frames, "_MORE", more)
    numbers = np.array([4, 2, 4, 2, 2] * 4)
    if rare is not None:
        numbers[rare] = 3
    codes, count = group_codes([numbers], len(numbers))
    known = sorted(set(numbers.tolist()))
    assert count == len(known)
    assert codes.tolist() == [known.index(n) for n in numbers]
    assert first_of(codes, count).tolist() == [numbers.tolist().index(n) for n in known]
    assert last_of(codes, count).tolist() == [19 - numbers[::-1].tolist().index(n) for n in known]


@budget(1.0)
@given(seed=SEEDS)
def test_pairs_are_the_equi_join(seed: int) -> None:
    random = Random(seed)
    left_rows, right_rows = random.randrange(12), random.randrange(12)
    width = random.randrange(3)
    left = [_column(random, left_rows) for _ in range(width)]
    right = [_column(random, right_rows) for _ in range(width)]
    order, start, length = pair_up(left, right, left_rows, right_rows)
    row, position = expand(start, length)
    found = Counter(zip(row.tolist(), order[position].tolist(), strict=True))
    expected = Counter(
        (i, j)
        for i in range(left_rows)
        for j in range(right_rows)
        if all(a[i] == b[j] for a, b in zip(left, right, strict=True))
    )
    assert found == expected


@budget(0.5)
@given(seed=SEEDS)
def test_aggregate_sums_or_marks(seed: int) -> None:
    random = Random(seed)
    rows = random.randrange(20)
    weights = [random.randint(1, 5) for _ in range(rows)]
    whole = Frame(
        rows,
        {_A: _column(random, rows), _B: _column(random, rows), WEIGHT: np.array(weights, np.int64)},
    )
    expected: Counter[int] = Counter()
    for a, w in zip(whole[_A].tolist(), weights, strict=True):
        expected[a] += w
    summed = aggregate(whole, [_A], bag=True)
    assert dict(zip(summed[_A].tolist(), summed[WEIGHT].tolist(), strict=True)) == expected
    marked = aggregate(whole, [_A], bag=False)
    assert sorted(marked[_A].tolist()) == sorted(expected)
    assert marked[WEIGHT].tolist() == [1] * len(expected)
    assert _B not in summed.columns


def test_blocks_cover_all_rows_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_PAIRS", 5)
    random = Random(1)
    for _ in range(200):
        length = np.array([random.randrange(9) for _ in range(random.randrange(12))], np.int64)
        cuts = blocks(length)
        rows = [i for cut in cuts for i in range(cut.start, cut.stop)]
        assert rows == list(range(len(length)))
        assert all(length[c].sum() <= 5 or c.stop - c.start == 1 for c in cuts)


def test_concat_and_take() -> None:
    one = Frame(2, {_A: np.array([1, 2])})
    other = Frame(1, {_A: np.array([3])})
    both = concat([one, other])
    assert both.rows == 3
    assert both[_A].tolist() == [1, 2, 3]
    assert both.take(np.array([2, 0]))[_A].tolist() == [3, 1]
    masked = both.take(np.array([True, False, True]))
    assert (masked.rows, masked[_A].tolist()) == (2, [1, 3])
    assert concat([one]) is one


def test_weights_that_do_not_fit_are_refused() -> None:
    large = np.array([1 << 40], dtype=np.int64)
    assert multiply(large, np.array([4], dtype=np.int64)).tolist() == [1 << 42]
    with pytest.raises(RunError, match="does not fit 64 bits"):
        multiply(large, large)
    most, codes = (1 << 63) - 1, np.zeros(2, dtype=np.int64)
    with pytest.raises(RunError, match="does not fit 64 bits"):
        add_up(np.array([1, most], dtype=np.int64), codes, 1)
    for values in ([0, most], [-(1 << 63), 0], [-(1 << 63), most], [1 << 62, (1 << 62) - 1]):
        assert add_up(np.array(values, dtype=np.int64), codes, 1).tolist() == [sum(values)]
    least = np.array([-(1 << 63)], dtype=np.int64)
    assert multiply(least, np.array([1])).tolist() == least.tolist()
    with pytest.raises(RunError, match="does not fit 64 bits"):
        multiply(least, np.array([-1]))
    # greatest with least only: no product is too large
    apart = multiply(np.array([1 << 40, 1]), np.array([1, 1 << 40]))
    assert apart.tolist() == [1 << 40, 1 << 40]


@pytest.mark.parametrize("bag", [True, False])
@pytest.mark.parametrize("far", [1, 1 << 40])
@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("ordered", [True, False])
def test_aggregate_in_every_way(bag: bool, far: int, repeats: bool, ordered: bool) -> None:
    random = Random(7)
    numbers = list(range(500)) + (random.choices(range(500), k=300) if repeats else [])
    random.shuffle(numbers)
    if ordered:
        numbers.sort()
    weights = [random.randrange(1, 9) for _ in numbers]
    whole = Frame(
        len(numbers),
        {
            _A: np.array(numbers, dtype=np.int64) * far,
            WEIGHT: np.array(weights, dtype=np.int64),
            ("s", 0): np.array(weights, dtype=np.int64) * -3,
        },
    )
    found = aggregate(whole, [_A], bag=bag)
    totals = Counter[int]()
    for number, weight in zip(numbers, weights, strict=True):
        totals[number] += weight
    assert found[_A].tolist() == [n * far for n in range(500)]
    assert found[WEIGHT].tolist() == [totals[n] if bag else 1 for n in range(500)]
    assert found[("s", 0)].tolist() == [-3 * totals[n] for n in range(500)]
    assert whole[WEIGHT].tolist() == weights


@pytest.mark.parametrize("rows", [0, 1, 2, 50])
def test_ones_are_as_a_column_of_ones(rows: int) -> None:
    weights, full = frames.ones(rows), np.ones(rows, np.int64)
    codes = np.arange(rows) % 3
    assert (frames.add_up(weights, codes, 3) == frames.add_up(full, codes, 3)).all()
    assert frames.sum_sizes(weights) == frames.sum_sizes(full)
    both = Frame(rows, {frames.WEIGHT: weights, frames.EVENT: np.arange(rows)})
    for index in (np.arange(rows)[::2], np.arange(rows) % 2 == 1, np.arange(rows) < 0):
        taken = both.take(index)
        assert taken[frames.WEIGHT].tolist() == full[index].tolist()
        assert taken.rows == len(taken[frames.EVENT]) == len(taken[frames.WEIGHT])


@pytest.mark.parametrize("seed", range(200))
def test_times_of_a_unit_have_the_codes_of_their_steps(seed: int) -> None:
    """Columns too far apart for one number are divided by what divides all of them, if something
    does: a single row that is off the grid must not be taken for one on it."""
    random = Random(seed)
    rows, unit = random.randint(1, 60), random.choice([1, 7, 1_000, 60_000_000])
    columns = []
    for _ in range(random.choice([1, 1, 2, 4])):
        base = random.choice([0, -(1 << 50), 1_700_000_000_000_000])
        steps = [random.randrange(random.choice([3, 3, 1 << 20])) for _ in range(rows)]
        columns.append(np.array([base + unit * step for step in steps]))
    if random.random() < 0.5:
        columns[-1][random.randrange(rows)] += random.randrange(unit)
    told = list(zip(*(column.tolist() for column in columns), strict=True))
    places = {row: place for place, row in enumerate(sorted(set(told)))}
    codes, count = frames.group_codes(columns, rows)
    assert count == len(places)
    assert codes.tolist() == [places[row] for row in told]


@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.09, 0.1, 0.5, 1])
def test_true_rows_are_listed_whatever_their_share(share: float) -> None:
    random = np.random.default_rng(7)
    for rows in (0, 1, 7, 30, 400):
        mask = random.random(rows) < share
        assert frames.list_true(mask).tolist() == np.flatnonzero(mask).tolist()
