"""Folder and archive are one history: the same files in the same order, wherever each is."""

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from ontoweir.errors import DataError, UsageError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.located.data_files import is_data
from ontoweir.runtime.located.hold_archive import HeldArchive, Owner, hold_archive, read_archives
from ontoweir.runtime.located.locate_source import locate_source

NAMES = ("b.parquet", "a.parquet", "day=1/c.parquet", "day=2/a.parquet", "e/f/g.parquet")
TEXTS = ("x1.csv", "x2.csv.gz", "y.csv", "d1/z.csv", "d1/a.csv", "d2/b.csv", "d2/e/c.csv")
PATTERNS = ("", "/*.csv*", "/d*", "/x*", "/**/*.csv")


def _locate(folder: Path, form: str, pattern: str = "", archive: str | None = "old") -> list[str]:
    """The files of a source, as they are called in its folder."""
    place = None if archive is None else str(folder / archive)
    data = DataSource(form, f"{folder}/in{pattern}", archive=place)
    files = locate_source(data, "s", "x.toml").files
    assert files is not None
    assert all(os.path.isfile(f) for f in files)
    return [f.replace(f"{folder}/old", f"{folder}/in") for f in files]


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _move(folder: Path, name: str) -> None:
    target = folder / "old" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    os.rename(folder / "in" / name, target)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_order_is_that_of_one_folder(form: str, pattern: str, tmp_path: Path) -> None:
    names = NAMES if form == "parquet" else TEXTS
    pattern = pattern.replace("csv", "parquet" if form == "parquet" else "csv")
    pattern = {"/d*": "/day*", "/x*": "/[ab]*"}.get(pattern, pattern) if names is NAMES else pattern
    for seed in range(12):
        folder = tmp_path / str(seed)
        for name in names:
            _write(folder / "in" / name, name)
        _write(folder / "in" / "e" / "note.txt.tmp", "")
        _write(folder / "in" / "_SUCCESS", "")
        wanted = _locate(folder, form, pattern, None)
        assert wanted
        random = Random(seed)
        for name in names:
            if seed == 11 or random.random() < 0.5:
                _move(folder, name)
        (folder / "old" / ".ontoweir").mkdir(parents=True, exist_ok=True)
        _write(folder / "old" / ".ontoweir" / "commit-7", "")
        assert _locate(folder, form, pattern) == wanted, seed
        if seed == 11 and not pattern:  # the twin: without the archive they are not there
            assert not _locate(folder, form, pattern, None)


def test_what_is_no_data_beside_moved_files_is_none(tmp_path: Path) -> None:
    """Names beside files of Parquet are data only where none ends as Parquet's do."""
    _write(tmp_path / "in" / "a.parquet", "a")
    _write(tmp_path / "in" / "note.txt", "n")
    _move(tmp_path, "a.parquet")
    assert _locate(tmp_path, "parquet") == [str(tmp_path / "in" / "a.parquet")]
    source = DataSource("parquet", str(tmp_path / "in"), archive=str(tmp_path / "old"))
    assert not is_data(source, str(tmp_path / "in" / "note.txt"))
    alone = DataSource("parquet", str(tmp_path / "in"))
    assert is_data(alone, str(tmp_path / "in" / "note.txt"))
    assert _locate(tmp_path, "parquet", archive=None) == [str(tmp_path / "in" / "note.txt")]


def test_a_file_in_both_places(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "a.csv", "1")
    (tmp_path / "old").mkdir()
    shutil.copy(tmp_path / "in" / "a.csv", tmp_path / "old" / "a.csv")
    assert _locate(tmp_path, "csv") == [str(tmp_path / "in" / "a.csv")]
    _write(tmp_path / "in" / "a.csv", "2")
    with pytest.raises(DataError, match=r"a\.csv is in the folder and in the archive, with other"):
        _locate(tmp_path, "csv")


def _stream(folder: Path, archive: str = "old") -> Stream:
    (folder / "in").mkdir(exist_ok=True)
    data = DataSource("csv", str(folder / "in"), archive=str(folder / archive))
    return Stream("s", data, "ts", 1, None, (), (), ())


def _hold(folder: Path, run: str, commit: int, checkpoint: str = "check") -> HeldArchive:
    place = folder / checkpoint
    if commit >= 0:
        (place / "commits" / f"{commit:012d}").mkdir(parents=True, exist_ok=True)
    return hold_archive(_stream(folder), Owner(run, str(place), commit))


def test_one_run_moves_files(tmp_path: Path) -> None:
    held = _hold(tmp_path, "one", -1)
    with pytest.raises(UsageError, match="another run moves the files of s"):
        _hold(tmp_path, "two", -1, "other")
    held.release()
    held.release()
    _hold(tmp_path, "one", 3).release()


def test_an_archive_of_another_run_is_refused(tmp_path: Path) -> None:
    _hold(tmp_path, "one", 3).release()
    for commit in (-1, 5):
        with pytest.raises(UsageError, match="is the archive of another run, of the checkpoint"):
            _hold(tmp_path, "two", commit, "other")
    shutil.rmtree(tmp_path / "check")  # that does not go on
    with pytest.raises(UsageError, match="that this one may not have read"):
        _hold(tmp_path, "two", 5, "other")
    _hold(tmp_path, "two", -1, "other").release()
    with pytest.raises(UsageError, match=r"may not have read.* or remove .*\.ontoweir if this run"):
        _hold(tmp_path, "one", 4)
    # one that begins anew in the place of the other
    _hold(tmp_path, "three", -1, "other").release()


def test_a_checkpoint_restored_from_a_copy_is_refused(tmp_path: Path) -> None:
    held = _hold(tmp_path, "one", 3)
    for commit in (4, 5, 5, 9):
        held.note(commit)
    held.release()
    assert [f.name for f in (tmp_path / "old" / ".ontoweir").glob("commit-*")] == ["commit-9"]
    with pytest.raises(UsageError, match=r"has files of s that its run has not read.*of commit 8"):
        _hold(tmp_path, "one", 8)
    held = _hold(tmp_path, "one", 9)
    held.note(10)
    held.release()
    shutil.rmtree(tmp_path / "check")
    _hold(tmp_path, "two", -1).release()  # begins anew, and reads the archive
    assert not list((tmp_path / "old" / ".ontoweir").glob("commit-*"))


def test_places_that_cannot_be_archives(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if shared.is_dir() and shared.stat().st_dev != tmp_path.stat().st_dev:
        place = shared / f"ontoweir-test-{os.getpid()}"
        try:
            with pytest.raises(UsageError, match="is on another file system than"):
                hold_archive(_stream(tmp_path, str(place)), Owner("one", "check", -1))
        finally:
            shutil.rmtree(place, ignore_errors=True)
    (tmp_path / "one.csv").write_text("a\n1\n")
    data = DataSource("csv", str(tmp_path / "one.csv"), archive=str(tmp_path / "old"))
    with pytest.raises(UsageError, match="s is one file, and has an archive"):
        hold_archive(Stream("s", data, "ts", 1, None, (), (), ()), Owner("one", "check", -1))


def test_nothing_is_moved_while_an_archive_is_read(tmp_path: Path) -> None:
    held = _hold(tmp_path, "one", -1)
    data = _stream(tmp_path).data
    with held.unread() as free:
        assert free
    with read_archives([data, data]), held.unread() as free:
        assert not free
    with held.unread() as free:
        assert free
    held.release()
    shutil.rmtree(tmp_path / "old")
    with read_archives([data]):  # there is none yet
        pass
