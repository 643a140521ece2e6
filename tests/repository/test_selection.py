"""Which tests are run first, and which in one process."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import selection


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("from hypothesis import given\n", 1),
        ("import random\n", 1),
        ("@pytest.mark.slow\n", 1),
        ("from tests.oracle.budget import SEEDS\n", 1),  # which imports hypothesis
        ("text = 'no import random'\n", 2),
    ],
)
def test_what_tries_many_cases_comes_first(text: str, rank: int, tmp_path: Path) -> None:
    file = tmp_path / "test_one.py"
    file.write_text(text)
    assert selection.rank_test(file, "test_it") == rank


def make_item(name: str, *, one_of: int | None) -> Any:
    """A test as pytest has it, with `many` where only some of its cases are taken."""
    mark = None if one_of is None else pytest.mark.many(one_of).mark
    return SimpleNamespace(path=Path("test_it.py"), name=name, get_closest_marker=lambda _: mark)


def test_of_many_cases_some_are_taken() -> None:
    many = [make_item(f"test_many[{n}]", one_of=3) for n in range(7)]
    few = [make_item(f"test_few[{n}]", one_of=None) for n in range(3)]
    left = [item.name for item in selection.list_left_out([*many, *few])]
    assert left == [f"test_many[{n}]" for n in (1, 2, 4, 5)]


def test_tests_that_share_nothing_are_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "ALONE", (tmp_path,))
    texts = {
        "plain": "def test_it(): ...\n",
        "module": '@pytest.fixture(scope="module")\n',
        "cached": "@cache\ndef read(): ...\n",
    }
    for name, text in texts.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "test_plain.py").write_text(texts["plain"])
    assert not selection.stays_together(tmp_path / "test_plain.py")
    assert selection.stays_together(tmp_path / "test_module.py")
    assert selection.stays_together(tmp_path / "test_cached.py")
    assert selection.stays_together(tmp_path / "other" / "test_plain.py")
