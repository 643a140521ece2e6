"""Aggregates of runs of rows, against Python's over each run."""

from decimal import Decimal
from fractions import Fraction
from math import inf
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.errors import RunError
from ontoweir.mappings.model.catalog import DecimalType
from ontoweir.runtime.preceding.count_column import read_numbers
from ontoweir.runtime.preceding.fold_frames import (
    Runs,
    add_doubles,
    add_whole,
    cut_doubles,
    find_extremes,
    list_digits,
    name_digits,
)
from ontoweir.runtime.results.exact_sums import round_digits

ROWS = 200


def make_runs(random: Random) -> Runs:
    ends = [sorted(random.choices(range(ROWS), k=2)) for _ in range(ROWS)]
    empty = [random.random() < 0.1 for _ in ends]
    last = [a - 1 if none else b for (a, b), none in zip(ends, empty, strict=True)]
    return Runs(np.array([a for a, _ in ends]), np.array(last))


@pytest.mark.parametrize("seed", range(20))
def test_sums_and_extremes(seed: int) -> None:
    random = Random(seed)
    runs = make_runs(random)
    whole = np.array([random.randint(-(2**55), 2**55) for _ in range(ROWS)])
    sums = add_whole(whole, runs)
    best = find_extremes(whole, runs, "max")
    least = find_extremes(whole, runs, "min")
    for place, (first, last) in enumerate(zip(runs.first, runs.last, strict=True)):
        mine = whole[first : last + 1].tolist()
        assert sums[place] == sum(mine)
        if mine:
            assert (best[place], least[place]) == (max(mine), min(mine))


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_doubles_are_rounded_once(seed: int) -> None:
    random = Random(seed)
    runs = make_runs(random)
    values = [
        random.choice([random.uniform(-1, 1) * 10.0 ** random.randint(-300, 300), 1e16, 0.1])
        for _ in range(ROWS)
    ]
    none = np.zeros(0, dtype=np.int64)
    digits = add_doubles(cut_doubles(np.array(values), none, {}), runs)
    found = round_digits(digits, np.ones(ROWS, dtype=np.int64))
    for place, (first, last) in enumerate(zip(runs.first, runs.last, strict=True)):
        assert found[place] == float(sum(map(Fraction, values[first : last + 1]), Fraction(0)))
    again = name_digits(list_digits(digits, ROWS))
    assert (round_digits(again, np.ones(ROWS, dtype=np.int64)) == found).all()


def test_sums_that_were_kept_go_on() -> None:
    kept = {
        place: np.array([of[0]])
        for place, of in cut_doubles(np.array([1e300]), np.zeros(0, np.int64), {}).items()
    }
    digits = cut_doubles(np.array([5.0, -1e300, inf]), np.array([0]), kept)
    sums = add_doubles(digits, Runs(np.array([0, 0, 0]), np.array([0, 1, 2])))
    assert round_digits(sums, np.ones(3, dtype=np.int64)).tolist() == [1e300, 0.0, inf]


def test_a_sum_beyond_64_bits_is_an_error() -> None:
    values = np.full(4, 2**62)
    fits = Runs(np.array([0]), np.array([0]))
    assert add_whole(values, fits).tolist() == [2**62]
    with pytest.raises(RunError, match="does not fit 64 bits"):
        add_whole(values, Runs(np.array([0]), np.array([1])))


def test_a_decimal_beyond_64_bits_is_an_error() -> None:
    fits = pa.array([Decimal("92233720368547758.07"), None], pa.decimal128(38, 2))
    valid, numbers = read_numbers(fits, DecimalType(38, 2))
    assert (valid.tolist(), numbers.tolist()) == ([True, False], [2**63 - 1, 0])
    with pytest.raises(RunError, match="does not fit 64 bits"):
        read_numbers(pa.array([Decimal("92233720368547758.08")], fits.type), DecimalType(38, 2))
