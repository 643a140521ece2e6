"""Names that are data, and folders that may not be looked into."""

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located.locate_source import find_matches, locate_source
from ontoweir.runtime.located.name_levels import name_levels

NAMES = ("a", "b", "ab", "a.b", ".a", "a-b", "a[b", "x]", "é", "a b", "^a", "aXb")
PIECES = ("a", "b", "*", "?", "[ab]", "[!a]", "[a-z]", "[]x]", "a.", "-", "^", "é", "X")


def test_a_folder_that_may_not_be_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files would be missing; one of the file system's own is none of data."""
    for name in ("s/closed/a.csv", "s/lost+found/b.csv", "s/c.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("k\n1\n")
    look = os.scandir
    closed: list[str] = [str(tmp_path / "s" / "lost+found")]

    def scan(place: Any) -> Any:
        if str(place) in closed:
            raise PermissionError(13, "Permission denied", str(place))
        return look(place)

    monkeypatch.setattr(os, "scandir", scan)
    data = DataSource("csv", str(tmp_path / "s"))
    files = locate_source(data, "s", "ontoweir.toml").files
    assert files == (str(tmp_path / "s/c.csv"), str(tmp_path / "s/closed/a.csv"))
    closed.append(str(tmp_path / "s" / "closed"))
    with pytest.raises(DataError, match=r"closed cannot be looked into: Permission denied"):
        locate_source(data, "s", "ontoweir.toml")


@pytest.mark.parametrize("seed", range(4))
def test_levels_of_a_pattern_are_what_glob_finds(seed: int, tmp_path: Path) -> None:
    for folder in NAMES:
        (tmp_path / folder).mkdir()
        for name in NAMES:
            (tmp_path / folder / name).touch()
    random = Random(seed)
    found = 0
    for _ in range(150):
        parts = ["".join(random.choices(PIECES, k=random.randint(1, 3))) for _ in range(2)]
        pattern = f"{tmp_path}/{'/'.join(parts)}"
        base, below = name_levels(pattern)
        levels = [re.compile(one, re.DOTALL) for one in below]
        mine = set()
        for file in tmp_path.rglob("*"):
            inner = os.path.relpath(file, base).split("/")
            as_deep = len(inner) == len(levels) and str(file).startswith(base)
            if as_deep and all(x.fullmatch(n) for x, n in zip(levels, inner, strict=True)):
                mine.add(str(file))
        if below and "**" not in parts:  # which crosses levels
            assert mine == set(find_matches(pattern)), pattern
            found += len(mine)
    assert found > 50
