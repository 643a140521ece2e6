"""Repeated keys are found, however rows are ordered and whatever types keys have."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.runtime.columnar import find_repeated_keys as module
from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys
from ontoweir.runtime.pool.hash_texts import hash_texts

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


TEXTS = st.none() | st.sampled_from(["", "a", "é", "aa", "x" * 70])


@given(
    st.lists(st.tuples(st.integers(0, 2), TEXTS, st.integers(-1, 2)), max_size=30),
    st.integers(0, 30),
    st.booleans(),
)
def test_texts_dictionaries_and_codes(
    rows: list[tuple[int, str | None, int]], cut: int, alike: bool
) -> None:
    """Whatever form texts have, also where their hashes coincide; -1 is the code of NULL."""
    rows = sorted(rows, key=lambda r: r[0])
    groups = np.array([r[0] for r in rows], dtype=np.int64)
    codes = np.array([r[2] for r in rows], dtype=np.int64)
    whole = pa.array([r[1] for r in rows], pa.string())
    plain = pa.chunked_array([whole.slice(0, cut), whole.slice(cut)])
    apart = pa.chunked_array([c.dictionary_encode() for c in plain.chunks])
    one = pa.chunked_array([whole.dictionary_encode()])
    shared = pa.chunked_array([one.slice(0, cut).combine_chunks(), one.slice(cut).combine_chunks()])
    wanted = _by_hand([r[:2] for r in rows])
    both = _by_hand([(r[0], r[1], None if r[2] < 0 else r[2]) for r in rows])
    with pytest.MonkeyPatch.context() as patch:
        if alike:
            patch.setattr(module, "hash_texts", lambda texts: hash_texts(texts) % np.uint64(2))
        for texts in (plain, apart, one, shared):
            assert find_repeated_keys(groups, [texts]).tolist() == wanted
            assert find_repeated_keys(groups, [texts, codes]).tolist() == both
    seen = np.array(
        [("", "a", "é", "aa", "x" * 70).index(r[1]) if r[1] is not None else -1 for r in rows],
        dtype=np.int64,
    )
    assert find_repeated_keys(groups, [seen]).tolist() == wanted


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
