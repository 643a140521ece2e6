"""Repeated keys are found, however rows are ordered and whatever types keys have."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.none() | st.integers(-2, 2), st.sampled_from("ab")), max_size=30
)


def _by_hand(rows: Sequence[tuple[object, ...]]) -> list[bool]:
    seen, found = set(), []
    for row in rows:
        found.append(None not in row and row in seen)
        seen.add(row)
    return found


@given(ROWS, st.sampled_from([pa.int64(), pa.int8(), pa.string()]), st.booleans(), st.booleans())
def test_all_but_the_first(
    rows: list[tuple[int, int | None, str]], kind: pa.DataType, ordered: bool, whole: bool
) -> None:
    if whole:
        rows = [r for r in rows if r[1] is not None]
    rows = sorted(rows, key=lambda r: (r[0], r[1] or 0) if ordered else (r[0],))
    groups = np.array([r[0] for r in rows], dtype=np.int64)
    numbers = pa.chunked_array([pa.array([r[1] for r in rows], pa.int64())]).cast(kind)
    cut = len(rows) // 2
    numbers = pa.chunked_array([*numbers.slice(0, cut).chunks, *numbers.slice(cut).chunks], kind)
    texts = pa.chunked_array([pa.array([r[2] for r in rows], pa.string())])
    one = find_repeated_keys(groups, [numbers]).tolist()
    assert one == _by_hand([r[:2] for r in rows])
    first = np.flatnonzero(np.diff(groups, prepend=-1))
    assert find_repeated_keys(groups, [numbers], first).tolist() == one
    both = find_repeated_keys(groups, [numbers, texts]).tolist()
    assert both == _by_hand(rows)


@pytest.mark.parametrize(
    ("groups", "keys", "repeated"),
    [
        ([0, 0, 1, 1], [1, 2, 1, 2], []),
        ([0, 0, 1, 1], [1, 2, 2, 2], [3]),
        ([0, 0, 0, 1], [1, 2, 2, 2], [2]),
        ([0, 0, 0, 1], [1, 2, 3, 3], []),
        ([0, 1, 1, 1], [5, 1, 2, 1], [3]),
        ([0, 0, 0], [2, 1, 2], [2]),
        ([0, 1, 0], [1, 2, 1], [2]),
        ([], [], []),
    ],
)
def test_in_order_and_not(groups: list[int], keys: list[int], repeated: list[int]) -> None:
    for cut in range(len(keys) + 1):  # between row groups too
        column = pa.chunked_array([keys[:cut], keys[cut:]], pa.int64())
        found = find_repeated_keys(np.array(groups, dtype=np.int64), [column])
        assert np.flatnonzero(found).tolist() == repeated
        if groups == sorted(groups):
            first = np.flatnonzero(np.diff(groups, prepend=-1))
            again = find_repeated_keys(np.array(groups, dtype=np.int64), [column], first)
            assert np.flatnonzero(again).tolist() == repeated
