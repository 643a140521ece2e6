"""Texts that are appended are found by their numbers, of one length or not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ontoweir.runtime.pool import grow
from ontoweir.runtime.pool.grow import Growing
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


@given(st.lists(st.tuples(EVEN | ANY, st.booleans()), max_size=8), EVEN | ANY, st.booleans())
@example([(["abc", "bcd"], True), (["cde"], True)], ["xyz"], True)
@example([(["abc", "bcd"], True), (["cde"], False)], ["x"], True)
def test_those_of_another_without_a_copy(
    parts: list[tuple[list[str], bool]], more: list[str], first: bool
) -> None:
    """As many as were asked for, also when the other one has more, and when either gets others."""
    other, held, known, mine = GrowingTexts(), GrowingTexts(), list[str](), list[str]()
    for part, followed in parts:
        other.append(pa.array(part, TEXT))
        known += part
        even = len({len(text.encode()) for text in known}) == 1 and known[0] != ""
        count = len(known) - len(part) // 2
        if followed and even and count > len(mine):
            assert held.follow(other, count)
            mine = known[:count]
        assert held.whole.to_pylist() == mine == held.since(0).to_pylist()
        assert held.take(np.arange(len(mine))[::-1]).to_pylist() == mine[::-1]
        with pytest.raises(IndexError):
            held.take(np.array([len(mine)]))
    assert not held.follow(other, len(mine))
    for texts, all_of_them in ((held, mine), (other, known))[:: 1 if first else -1]:
        texts.append(pa.array(more, TEXT))
        all_of_them += more
    assert (held.whole.to_pylist(), other.whole.to_pylist()) == (mine, known)
    assert held.nbytes >= sum(map(len, mine))


def test_who_has_others_follows_none() -> None:
    other, held = GrowingTexts(), GrowingTexts()
    other.append(pa.array(["ab", "cd", "ef"], TEXT))
    held.append(pa.array(["xy"], TEXT))
    assert not held.follow(other, 2)
    assert (held.whole.to_pylist(), len(other)) == (["xy"], 3)


def test_texts_of_another_length_are_not_followed() -> None:
    other, held = GrowingTexts(), GrowingTexts()
    assert not held.follow(other, 0)
    other.append(pa.array(["a", "bcd"], TEXT))
    assert not held.follow(other, 2)
    assert len(held) == 0


@pytest.mark.parametrize("seen", [True, False])
def test_what_is_large_is_made_longer_where_it_is(
    monkeypatch: pytest.MonkeyPatch, *, seen: bool
) -> None:
    """What others see of it stays what it was: then it is copied."""
    monkeypatch.setattr(grow, "_LARGE", 64)
    grown, known, views = Growing(np.arange(0)), list[int](), list[np.ndarray]()
    for part in ([1, 2, 3], range(20), [], range(300), [7]):
        grown.append(np.array(part, dtype=np.int64))
        known += part
        assert grown.values.tolist() == known
        if seen:
            views.append(grown.values)
    assert [view.tolist() for view in views] == [known[: len(view)] for view in views]
