"""Answers in an object store: the whole object or none, and one that was there is intact."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from ontoweir.errors import RunError, UsageError
from ontoweir.files import put_object
from ontoweir.files.put_object import putting_object
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import open_sink
from tests.ontoweir.conftest import Run
from tests.ontoweir.files.small_store import SmallStore, serve_store

QUERY = "hot-readings"


@pytest.fixture(scope="module")
def server() -> Iterator[SmallStore]:
    with serve_store() as store:
        yield store


@pytest.fixture
def store(server: SmallStore) -> SmallStore:
    server.objects, server.parts, server.fails = {}, {}, False
    return server


def test_a_replay_into_a_store(run: Run, store: SmallStore, tmp_path: Path) -> None:
    assert run("init", tmp_path / "p", "-q").code == 0
    asked = ("replay", tmp_path / "p", "--query", QUERY, "-q", "--output")
    for key in ("a/b c.parquet", "a.csv"):
        ran = run(*asked, store.address(key.replace(" ", "%20")))
        assert ran.code == 0, ran.err
        assert run(*asked, tmp_path / Path(key).name).code == 0
    assert sorted(store.objects) == ["lake/a.csv", "lake/a/b c.parquet"]
    found = pq.read_table(pa.BufferReader(store.objects["lake/a/b c.parquet"]))
    assert found.num_rows
    assert found.equals(pq.read_table(tmp_path / "b c.parquet"))
    assert store.objects["lake/a.csv"] == (tmp_path / "a.csv").read_bytes()


def test_a_large_object_comes_in_parts(store: SmallStore) -> None:
    content = bytes(range(256)) * (48 << 12)
    with putting_object(store.address("large.parquet")) as place:
        Path(place).write_bytes(content)
        assert store.objects == {}
    assert store.objects["lake/large.parquet"] == content
    assert not Path(place).exists()


def test_what_fails_leaves_what_was_there(store: SmallStore) -> None:
    store.objects["lake/a.csv"] = b"before"

    def put(content: bytes, *, fails: bool) -> None:
        with putting_object(store.address("a.csv")) as place:
            Path(place).write_bytes(content)
            if fails:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(b"half", fails=True)
    assert store.objects == {"lake/a.csv": b"before"}
    store.fails = True
    with pytest.raises(RunError, match="cannot be written") as failed:
        put(b"after", fails=False)
    assert "hush" not in str(failed.value)
    assert store.objects == {"lake/a.csv": b"before"}
    store.fails = False
    put(b"after", fails=False)
    assert store.objects == {"lake/a.csv": b"after"}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("lake/", "names a folder"),
        ("lake", "names a folder"),
        ("other/a.csv", "there is no such bucket"),
    ],
)
def test_what_is_no_object_is_refused(run: Run, store: SmallStore, address: str, said: str) -> None:
    bucket, _, key = address.partition("/")
    ran = run("replay", "nowhere", "--query", "q", "--output", store.address(key, bucket))
    assert (ran.code, said in ran.err, "hush" in ran.err) == (2, True, False), ran.err


def test_no_store_of_this_kind(run: Run) -> None:
    ran = run("replay", "nowhere", "--query", "q", "--output", "s3://b/a.csv?wrong=1")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err


@pytest.mark.parametrize("fails", [False, True])
def test_where_an_object_grows_it_gets_its_name_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """As in Azure's, where another write in its place would end what was there."""
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "a.csv").write_text("before")
    local: Any = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    monkeypatch.setattr(put_object, "find_store", lambda _: (local, "box/a.csv"))
    copy = shutil.copyfileobj

    def watch(source: Any, target: Any, size: int) -> None:
        copy(source, target, size)
        assert (tmp_path / "box" / "a.csv").read_text() == "before"
        if fails:
            raise OSError("it breaks off")

    monkeypatch.setattr(shutil, "copyfileobj", watch)

    def put() -> None:
        with putting_object("abfs://box@account.dfs.core.windows.net/a.csv") as place:
            Path(place).write_text("after")

    if fails:
        with pytest.raises(RunError, match="it breaks off"):
            put()
    else:
        put()
    assert [p.name for p in (tmp_path / "box").iterdir()] == ["a.csv"]
    assert (tmp_path / "box" / "a.csv").read_text() == ("before" if fails else "after")


def test_a_file_of_this_machine_stays_one() -> None:
    for text in ("a.csv", "-", "s3/a.csv", "/dev/fd/3"):
        with putting_object(text) as place:
            assert place == text


@pytest.mark.parametrize("absolute", [False, True])
def test_live_runs_name_the_sink_that_can(tmp_path: Path, absolute: bool) -> None:
    place = Path("s3://lake/answers")
    place = place.absolute() if absolute else place
    with pytest.raises(UsageError, match="names an object store") as refused:
        open_sink(RunOptions(None, place))
    assert "--sink delta" in str(refused.value)
    with pytest.raises(UsageError, match="--checkpoint names an object store"):
        open_sink(RunOptions(place, tmp_path))
    open_sink(RunOptions(tmp_path, tmp_path))


def test_other_commands_say_who_can(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path / "p", "-q").code == 0
    ran = run("report", tmp_path / "p", "--output", "s3://lake/a.html")
    assert (ran.code, "copy it there" in ran.err) == (2, True), ran.err
