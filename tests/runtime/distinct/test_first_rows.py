"""First rows, against a plain evaluation in Python."""

from random import Random

import numpy as np
import pytest
from hypothesis import given

from ontoweir.runtime.distinct.first_rows import first_rows
from tests.oracle.budget import SEEDS, budget


def _plain(columns: list[np.ndarray], rows: int) -> tuple[list[int], list[int]]:
    """By comparing rows as lists: NaN last and equal to NaN, -0.0 equal to 0.0."""
    keys = [
        tuple((x != x, 0.0 if x != x or x == 0 else x) for x in (c[n].item() for c in columns))
        for n in range(rows)
    ]
    distinct = sorted(set(keys))
    return [keys.index(key) for key in distinct], [distinct.index(key) for key in keys]


def _make(random: Random, rows: int) -> list[np.ndarray]:
    def column() -> np.ndarray:
        match random.randrange(5):
            case 0:
                return np.sort([random.randrange(rows) for _ in range(rows)]).astype(np.int64)
            case 1:
                return np.array([random.randrange(3) for _ in range(rows)], dtype=np.int64)
            case 2:
                far = [random.choice([-(2**62), 0, 2**62]) for _ in range(rows)]
                return np.array(far, dtype=np.int64)
            case 3:
                return np.array([random.choice([0.0, -0.0, np.nan, 1.5]) for _ in range(rows)])
            case _:
                return np.array([random.random() for _ in range(rows)])

    return [column() for _ in range(random.randint(1, 4))]


@budget(5)
@given(seed=SEEDS)
def test_first_rows(seed: int) -> None:
    random = Random(seed)
    rows = random.choice([1, 2, 5, 20, 60])
    columns = _make(random, rows)
    first, codes = first_rows(columns, rows)
    order = list(range(rows)) if first is None else first.tolist()
    wanted, places = _plain(columns, rows)
    if codes is None:  # all differ
        assert sorted(order) == list(range(rows))
        assert order == wanted
    else:
        assert order == wanted
        assert codes.tolist() == places


@pytest.mark.parametrize("tied", [0, 3, 600, 1000])
def test_numbers_that_few_or_many_rows_share(tied: int) -> None:
    times = np.sort(np.concatenate([np.zeros(tied), np.arange(1, 1001 - tied)])).astype(np.int64)
    values = np.random.default_rng(1).normal(size=len(times))
    first, codes = first_rows([times, values], len(times))
    assert codes is None
    order = np.arange(len(times)) if first is None else first
    assert (order == np.lexsort((values, times))).all()
