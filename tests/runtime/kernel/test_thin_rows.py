"""Of rows that later values must differ from, few are kept, and they do for all."""

from collections.abc import Sequence
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from ontoweir.checker.model.plan import Bound, DistinctSample, Key, SynopsisTable
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Frame
from ontoweir.runtime.kernel.thin_rows import thin_rows

Row = tuple[int, ...]


def _table(partners: Sequence[int]) -> SynopsisTable:
    """A table with one finite class (0), and classes that must differ from so many values."""
    apart = tuple(DistinctSample(n, most) for n, most in enumerate(partners, 1))
    keys = (Key(0), *(Key(a.value) for a in apart))
    return SynopsisTable(frozenset({0}), keys, (), (), (), True, Bound(None, ""), samples=apart)


def _frame(rows: Sequence[Row], width: int) -> Frame:
    columns = {value(n): np.array([r[n] for r in rows], dtype=np.int64) for n in range(width)}
    ones = np.ones(len(rows), dtype=np.int64)
    return Frame(len(rows), {**columns, EVENT: ones, WEIGHT: ones})


def _meets(rows: Sequence[Row], key: int, later: Sequence[Sequence[int]]) -> bool:
    """Whether some row has the key and differs, place by place, from all later values."""
    return any(
        r[0] == key and all(v not in x for v, x in zip(r[1:], later, strict=True)) for r in rows
    )


@pytest.mark.parametrize("partners", [(1,), (2,), (3,), (1, 1), (2, 1), (1, 1, 1), (2, 2)])
def test_few_rows_do_for_all(partners: tuple[int, ...]) -> None:
    table = _table(partners)
    width = len(partners) + 1
    for seed in range(30):
        random = Random(seed)
        rows: list[Row] = []
        for _ in range(12):
            row = (random.randrange(2), *(random.randrange(4) for _ in partners))
            if row not in rows:
                rows.append(row)
        kept: list[Row] = []
        for start in range(0, len(rows), 5):  # in chunks, beside what is kept
            more = rows[start : start + 5]
            before = _frame(kept, width) if kept else None
            needed = thin_rows(table, before, _frame(more, width))
            kept += [r for r, taken in zip(more, needed.tolist(), strict=True) if taken]
        values = [[list(x) for x in product(range(5), repeat=most)] for most in partners]
        for later in product(*values):
            for key in range(2):
                assert _meets(kept, key, later) == _meets(rows, key, later)
        most = prod(n + 1 for n in partners)
        assert all(sum(r[0] == key for r in kept) <= most for key in range(2))


def test_merged_rows_are_thinned_again() -> None:
    """As states of ranges are: any order of the rows will do."""
    table = _table((1,))
    rows = [(0, n) for n in range(6)]
    needed = thin_rows(table, None, _frame(rows, 2))
    assert needed.tolist() == [True, True, False, False, False, False]


def test_no_rows() -> None:
    assert thin_rows(_table((1,)), None, _frame([], 2)).tolist() == []
