"""Parts are merged by a commit, and shown after it: a reader sees every row once, always."""

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.live.checkpoint.commit_record import PartsMark
from ontoweir.runtime.live.output import list_parts, merge_parts
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.drop_parts import let_go, remove_files
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.merge_parts import require_exchange
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter, drop_future
from tests.runtime.kill_at import kill_at

DAY = 86_400_000_000_000
PARQUET = PartFolder("answers", "q", "parquet")
LINES = PartFolder("answers", "lines", "jsonl")
FOLDERS = (PARQUET, LINES)


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_parts, "PATIENCE", 0.0)


def _open(
    tmp_path: Path,
    mark: PartsMark | None = None,
    compact: int | None = 3,
    keep_ns: int | None = None,
) -> PartWriter:
    parts = open_parts(tmp_path, mark or PartsMark(), keep_ns, compact)
    return PartWriter("me", parts, {"answers": tmp_path / "out"})


def _start(tmp_path: Path, mark: PartsMark, last: int, **options: Any) -> PartWriter:
    """A run that goes on: it takes the output back to its last commit."""
    writer = _open(tmp_path, mark, **options)
    drop_future(writer, FOLDERS, last)
    check_parts(writer, FOLDERS, last, lambda part: None, may_be_gone=False)
    return writer


def _rows(batch: int) -> pa.Table:
    return pa.table({"n": pa.array([batch, batch + 1000]), "t": ["a", str(batch)]})


def _step(writer: PartWriter, batch: int, folders: Any = FOLDERS) -> PartsMark:
    """What a micro-batch does with parts: the mark is what its commit says."""
    gone = let_go(writer)
    mark = writer.parts.mark()
    remove_files(gone, writer)
    writer.put_all([(folder, _rows(batch)) for folder in folders], batch)
    return mark


def _read(tmp_path: Path, folder: PartFolder = PARQUET) -> list[int]:
    found: list[int] = []
    for file in sorted((tmp_path / "out" / folder.name).glob(f"part-*.{folder.format}")):
        if folder.format == "parquet":
            found += pq.read_table(file)["n"].to_pylist()
        else:
            found += [json.loads(line)["n"] for line in file.read_text().splitlines()]
    return found


def _names(tmp_path: Path, folder: str = "q") -> list[str]:
    return sorted(f.name for f in (tmp_path / "out" / folder).glob("part-*"))


def _all(count: int) -> list[int]:
    return [n for batch in range(count) for n in (batch, batch + 1000)]


def test_many_files_become_few(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    most = 0
    for batch in range(200):
        _step(writer, batch)
        for folder in FOLDERS:
            assert _read(tmp_path, folder) == _all(batch + 1)
            most = max(most, len(_names(tmp_path, folder.name)))
    # of each of five levels at most two, and two that wait
    assert most <= 12
    assert (tmp_path / "out" / "q" / ".ontoweir-run").read_text() == "me"
    assert list((tmp_path / "merging").iterdir()) == []
    merged = tmp_path / "out" / "q" / _names(tmp_path)[0]
    marks = pq.read_schema(merged).metadata
    assert (marks[b"ontoweir.run"], marks[b"ontoweir.batch"]) == (b"me", b"0-80")
    # twin: nothing is merged that nobody asked to
    plain = _open(tmp_path / "plain", compact=None)
    (tmp_path / "plain").mkdir()
    for batch in range(20):
        _step(plain, batch)
    assert len(_names(tmp_path / "plain")) == 20


def test_the_last_part_is_never_merged(tmp_path: Path) -> None:
    """It is published again at the next start, if it is of the last commit that had answers."""
    writer = _open(tmp_path)
    for batch in range(3):
        _step(writer, batch)
    for batch in range(3, 6):
        _step(writer, batch, (LINES,))
    assert len(_names(tmp_path)) == 3
    assert len(_names(tmp_path, "lines")) == 4
    for batch in range(6, 8):
        _step(writer, batch)
    assert _names(tmp_path)[0] == "part-000000000000-000000000002.parquet"


def test_what_is_merged_is_not_published_again(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    for batch in range(6):
        mark = _step(writer, batch)
    before = _names(tmp_path)
    writer = _start(tmp_path, mark, 5, compact=None)
    writer.put("answers", "q", 1, _rows(1), "parquet")
    assert _names(tmp_path) == before


def test_killed_at_every_call(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """kill -9 before and behind each call at the disk; the run goes on from its last commit."""
    for seed in range(12 if pytestconfig.getoption("--long") else 1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        random, kills, reached = Random(seed), 0, 0
        (folder / "commits").mkdir()
        while reached < 40:
            child = os.fork()
            if child == 0:
                ended = 1
                try:
                    kill_at("at-the-disk", random.randint(1, 160))
                    _go_on(folder)
                    ended = 0
                finally:
                    os._exit(ended)
            random.random()
            died = os.waitpid(child, 0)[1]
            assert died in (0, int(signal.SIGKILL)), died
            kills += died != 0
            reached = 1 + max((int(f.name) for f in (folder / "commits").iterdir()), default=-1)
            # whoever reads meanwhile finds every row that was published, once
            found = _read(folder)
            assert found == _all(len(found) // 2)
            assert len(found) // 2 in (reached - 1, reached)
        assert kills > 3
        _go_on(folder)
        for place in FOLDERS:
            assert _read(folder, place) == _all(40)
            assert len(_names(folder, place.name)) < 12
        assert list((folder / "merging").iterdir()) == []


def test_whoever_reads_meanwhile_finds_every_row_once(tmp_path: Path) -> None:
    """A process that lists and reads the folder while its parts are merged, again and again: a file
    that it has listed may be gone when it opens it, which it is told."""
    (tmp_path / "out" / "q").mkdir(parents=True)
    child = os.fork()
    if child == 0:
        status, known = 1, 0
        try:
            while known < 120:
                try:
                    found = _read(tmp_path)
                except FileNotFoundError:
                    continue
                assert found == _all(len(found) // 2)
                assert len(found) // 2 >= known
                known = len(found) // 2
            status = 0
        finally:
            os._exit(status)
    try:
        writer = _open(tmp_path)
        for batch in range(120):
            _step(writer, batch, (PARQUET,))
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        ended = os.waitpid(child, 0)[1]
    assert ended == 0


def test_files_stay_for_whoever_is_listing_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = _open(tmp_path)
    monkeypatch.setattr(merge_parts, "PATIENCE", 1e9)
    for batch in range(9):
        _step(writer, batch, (PARQUET,))
    (before,) = (tmp_path / "merging").iterdir()
    assert len(list(before.glob("part-*"))) == 4
    assert len(_names(tmp_path)) == 7  # it is not merged again meanwhile
    monkeypatch.setattr(merge_parts, "PATIENCE", 0.0)
    mark = _step(writer, 9, (PARQUET,))
    assert not before.exists()
    _step(writer, 10, (PARQUET,))
    assert len(_names(tmp_path)) < 6
    assert _read(tmp_path) == _all(11)
    assert mark.number == 0


def _go_on(folder: Path) -> None:
    """A run of at most 40 micro-batches: commits are files with their marks."""
    commits = folder / "commits"
    last = max((int(f.name) for f in commits.iterdir()), default=-1)
    mark = PartsMark(*json.loads((commits / str(last)).read_text())) if last >= 0 else None
    writer = _open(folder, mark)
    if last >= 0:
        drop_future(writer, FOLDERS, last)
        names = [f"part-{last:012d}.{f.format}" for f in FOLDERS]
        check_parts(writer, FOLDERS, last, lambda part: None, may_be_gone=False, again=names)
        writer.put_all([(place, _rows(last)) for place in FOLDERS], last)
    for batch in range(last + 1, 40):
        gone = let_go(writer)
        (folder / "new").write_text(json.dumps(writer.parts.mark()))
        os.rename(folder / "new", commits / str(batch))
        remove_files(gone, writer)
        writer.put_all([(place, _rows(batch)) for place in FOLDERS], batch)


def test_a_commit_shows_what_it_merged(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    for batch in range(3):
        _step(writer, batch)
    writer.put_all([(folder, _rows(3)) for folder in FOLDERS], 3)
    before = writer.parts.mark()
    let_go(writer)
    assert len(_names(tmp_path)) == 4
    # the commit was not reached: nothing has been merged
    _start(tmp_path, before, 4, compact=None)
    assert len(_names(tmp_path)) == 4
    assert list((tmp_path / "merging").iterdir()) == []
    # it was
    writer = _open(tmp_path, before)
    let_go(writer)
    _start(tmp_path, writer.parts.mark(), 4, compact=None)
    assert _names(tmp_path)[0] == "part-000000000000-000000000002.parquet"
    assert len(_names(tmp_path)) == 2
    assert _read(tmp_path) == _all(4)
    # a checkpoint that is an older copy would give those answers again
    with pytest.raises(UsageError, match="a copy from before its files were merged"):
        _start(tmp_path, before, 4)


def test_what_others_have_in_the_folder_stays(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    _step(writer, 0)
    folder = tmp_path / "out" / "q"
    (folder / "notes.txt").write_text("mine")
    (folder / "more").mkdir()
    (folder / "more" / "file").write_text("also mine")
    folder.chmod(0o750)
    for batch in range(1, 9):
        _step(writer, batch)
    assert len(_names(tmp_path)) < 9
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "more" / "file").read_text() == "also mine"
    assert folder.stat().st_mode & 0o777 == 0o750


def test_a_part_that_was_changed_is_not_merged(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    for batch in range(3):
        _step(writer, batch)
    file = tmp_path / "out" / "q" / "part-000000000001.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    _step(writer, 3)
    with pytest.raises(RunError, match="is gone, or is not what was published"):
        _step(writer, 4)


def test_a_merged_part_that_is_gone_or_changed_is_found(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    for batch in range(6):
        mark = _step(writer, batch)
    merged = tmp_path / "out" / "q" / "part-000000000000-000000000002.parquet"
    content = merged.read_bytes()
    _start(tmp_path, mark, 5)
    merged.write_bytes(content[:-1] + b"x")
    with pytest.raises(UsageError, match="is not what was published"):
        _start(tmp_path, mark, 5)
    merged.unlink()
    with pytest.raises(UsageError, match="is gone"):
        _start(tmp_path, mark, 5)


def test_large_parts_are_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = _open(tmp_path)
    writer.put("answers", "q", 0, _rows(0), "parquet")
    size = (tmp_path / "out" / "q" / "part-000000000000.parquet").stat().st_size
    monkeypatch.setattr(merge_parts, "LARGE", 2 * size + size // 2)
    for batch in range(1, 60):
        _step(writer, batch)
    sizes = [f.stat().st_size for f in (tmp_path / "out" / "q").glob("part-*")]
    assert max(sizes) <= 3 * size
    assert _read(tmp_path) == _all(60)
    monkeypatch.setattr(merge_parts, "LARGE", 1)
    before = len(_names(tmp_path))
    for batch in range(60, 70):
        _step(writer, batch)
    assert len(_names(tmp_path)) == before + 10
    assert _read(tmp_path) == _all(70)


def test_columns_that_have_come_are_kept(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    _step(writer, 0, (PARQUET,))
    for batch in range(1, 6):
        rows = _rows(batch).append_column("more", pa.array([batch, None], pa.int8()))
        remove_files(let_go(writer), writer)
        writer.put("answers", "q", batch, rows, "parquet")
    merged = pq.read_table(tmp_path / "out" / "q" / "part-000000000000-000000000002.parquet")
    assert merged["more"].to_pylist() == [None, None, 1, None, 2, None]
    assert merged["n"].to_pylist() == _all(3)


def test_what_is_merged_goes_when_its_newest_rows_are_old(tmp_path: Path) -> None:
    writer = _open(tmp_path, keep_ns=DAY)
    for batch in range(7):
        _step(writer, batch, (PARQUET,))
    assert len(_names(tmp_path)) < 7
    mark = writer.parts.mark()
    writer = _start(tmp_path, mark, 6, keep_ns=0)
    for batch in range(7, 9):
        _step(writer, batch, (PARQUET,))
    assert _read(tmp_path) == [8, 1008]
    _start(tmp_path, writer.parts.mark(), 9)


@pytest.mark.parametrize("old", [1, 3])
def test_a_merged_part_is_as_old_as_its_newest_rows(tmp_path: Path, old: int) -> None:
    """Rows that must be kept stay, beside some that need not; and no row stays for longer as its
    file is new."""
    writer = _open(tmp_path, keep_ns=DAY)
    for batch in range(4):
        _step(writer, batch, (PARQUET,))
    tail = writer.parts.tails["answers", "q"]
    for place in range(old):
        tail[place] = replace(tail[place], changed=tail[place].changed - 3 * DAY)
    mark = _step(writer, 4, (PARQUET,))
    assert _read(tmp_path) == _all(5)
    listed = _start(tmp_path, mark, 4, keep_ns=DAY).parts.parts
    (merged,) = (part for part in listed if part.first == 0)
    assert merged.batch == 2
    assert writer.parts.is_old(merged, time.time_ns()) == (old == 3)


def test_the_list_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_parts, "_LONG", 2000)
    writer = _open(tmp_path)
    longest = 0
    for batch in range(150):
        mark = _step(writer, batch, (PARQUET,))
        longest = max(longest, writer.parts.length)
        if batch % 40 == 39:
            writer = _start(tmp_path, mark, batch)
            writer.put("answers", "q", batch, _rows(batch), "parquet")
    assert writer.parts.number > 3
    assert longest < 9000
    assert _read(tmp_path) == _all(150)


def test_a_folder_that_cannot_be_exchanged_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = _open(tmp_path)
    for place in (tmp_path / "merging", tmp_path / "out"):
        (place / ".exchange").mkdir(parents=True)
        (place / ".exchange" / "file").touch()  # of a start that was killed
    require_exchange(writer, writer.places)
    assert list((tmp_path / "out").iterdir()) == []

    def fail(one: Path, other: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(merge_parts, "exchange_folders", fail)
    with pytest.raises(UsageError, match="cannot be merged: Invalid cross-device link"):
        require_exchange(writer, writer.places)
    require_exchange(_open(tmp_path, compact=None), writer.places)


def test_a_linked_folder_is_not_exchanged(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "q").symlink_to(tmp_path / "elsewhere")
    for batch in range(4):
        _step(writer, batch, (PARQUET,))
    with pytest.raises(RunError, match="is a link"):
        _step(writer, 4, (PARQUET,))
    assert _read(tmp_path) == _all(4)
