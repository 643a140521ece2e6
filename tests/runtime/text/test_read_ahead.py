"""Items are made ahead of their use, in order."""

from collections.abc import Iterator

import pytest

from ontoweir.runtime.text.read_ahead import read_ahead


def test_one_is_made_while_another_is_used() -> None:
    made: list[int] = []

    def make() -> Iterator[int]:
        for n in range(4):
            made.append(n)
            yield n

    used = []
    for item in read_ahead(make()):
        used.append(item)
        assert len(made) <= item + 2
    assert used == made == [0, 1, 2, 3]


def test_an_error_comes_in_its_turn() -> None:
    def make() -> Iterator[int]:
        yield 1
        raise ValueError("two")

    items = read_ahead(make())
    assert next(items) == 1
    with pytest.raises(ValueError, match="two"):
        next(items)


def test_it_may_be_left() -> None:
    """The thread ends with it."""
    items = read_ahead(iter(range(1, 9)))
    assert next(items) == 1
    items.close()  # type: ignore[attr-defined]
    assert list(items) == []
