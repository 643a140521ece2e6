"""What is written of a part's tables is what is read: whole, and what has changed since."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.model.divided_state import PartState
from ontoweir.runtime.live.parts.local_copy import find_copy, keep_copy
from ontoweir.runtime.live.parts.part_files import (
    KeptTable,
    drop_files,
    read_tables,
    write_tables,
)


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_changes, "LARGE", 50)


def _steps(count: int) -> list[dict[str, pa.Table]]:
    """A large table, of which a few rows change and come, and a small one."""
    random = np.random.default_rng(5)
    values = random.integers(0, 100, 400)
    steps = []
    for number in range(count):
        values = values.copy()
        values[random.integers(0, len(values), 5)] += 1
        values = np.append(values, random.integers(0, 100, number % 3))
        small = pa.table({"n": [number // 4]})
        steps.append({"large": pa.table({"v": values, "w": values * 2}), "small": small})
    return steps


def _files(held: dict[str, KeptTable]) -> set[str]:
    return {piece.file for table in held.values() for piece in table.pieces}


def test_changes_add_up(tmp_path: Path) -> None:
    """Also where files that nothing refers to any more are removed after every step."""
    held: dict[str, KeptTable] = {}
    lengths, longest = [], 0
    for number, tables in enumerate(_steps(80)):
        held = write_tables(tmp_path, f"{number}.part", held, tables)
        drop_files(tmp_path, frozenset(_files(held)))
        found = read_tables(tmp_path, {n: t.pieces for n, t in held.items()})
        assert {n: t.table for n, t in found.items()} == tables
        held = found if number % 2 else held
        lengths.append(len(held["large"].pieces))
        longest = max(longest, lengths[-1])
    assert 3 <= longest < 40  # changes, until it is written whole
    assert lengths.count(1) > 1
    assert len(list(tmp_path.iterdir())) == len(_files(held))


def test_nothing_new_is_no_file(tmp_path: Path) -> None:
    (tables,) = _steps(1)
    held = write_tables(tmp_path, "0.part", {}, tables)
    again = write_tables(tmp_path, "1.part", held, dict(tables))
    assert {n: t.pieces for n, t in again.items()} == {n: t.pieces for n, t in held.items()}
    assert [f.name for f in tmp_path.iterdir()] == ["0.part"]


def test_what_is_damaged_or_gone_is_refused(tmp_path: Path) -> None:
    (tables,) = _steps(1)
    held = write_tables(tmp_path, "0.part", {}, tables)
    pieces = {n: t.pieces for n, t in held.items()}
    content = (tmp_path / "0.part").read_bytes()
    for wrong in (content[:-1] + b"?", content[:-9]):
        (tmp_path / "0.part").write_bytes(wrong)
        with pytest.raises(UsageError, match="it is not what was written"):
            read_tables(tmp_path, pieces)
    (tmp_path / "0.part").unlink()
    with pytest.raises(UsageError, match="it cannot be read"):
        read_tables(tmp_path, pieces)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("a file")
    with pytest.raises(RunError, match="the state of a part cannot be written"):
        write_tables(tmp_path / "parts", "0.part", {}, _steps(1)[0])


@pytest.mark.parametrize("links", [True, False])
def test_a_copy_of_what_is_the_same_is_not_written_again(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets another name, where the file system has such; what has changed is written."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    if not links:
        monkeypatch.setattr(os, "link", _refuse)
    first, second = _steps(2)
    held = write_tables(tmp_path, "0.part", {}, first)
    keep_copy("p", "v0", held, ("", {}))
    place = tmp_path / "ontoweir-parts" / "p"
    number = (place / "v0" / "large").stat().st_ino
    mapped = _find("v0", held)
    same = write_tables(tmp_path, "1.part", held, dict(first))
    keep_copy("p", "v1", same, ("v0", held))
    assert [f.name for f in place.iterdir()] == ["v1"]
    assert ((place / "v1" / "large").stat().st_ino == number) is links
    other = write_tables(tmp_path, "2.part", same, second)
    keep_copy("p", "v2", other, ("v1", same))
    assert (place / "v2" / "large").stat().st_ino != number
    assert _find("v2", other) == second["large"]
    assert mapped == first["large"]  # who has mapped it still has it


def _find(version: str, held: dict[str, KeptTable]) -> pa.Table:
    state = PartState(version, {n: t.pieces for n, t in held.items()})
    return find_copy("p", state)["large"].table


def _refuse(*names: object) -> None:
    raise OSError(f"no links: {names}")


def test_columns_of_one_memory_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is the same memory has not changed; what merely is equal is found so by comparing."""
    compared: list[pa.Array] = []
    differ = table_changes._differ

    def count(one: pa.Array, two: pa.Array) -> pa.Array:
        compared.append(one)
        return differ(one, two)

    monkeypatch.setattr(table_changes, "_differ", count)
    values = np.arange(100)
    before = pa.table({"v": values, "t": [str(n) for n in values]})
    assert table_changes.encode_change(before.select(["v"]), pa.table({"v": values})) == b""
    assert not compared
    assert table_changes.encode_change(before, before) == b""
    assert len(compared) == 1  # texts
    other = values.copy()
    other[7] = 0
    assert table_changes.encode_change(before.select(["v"]), pa.table({"v": other}))
    shifted = pa.table({"v": pa.array(np.append(values, 0))[1:]})
    assert table_changes.encode_change(before.select(["v"]), shifted) is None
    assert len(compared) == 3
