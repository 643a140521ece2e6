"""Files that have been kept long enough are let go of by a commit, and removed after it."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ontoweir.errors import UsageError
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord, PartsMark, SparkLog
from ontoweir.runtime.live.checkpoint.save_state import read_record
from ontoweir.runtime.live.output import list_parts
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.drop_parts import let_go, remove_files
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter

DAY = 86_400_000_000_000
FOLDER = PartFolder("answers", "q", "parquet")


def _open(tmp_path: Path, mark: PartsMark, keep_ns: int | None = DAY) -> PartWriter:
    parts = open_parts(tmp_path, mark, keep_ns)
    return PartWriter("me", parts, {"answers": tmp_path / "out"})


def _check(writer: PartWriter, last: int) -> None:
    check_parts(writer, [FOLDER], last, lambda part: None, may_be_gone=False)


def _there(tmp_path: Path) -> list[int]:
    return sorted(int(f.stem[-12:]) for f in (tmp_path / "out" / "q").glob("part-*"))


def _age(writer: PartWriter, days: list[int]) -> None:
    """Publish parts, in as many micro-batches, as if so many days ago."""
    lines = []
    for batch, ago in enumerate(days):
        part = writer._write(FOLDER, pa.table({"n": [batch]}), batch)
        lines.append(replace(part, changed=time.time_ns() - ago * DAY - DAY // 2))
    writer.parts.add_all(lines)


def test_old_parts_go_with_a_commit(tmp_path: Path) -> None:
    writer = _open(tmp_path, PartsMark())
    assert let_go(writer) == []
    _age(writer, [3, 2, 1, 0, 0])
    before = writer.parts.mark()
    gone = let_go(writer)
    assert [f.name for f in gone] == [f"part-{n:012d}.parquet" for n in (0, 1, 2)]
    assert _there(tmp_path) == [0, 1, 2, 3, 4]
    mark = writer.parts.mark()
    assert (mark.let_go, mark.number, mark.length) == (2, 0, before.length)
    assert let_go(writer) == []
    # a crash before the commit: nothing has happened
    _check(_open(tmp_path, before, keep_ns=None), 5)
    # one after it: they are removed at the next start, whatever this one keeps
    assert _there(tmp_path) == [0, 1, 2, 3, 4]
    _check(_open(tmp_path, mark, keep_ns=None), 5)
    assert _there(tmp_path) == [3, 4]
    remove_files(gone, writer)
    # a checkpoint restored from a copy: what is gone would have gone
    _check(_open(tmp_path, before), 5)
    with pytest.raises(UsageError, match="is gone"):
        _check(_open(tmp_path, before, keep_ns=None), 5)


def test_a_part_of_another_run_does_not_go(tmp_path: Path) -> None:
    writer = _open(tmp_path, PartsMark())
    _age(writer, [3, 0])
    remove_files(let_go(writer), writer)
    other = PartWriter("other", replace(writer.parts), {"answers": tmp_path / "other"})
    other._write(FOLDER, pa.table({"n": [7]}), 0)
    name = "q/part-000000000000.parquet"
    (tmp_path / "other" / name).rename(tmp_path / "out" / name)
    with pytest.raises(UsageError, match="is of another run"):
        _check(_open(tmp_path, writer.parts.mark()), 5)
    assert _there(tmp_path) == [0, 1]


def test_a_list_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_parts, "_LONG", 100)
    writer = _open(tmp_path, PartsMark())
    _age(writer, [3, 3, 3, 3, 0])
    before = writer.parts.mark()
    gone = let_go(writer)
    mark = writer.parts.mark()
    assert (mark.number, mark.head, mark.let_go) == (1, 0, 3)
    assert gone[-1] == tmp_path / "parts.jsonl"
    assert tmp_path / "parts-1.jsonl" in writer.fresh
    # a crash before the commit
    _check(_open(tmp_path, before), 5)
    assert not (tmp_path / "parts-1.jsonl").exists()
    let_go(_open(tmp_path, before))
    # one after it
    opened = _open(tmp_path, mark)
    assert not (tmp_path / "parts.jsonl").exists()
    _check(opened, 5)
    assert _there(tmp_path) == [4]
    opened.put("answers", "q", 5, pa.table({"n": [5]}), "parquet")
    _check(_open(tmp_path, opened.parts.mark()), 6)
    assert _there(tmp_path) == [4, 5]


def test_what_commits_said_before(tmp_path: Path) -> None:
    """A commit without a place in the list is of one from which nothing has gone."""
    held = {"run": "me", "parts": [12, "ab"], "spark": {}}
    assert read_record(held) == CommitRecord("me", SparkLog(), parts=PartsMark(12, "ab"))
    assert json.loads(json.dumps(PartsMark(12, "ab"))) == [12, "ab", 0, 0, -1]
