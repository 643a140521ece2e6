"""The rows that matter of those that are equal in some columns, beside what definitions say."""

from collections import defaultdict
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.runtime.folded import fold_rows as module
from ontoweir.runtime.folded.find_extremes import find_extremes
from ontoweir.runtime.folded.fold_rows import Folds, fold_rows
from ontoweir.runtime.folded.list_folded import Extreme, Folded
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.nulls.find_there import fill_missing, find_there
from ontoweir.runtime.times.steps import Steps

CHOICES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "small": (pa.int8(), [-3, 0, 5, None]),
    "whole": (pa.int64(), [-(1 << 40), -(1 << 40) + 3, -(1 << 40) + 9]),
    "flag": (pa.bool_(), [True, False, None]),
    "text": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", "", None]),
    "least": (pa.int64(), [-(1 << 63), 0, (1 << 63) - 1, None]),
    "real": (pa.float64(), [-0.0, 0.0, -1.5, float("inf"), -float("inf"), None]),
    "money": (pa.decimal64(5, 2), [Decimal("-1.25"), Decimal("0.00"), Decimal("3.50"), None]),
    "wide": (pa.decimal128(6, 2), [Decimal("-1.25"), Decimal("-1.50"), Decimal(9), None]),
    "never": (pa.int32(), [None]),
}
BY = ("small", "whole", "flag", "text")
VALUES = ("wide", "least", "real", "money", "never", "small")


def make_rows(random: Random, count: int) -> Admitted:
    """Random rows, in pieces that begin anywhere."""
    columns = {}
    for name, (kind, choices) in CHOICES.items():
        values = [random.choice(choices) for _ in range(count)]
        whole = pa.array([None, *values], kind)[1:]
        cut = random.randrange(count + 1)
        columns[name] = pa.chunked_array([whole[:cut], whole[cut:]], kind)
    times = np.sort(np.array([random.randrange(count) for _ in range(count)], dtype=np.int64))
    return Admitted(Steps(times), times, pa.table(columns), count, {})


@pytest.mark.parametrize("seed", range(60))
def test_the_rows_that_matter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEWEST", 1)
    monkeypatch.setattr(module, "_EACH", 1)
    random = Random(seed)
    rows = make_rows(random, random.choice([300, 700]))
    by = frozenset(random.sample(BY, random.randrange(3)))
    extremes = frozenset(
        Extreme(name, random.random() < 0.5) for name in random.sample(VALUES, random.randrange(3))
    )
    extremes = frozenset(e for e in extremes if e.column not in by)
    counted = random.random() < 0.5
    present = frozenset(random.sample(VALUES, random.randrange(2))) - by
    folded = Folded(by, present, extremes, not counted or random.random() < 0.5, counted)
    few = fold_rows(rows, folded)
    assert few is not None
    assert few.marks is not None
    assert few.marks.tolist() == sorted(set(rows.times.tolist()))
    assert few.read == rows.read
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    cells = {name: rows.table.column(name).to_pylist() for name in CHOICES}
    for row in range(len(rows.times)):
        key = [cells[name][row] for name in sorted(by)]
        groups[*key, *(cells[name][row] is None for name in present)].append(row)
    wanted = set()
    for members in groups.values():
        wanted |= {members[0]} if folded.first else set()
        wanted |= {members[-1]} if counted else set()
        for extreme in extremes:
            there = [row for row in members if cells[extreme.column][row] is not None]
            best = max if extreme.greatest else min
            wanted |= {best(there, key=cells[extreme.column].__getitem__)} if there else set()
    kept = list(zip(few.times.tolist(), few.table.to_pylist(), strict=True))
    all_rows = list(zip(rows.times.tolist(), rows.table.to_pylist(), strict=True))
    ends = [all_rows[row] for row in sorted(wanted)]
    left = iter(kept)
    assert all(any(row == other for other in left) for row in ends)  # all of them, in order
    assert len(kept) <= len(wanted) + 2 * len(extremes)
    if counted:
        assert few.weights is not None
        assert (few.weights > 0).all()
        told: dict[tuple[Any, ...], int] = defaultdict(int)
        for (_, row), weight in zip(kept, few.weights.tolist(), strict=True):
            key = [row[name] for name in sorted(by)]
            told[*key, *(row[name] is None for name in present)] += weight
        assert told == {key: len(members) for key, members in groups.items()}


def test_rows_that_do_not_become_few_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 10_000
    times = np.arange(count)
    table = pa.table({"k": pa.array(times), "f": pa.array(times / 2), "t": pa.array(["a"] * count)})
    rows = Admitted(Steps(times), times, table, count, {})
    none: frozenset[Extreme] = frozenset()
    for by in ("k", "f", "t", "absent"):
        folds = Folds({"s": Folded(frozenset([by]), frozenset(), none, False, True)})
        assert folds.fold({"s": rows})["s"] is rows
        assert not folds.folding
        assert not folds.pay
    folds = Folds({"s": Folded(frozenset(), frozenset(), none, False, True)})
    few = folds.fold({"s": rows})["s"]
    assert (few.times.tolist(), few.weights is not None and few.weights.tolist()) == (
        [count - 1],
        [count],
    )
    assert folds.pay
    nan = pa.chunked_array([pa.array([1.0, float("nan")])])
    assert find_extremes(nan, np.zeros(2, np.int64), 1, greatest=True) is None


def test_no_number_is_kept_for_what_a_dictionary_lacks() -> None:
    """So that numbers of texts that all occur are taken as they are."""
    texts = pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])
    assert module._number_values(texts, 2) is not None
    codes, size = module._number_values(texts, 2) or (None, 0)
    assert codes is not None
    assert (codes.tolist(), size) == ([0, 1, 0], 2)
    absent = pa.chunked_array([pa.nulls(2, pa.dictionary(pa.int32(), pa.string()))])
    assert (module._number_values(absent, 9) or (None, 0))[1] == 2


def test_groups_that_begin_late_and_good_values_that_are_rare() -> None:
    """Also where a part of the rows says nothing of some groups, or all of all."""
    random = np.random.default_rng(3)
    for groups, low in ((3, 0), (40, 0), (40, 39)):
        codes = np.sort(random.integers(low, groups, 20_000)) if low else None
        codes = random.integers(0, groups, 20_000) if codes is None else codes
        codes[-1] = groups - 1
        values = random.integers(-5, 1_000, 20_000)
        found = find_extremes(pa.chunked_array([pa.array(values)]), codes, groups, greatest=True)
        assert found is not None
        for group in np.unique(codes):
            rows = np.flatnonzero(codes == group)
            assert rows[values[rows].argmax()] in found


def test_what_is_there_and_what_fills_the_rest() -> None:
    random = Random(5)
    values = [random.choice([None, 1, 2]) for _ in range(100)]
    for start, stop in ((0, 100), (3, 90), (8, 9), (15, 15)):
        piece = pa.array(values, pa.int16())[start:stop]
        assert find_there(piece).tolist() == [v is not None for v in values[start:stop]]
    for kind, filler in ((np.int8, -128), (np.float32, -np.inf), (np.float64, 0.0)):
        numbers = np.array([1, 2, 3], dtype=kind)
        filled = fill_missing(numbers, np.array([True, False, True]), filler)
        assert filled.tolist() == [1, filler, 3]
        assert filled.dtype == kind
