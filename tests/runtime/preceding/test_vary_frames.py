"""Variances of runs of rows, against Python's fractions over each run."""

from fractions import Fraction
from math import inf, isnan
from random import Random

import numpy as np
import pytest

from ontoweir.mappings.model.catalog import ColumnType, DecimalType, FloatType, IntType
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.preceding.fold_frames import Runs
from ontoweir.runtime.preceding.vary_frames import vary, vary_on

ROWS = 120
KINDS: tuple[tuple[ColumnType, int], ...] = (
    (IntType(), 9),
    (IntType(), 2**20),
    (IntType(), 2**62),
    (DecimalType(9, 2), 10**6),
    (DecimalType(18, 6), 2**61),
)


def make_runs(random: Random) -> Runs:
    ends = [sorted(random.choices(range(ROWS), k=2)) for _ in range(ROWS)]
    last = [a - 1 if random.random() < 0.1 else b for a, b in ends]
    return Runs(np.array([a for a, _ in ends]), np.array(last))


def expect(values: Array, valid: Array, runs: Runs, less: int, unit: int) -> list[float | None]:
    found: list[float | None] = []
    for first, last in zip(runs.first, runs.last, strict=True):
        mine = [Fraction(values[i].item()) for i in range(first, last + 1) if valid[i]]
        count = len(mine)
        if count <= less:
            found.append(None)
            continue
        exact = count * sum(v * v for v in mine) - sum(mine) ** 2
        found.append(float(exact / (count * (count - less)) / unit**2))
    return found


@pytest.mark.parametrize("less", [0, 1])
@pytest.mark.parametrize(("kind", "most"), KINDS)
def test_of_whole_numbers(kind: ColumnType, most: int, less: int) -> None:
    random = Random(most)
    runs = make_runs(random)
    values = np.array([random.randint(-most, most) for _ in range(ROWS)])
    valid = np.array([random.random() < 0.8 for _ in range(ROWS)])
    unit = 10**kind.scale if isinstance(kind, DecimalType) else 1
    found = vary(valid, values, kind, runs, less).to_pylist()
    assert found == expect(values, valid, runs, less, unit)


@pytest.mark.parametrize("seed", range(8))
def test_of_doubles(seed: int) -> None:
    """Great and small ones, and such as lie so close together that sums of doubles lose all."""
    random = Random(seed)
    runs, less = make_runs(random), seed % 2
    near = random.choice([0.0, 1e9, -1e15])
    size = random.choice([1.0, 1e-3, 1e-160, 1e150])
    values = np.array([near + random.gauss(0, 1) * size for _ in range(ROWS)])
    valid = np.array([random.random() < 0.8 for _ in range(ROWS)])
    found = vary(valid, values, FloatType(), runs, less).to_pylist()
    assert found == expect(values, valid, runs, less, 1)


@pytest.mark.parametrize("seed", range(12))
def test_what_was_kept_goes_on(seed: int) -> None:
    """Of rows that come in two parts: as of all at once."""
    random = Random(seed)
    kind, most = random.choice([*KINDS, (FloatType(), 1)])
    doubles = isinstance(kind, FloatType)
    draw = [random.uniform(-1e9, 1e9) if doubles else random.randint(-most, most) for _ in "a" * 60]
    values = np.array(draw, dtype=np.float64 if doubles else np.int64)
    valid = np.array([random.random() < 0.8 for _ in draw])
    less, cut, rows = random.choice([0, 1]), random.randint(1, 50), len(draw)
    whole = Runs(np.zeros(rows, dtype=np.int64), np.arange(rows))
    expected = vary(valid, values, kind, whole, less).to_pylist()
    none = np.zeros(0, dtype=np.int64)
    runs = Runs(whole.first[:cut], whole.last[:cut])
    shown, *kept = vary_on((valid[:cut], values[:cut]), kind, runs, less, (none, []))
    assert shown.to_pylist() == expected[:cut]
    head = [column.slice(cut - 1, 1) for column in kept]
    later = Runs(whole.first[cut - 1 :], whole.last[cut - 1 :] - (cut - 1))
    more = (valid[cut - 1 :], values[cut - 1 :])
    shown, *_ = vary_on(more, kind, later, less, (np.zeros(1, dtype=np.int64), head))
    assert shown.to_pylist() == expected[cut - 1 :]


def test_with_an_infinite_value_it_is_not_a_number() -> None:
    runs = Runs(np.array([0, 0, 1]), np.array([1, 2, 2]))
    values = np.array([inf, 1.0, 3.0])
    found = vary(np.ones(3, dtype=np.bool_), values, FloatType(), runs, 1).to_pylist()
    assert isnan(found[0])
    assert isnan(found[1])
    assert found[2] == 2.0
