"""Folders that Spark lists again and again: what is found is what is there, of all as at one
moment."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyspark
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from ontoweir.runtime.spark.find_java import find_java
from ontoweir.runtime.spark.start_session import LOCAL_FILES
from tests.waiting import wait_until

pytestmark = pytest.mark.spark

_DAY_MS = 86_400_000
Listed = dict[str, tuple[int, int, bool]]
"""By name: bytes, when it was modified (ms), and whether it is a folder."""


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Java without Spark."""
    jars = Path(pyspark.__file__).parent / "jars"
    (py4j,) = jars.glob("py4j-*.jar")
    found = find_java()
    with (tmp_path_factory.mktemp("java") / "said").open("w") as said:
        port, process = launch_gateway(
            jarpath=str(py4j),
            classpath=f"{jars}/*:{LOCAL_FILES}",
            java_path="java" if found is None else str(found[0]),
            die_on_exit=True,
            redirect_stdout=said,
            redirect_stderr=said,
            return_proc=True,
        )
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        yield gateway.jvm
        gateway.shutdown()
        process.stdin.close()
        process.stdout.close()
        process.wait()


class _Files:
    """The file system, whose checkpoint is `folder/state`; `ahead`: so long, in ms, the listings of
    a round are used."""

    def __init__(self, java: Any, folder: Path, ahead: int | None = None) -> None:
        self.java, self.made = java, java.ontoweir.LocalFiles()
        settings = java.org.apache.hadoop.conf.Configuration()
        settings.set("ontoweir.checkpoint", str(folder / "state"))
        if ahead is not None:
            settings.setLong("ontoweir.ahead", ahead)
        self.made.initialize(java.java.net.URI("file:///"), settings)

    def list(self, folder: Path) -> Listed:
        found = {}
        for one in self.made.listStatus(self.java.org.apache.hadoop.fs.Path(str(folder))):
            path = one.getPath()
            assert path.toString().startswith("file:/")
            found[path.getName()] = (one.getLen(), one.getModificationTime(), one.isDirectory())
        return found


def look(folder: Path) -> Listed:
    """What is there."""
    found = {}
    for file in folder.iterdir():
        if file.exists():
            about = file.stat()
            found[file.name] = (about.st_size, about.st_mtime_ns // 1_000_000, file.is_dir())
    return found


def _change(random: Random, folder: Path, number: int) -> None:
    files = [file for file in folder.iterdir() if file.is_file() and not file.is_symlink()]
    match random.choice(["new", "new", "new", "gone", "other", "folder", "link", "nothing"]):
        case "new":
            name = random.choice(["part", "a b", "ü%20", "x:y", "#1", "q?"])
            scratch = folder.parent / "scratch"
            scratch.write_bytes(b"x" * number)
            scratch.rename(folder / f"{name}{number}")
        case "gone" if files:
            random.choice(files).unlink()
        case "other" if files:
            scratch = folder.parent / "scratch"
            scratch.write_bytes(b"y" * (number + 100))
            scratch.replace(random.choice(files))
        case "folder":
            (folder / f"folder{number}").mkdir()
        case "link":
            target = random.choice(files) if files else folder / "nowhere"
            (folder / f"link{number}").symlink_to(target)
        case _:
            pass


@pytest.mark.parametrize("count", [1, 2, 4])
def test_what_is_listed_is_there(java: Any, tmp_path: Path, count: int) -> None:
    """The first listing of a round may be as at that of the round's first folder: so two."""
    files, random = _Files(java, tmp_path), Random(count)
    folders = [tmp_path / f"f{n}" for n in range(count)]
    for folder in folders:
        folder.mkdir()
    for number in range(60):
        for folder in folders:
            for more in range(random.choice([0, 0, 1, 3])):
                _change(random, folder, 10 * number + more)
        for folder in folders:
            files.list(folder)
        assert [files.list(folder) for folder in folders] == [look(folder) for folder in folders]


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}"])
def test_files_have_the_paths_that_hadoop_writes(java: Any, tmp_path: Path, form: str) -> None:
    """A file by another path is another file for Spark, and would be read twice."""
    files, path = _Files(java, tmp_path), java.org.apache.hadoop.fs.Path
    plain = java.org.apache.hadoop.fs.RawLocalFileSystem()
    plain.initialize(java.java.net.URI("file:///"), java.org.apache.hadoop.conf.Configuration())
    folder = tmp_path / "s"
    folder.mkdir()
    for name in ("a", "b c", "ü%20"):
        (folder / name).touch()

    def written(system: Any, place: str) -> set[tuple[str, str]]:
        found = [one.getPath() for one in system.listStatus(path(place))]
        return {(one.toString(), one.toUri().toString()) for one in found}

    wanted = written(plain, str(folder))
    for _ in range(3):
        assert written(files.made, form.format(folder)) == wanted


def test_folders_are_listed_as_at_one_moment(java: Any, tmp_path: Path) -> None:
    """What comes after the first of them was listed comes with the next round, of all; each listing
    of a round is used once."""
    files, (one, other) = _Files(java, tmp_path, _DAY_MS), (tmp_path / "one", tmp_path / "other")
    one.mkdir()
    other.mkdir()
    files.list(one)
    files.list(other)
    for number in range(20):
        first = files.list(one)
        (one / f"{number}").touch()
        (other / f"{number}").touch()
        second = files.list(other)
        assert len(first) == len(second) == number
        assert files.list(one) == look(one)
        assert files.list(other) == look(other)


def test_what_is_old_is_listed_again(java: Any, tmp_path: Path) -> None:
    """Twin: where listings of a round are used for no time, the second folder has what is there."""
    files, (one, other) = _Files(java, tmp_path, 0), (tmp_path / "one", tmp_path / "other")
    one.mkdir()
    other.mkdir()
    files.list(one)
    files.list(other)
    for number in range(20):
        files.list(one)
        (other / f"{number}").touch()
        assert files.list(other) == look(other)


def test_the_checkpoint_is_always_listed(java: Any, tmp_path: Path) -> None:
    """Twin: of other folders a change of a file alone shows after half a second."""
    files, held = _Files(java, tmp_path), tmp_path / "state" / "offsets"
    held.mkdir(parents=True)
    for number in range(5):
        (held / "0").write_bytes(b"x" * number)
        (held / "0").touch()
        assert files.list(held) == look(held)
    other = tmp_path / "stated"
    other.mkdir()
    (other / "0").touch()
    os.utime(other, (1000, 1000))  # no change of it is recent
    assert files.list(other) == look(other)
    (other / "0").write_bytes(b"more")
    os.utime(other, (1000, 1000))
    assert files.list(other)["0"][0] == 0
    wait_until(lambda: files.list(other) == look(other))


def test_a_folder_that_is_gone_is_said_to_be(java: Any, tmp_path: Path) -> None:
    files, (one, other) = _Files(java, tmp_path), (tmp_path / "one", tmp_path / "other")
    for folder in (one, other):
        folder.mkdir()
        files.list(folder)
    other.rmdir()
    files.list(one)
    with pytest.raises(Exception, match="FileNotFoundException"):
        files.list(other)
    other.mkdir()
    (other / "0").touch()
    files.list(one)
    assert files.list(other) == look(other)


def test_changes_that_the_system_gives_one_time(java: Any, tmp_path: Path) -> None:
    """A file that comes right after a listing may leave the folder's time as it was."""
    files, folder = _Files(java, tmp_path), tmp_path / "f"
    folder.mkdir()
    for number in range(100):
        (folder / f"{number}").touch()
        files.list(folder)
        (folder / f"{number}-more").touch()
        assert files.list(folder) == look(folder)
