"""Files that are read are moved away, once a commit says so: killed anywhere, each is in one place,
and the next start moves the rest."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from ontoweir.errors import UsageError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.archive.move_files import ArchiveKeeper
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.live.intake.model import find_floors
from ontoweir.runtime.located.hold_archive import read_archives
from tests.runtime.kill_at import kill_at

NAMES = ("a.csv", "day=1/b.csv", "day=1/c.csv", "d.csv.gz", "é 1.csv")


class _Run:
    """A stream, and Spark's folder with an entry for each file."""

    def __init__(self, folder: Path, names: Sequence[str] = NAMES) -> None:
        self.folder = folder
        self.told: list[str] = []
        (folder / "in").mkdir(parents=True)
        self.spark = SparkFolder(folder / "check" / "spark")
        (self.spark.sources / "0").mkdir(parents=True)
        for number, name in enumerate(names):
            file = folder / "in" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(name)
            self.log(number, file)
        data = DataSource("csv", str(folder / "in"), archive=str(folder / "old"))
        self.stream = Stream("s", data, "ts", 1, None, (), (), ())
        self.sources = LiveSources(frozenset("s"), {"s": 0}, {}, [["s"]])

    def log(self, number: int, file: Path) -> None:
        """An entry of Spark's log."""
        entry = {"path": file.as_uri(), "timestamp": 1, "batchId": number}
        (self.spark.sources / "0" / str(number)).write_text(f"v1\n{json.dumps(entry)}")

    def keep(self) -> ArchiveKeeper:
        """Hold the archive."""
        keeper = ArchiveKeeper(self.folder / "check", self.told.append)
        keeper.hold([self.stream], CommitRecord("run"), 7)
        return keeper

    def move(self, keeper: ArchiveKeeper, reached: int) -> None:
        """Move what is read up to an entry."""
        keeper.move(self.spark, self.sources, {"s": reached}, 7)

    def there(self, place: str) -> list[str]:
        """The files in a place."""
        found = [f for f in (self.folder / place).rglob("*") if f.is_file() or f.is_symlink()]
        names = [str(f.relative_to(self.folder / place)) for f in found]
        return sorted(name for name in names if not name.startswith(".ontoweir"))


def test_what_is_committed_is_moved(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    keeper = run.keep()
    run.move(keeper, -1)
    assert run.there("old") == []
    run.move(keeper, 1)
    assert run.there("old") == ["a.csv", "day=1/b.csv"]
    run.move(keeper, 1)
    run.move(keeper, 4)
    assert run.there("in") == []
    assert run.there("old") == sorted(NAMES)
    for name in NAMES:
        assert (tmp_path / "old" / name).read_text() == name
    assert (tmp_path / "old" / ".ontoweir" / "commit-7").exists()
    keeper.settle()
    keeper.release()


def test_killed_anywhere_a_file_is_in_one_place(tmp_path: Path) -> None:
    for count in range(1, 200):
        run = _Run(tmp_path / str(count))
        child = os.fork()
        if child == 0:
            kill_at("at-the-disk", count)
            run.move(run.keep(), 3)
            os._exit(0)
        killed = os.waitpid(child, 0)[1] != 0
        here, there = run.there("in"), run.there("old")
        assert sorted(here + there) == sorted(NAMES), count
        assert NAMES[4] in here
        keeper = run.keep()
        run.move(keeper, 3)
        assert run.there("in") == [NAMES[4]]
        assert run.there("old") == sorted(NAMES[:4])
        keeper.release()
        if not killed:
            assert count > 20
            return
    raise AssertionError("it was killed each time")


def test_what_stays(tmp_path: Path) -> None:
    """Files that cannot be read, links, unfinished ones, and those of another folder."""
    run = _Run(tmp_path)
    others = ("link.csv", "x.csv.tmp", "bad.csv")
    (tmp_path / "far.csv").write_text("f")
    os.symlink("../far.csv", tmp_path / "in" / "link.csv")
    for name in others[1:]:
        (tmp_path / "in" / name).write_text(name)
    for number, name in enumerate(others):
        run.log(len(NAMES) + number, tmp_path / "in" / name)
    run.log(8, tmp_path / "far.csv")
    (tmp_path / "in" / NAMES[0]).unlink()  # somebody else has moved it away
    keeper = run.keep()
    keeper.spared.add(str(tmp_path / "in" / "bad.csv"))
    run.move(keeper, 8)
    assert run.there("in") == sorted(others)
    assert run.there("old") == sorted(NAMES[1:])
    assert (tmp_path / "far.csv").exists()
    keeper.release()


def test_names_that_the_archive_has(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    (tmp_path / "old" / "day=1").mkdir(parents=True)
    (tmp_path / "old" / "a.csv").write_text("a.csv")  # the same
    (tmp_path / "old" / "day=1" / "b.csv").write_text("another")
    keeper = run.keep()
    run.move(keeper, 4)
    assert run.there("in") == ["day=1/b.csv"]
    assert (tmp_path / "old" / "day=1" / "b.csv").read_text() == "another"
    (told,) = run.told
    assert "b.csv is in the folder and in the archive, with other content" in told
    keeper.begin()
    run.move(keeper, 4)
    assert run.told == [told]
    keeper.release()


def test_who_reads_has_it_wait(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    keeper = run.keep()
    with read_archives([run.stream.data]):
        run.move(keeper, 2)
        assert run.there("old") == []
    run.move(keeper, 2)
    assert len(run.there("old")) == 3
    keeper.release()


def test_a_stream_without_an_archive(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    data = DataSource("csv", str(tmp_path / "in"))
    run.stream = Stream("s", data, "ts", 1, None, (), (), ())
    run.move(run.keep(), 4)
    assert run.there("in") == sorted(NAMES)
    assert not (tmp_path / "old").exists()


class _Lane:
    def __init__(self, entries: dict[str, int], streams: str, *, begun: bool = True) -> None:
        self.at, self.streams, self.begun = self, frozenset(streams), begun
        self.entries = entries


@pytest.mark.parametrize(
    ("lanes", "floors"),
    [
        ([], {}),
        ([({"s": 5}, "s")], {"s": 5}),
        ([({"s": 5, "t": 2}, "st"), ({"s": 3}, "s")], {"s": 3, "t": 2}),  # one lags
        ([({"s": 5}, "s"), ({}, "s")], {"s": -1}),  # in the midst of its first files
        ([({"s": 5, "u": 9}, "s"), ({"u": 4}, "u")], {"s": 5, "u": 4}),
    ],
)
def test_files_wait_for_all_who_have_begun(
    lanes: list[tuple[dict[str, int], str]], floors: dict[str, int]
) -> None:
    made = [_Lane(*lane) for lane in lanes]
    assert find_floors(made) == floors  # type: ignore[arg-type]
    assert find_floors([*made, _Lane({}, "st", begun=False)]) == floors  # type: ignore[list-item]


def test_an_archive_that_is_taken_away_ends_the_run(tmp_path: Path) -> None:
    """Before a file is moved."""
    run = _Run(tmp_path)
    keeper = run.keep()
    run.move(keeper, 0)
    (tmp_path / "old" / ".ontoweir" / "owner.json").write_text('{"run": "other"}')
    with pytest.raises(UsageError, match=r"was removed, or replaced, while a run used"):
        run.move(keeper, 2)
    assert run.there("old") == ["a.csv"]
