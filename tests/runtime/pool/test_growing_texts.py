"""Texts that are appended are found by their numbers, of one length or not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ontoweir.runtime.pool.take_pieces import TEXT, GrowingTexts

EVEN = st.lists(st.text("ab", min_size=3, max_size=3), max_size=6)
ANY = st.lists(st.text("aé", max_size=4), max_size=6)


@given(st.lists(EVEN | ANY, max_size=8), st.integers(0, 2), st.randoms(use_true_random=False))
@example([["abc"], ["", "abc"], ["abc"]], 1, None)
@example([[""], ["abc"]], 0, None)
def test_what_was_appended(parts: list[list[str]], before: int, random: object) -> None:
    """What was seen of them before stays what it was."""
    held, known = GrowingTexts(), list[str]()
    seen: list[tuple[pa.Array, list[str]]] = []
    for part in parts:
        held.append(pa.array([*"xyz"[:before], *part, "behind"], TEXT).slice(before, len(part)))
        known += part
        assert len(held) == len(known)
        places = np.arange(len(known))[:: -1 if len(known) % 2 else 2]
        taken, last = held.take(places), held.since(len(known) // 2)
        seen += [(taken, [known[p] for p in places]), (last, known[len(known) // 2 :])]
        if random is None or len(known) % 3:
            seen.append((held.whole, list(known)))
            assert held.whole is held.whole
    for array, texts in seen:
        array.validate(full=True)
        assert (array.type, array.to_pylist()) == (TEXT, texts)
    assert held.whole.to_pylist() == known
    assert held.nbytes >= sum(map(len, known))
    for place in (-1, len(known)):
        with pytest.raises(IndexError):
            held.take(np.array([place]))
