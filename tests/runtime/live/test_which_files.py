"""Which files a stream has: a run reads those that a replay reads, whatever shape they come in."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from ontoweir.errors import DataError, RunError, UsageError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.project.refuse_inputs import refuse_folders
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.live.test_serving import register, serve

pytestmark = pytest.mark.spark

TOML = """
[streams.s]
source = {{ format = "csv", path = "{path}", options = {{ header = "true"{more} }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 9
[streams.s.columns]
k = "int"
"""


class _Listener(StreamingQueryListener):
    """Is told, and does nothing."""

    def onQueryStarted(self, event: Any) -> None:
        pass

    def onQueryProgress(self, event: Any) -> None:
        pass

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        pass


class Files:
    """A stream of files, each of two rows that are later than those before, and a query."""

    def __init__(self, place: Path, path: str, more: str = "") -> None:
        self.place, self.next = place, 0
        (place / "s").mkdir()
        (place / "ontoweir.toml").write_text(TOML.format(path=place / path, more=more))
        (place / "q.sql").write_text("SELECT s.k FROM s WHERE s.k >= 0")
        self.workspace = Workspace(load_project(place, environ={}))
        self.query = self.workspace.compile_sql(place / "q.sql")

    def put(self, *names: str) -> None:
        """Files appear."""
        for name in names:
            file, made = self.place / name, self.place / "made"
            file.parent.mkdir(parents=True, exist_ok=True)
            seconds = [self.next, self.next + 1]
            made.write_text("ts,k\n" + "".join(f"1970-01-01 00:00:{n:02},{n}\n" for n in seconds))
            self.next += 2
            os.utime(made, (1000 + self.next, 1000 + self.next))
            made.rename(file)

    def link(self, name: str, target: str) -> None:
        """A link appears."""
        (self.place / name).symlink_to(self.place / target)

    def run(self, **more: Any) -> Any:
        """Take in what is there."""
        folders = self.place / "check", self.place / "out"
        options = RunOptions(*folders, once=True, progress=False, **more)
        return run_queries(self.workspace, [self.query], options, None)

    def answers(self) -> tuple[list[int], list[int]]:
        """Of the run, and of a replay without the last timestamp; in their order."""
        output = self.place / "replayed.parquet"
        replay_query(self.workspace, self.query, ReplayOptions(output, progress=False), None)
        files = sorted((self.place / "out" / "q").glob("*.parquet"))
        live = [k for file in files for k in pq.read_table(file)["k"].to_pylist()]
        return sorted(live), sorted(pq.read_table(output)["k"].to_pylist())[:-1]


def _below(files: Files) -> None:
    files.put("s/sub/c.csv", "s/sub/deep/d.csv", "s/x.csv/e.csv", "s/day=1/f.csv")


def _hidden(files: Files) -> None:
    files.put("s/_x.csv", "s/.x.csv", "s/x.csv.tmp", "s/_d/x.csv", "s/.d/x.csv", "s/d.tmp/x.csv")
    files.put("s/_k=1.csv", "s/_k=1/x.csv", "s/_metadata", "s/lost+found/x.csv", "s/sub/_y.csv")


def _links(files: Files) -> None:
    files.put("elsewhere/c.csv", "s/sub/d.csv", "s/day=1/e.csv")
    files.link("s/linked.csv", "elsewhere/c.csv")
    files.link("s/linked", "elsewhere")
    files.link("s/day=2", "elsewhere")
    files.link("s/nothing.csv", "nowhere")
    files.link("s/sub/around", "s")
    files.link("s/day=1/around", "s")


def _linked(files: Files) -> None:
    files.put("elsewhere/c.csv")
    files.link("s/linked", "elsewhere")


def _odd(files: Files) -> None:
    files.put(*(f"s/{name}.csv" for name in ("a b", "é", "100%", "a%20b", "x:y", "q?", "[1]")))
    files.put(*(f"s/{name}.csv" for name in ("{a,b}", "h#1", "back\\slash", "new\nline", "😀")))
    files.put("s/[x]/a.csv", "s/é è/a.csv")


def _pipe(files: Files) -> None:
    os.mkfifo(files.place / "s" / "pipe.csv")


def _times(files: Files) -> None:
    """A clock that is set back, and ahead."""
    for number, when in enumerate((5, 0, -1000, 5_000_000_000)):
        files.put(f"s/c{number}.csv")
        os.utime(files.place / "s" / f"c{number}.csv", (when, when))
        files.run()


CASES: dict[str, tuple[str, str, Callable[[Files], None]]] = {
    "below": ("s", "", _below),
    "hidden": ("s", "", _hidden),
    "links": ("s", "", _links),
    "odd names": ("s", "", _odd),
    "pipe": ("s", "", _pipe),
    "times": ("s", "", _times),
    "by Spark, below": ("s", ', maxFileAge = "40000d"', _below),
    "by Spark, hidden": ("s", ', maxFileAge = "40000d"', _hidden),
    "pattern of files": ("s/*.csv", "", _below),
    "pattern of folders": ("s/*", "", _below),
    "pattern of both": ("s/*/*.csv", "", _hidden),
    "pattern, link": ("s/*", "", _linked),
    "pattern, pipe": ("s/*", "", _pipe),
    "a class": ("s/[!x-z]*.csv", "", _hidden),
    "braces": ("s/{a,b,sub/[cd],z}.csv", "", _below),
    "filter": ("s", ', pathGlobFilter = "{c,d,z}.csv"', _below),
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_reads_what_a_replay_reads(case: str, spark: SparkSession, tmp_path: Path) -> None:
    path, more, change = CASES[case]
    files = Files(tmp_path, path, more)
    files.put("s/a.csv", "s/b.csv", "s/in/a.csv", "s/z.csv")
    files.run()
    change(files)
    files.put("s/zz.csv", "s/in/z.csv")
    summary = files.run()
    live, replayed = files.answers()
    assert live == replayed
    assert summary["rejected"] == 0
    assert len(live) > 2


def test_listeners_are_told_of_the_same_files(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads the rows then."""
    files = Files(tmp_path, "s")
    files.put("s/a.csv", "s/sub/b.csv", "s/sub/deep/c.csv", "s/z.csv")
    files.run(listeners=[_Listener()])
    live, replayed = files.answers()
    assert live == replayed == list(range(7))


def test_a_pattern_that_crosses_levels_is_refused_live(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(tmp_path, "s/**/*.csv")
    files.put("s/a.csv", "s/sub/b.csv")
    with pytest.raises(DataError, match=r"with \*\* does not go with a live run.*name the folder"):
        files.run()


def test_a_name_that_is_no_text_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """A run would pass over it; when it is renamed, it goes on."""
    files = Files(tmp_path, "s")
    files.put("s/a.csv", "s/b.csv")
    files.run()
    odd = os.fsencode(tmp_path / "s") + b"/c\xff.csv"
    files.put("s/c.csv")
    os.rename(tmp_path / "s" / "c.csv", odd)
    files.put("s/z.csv")
    with pytest.raises(RunError, match=r"s/c\?\.csv: rename it"):
        files.run()
    os.rename(odd, tmp_path / "s" / "c.csv")
    files.run()
    live, replayed = files.answers()
    assert live == replayed == list(range(7))


def test_java_reads_names_in_any_locale(tmp_path: Path) -> None:
    """In the locale C, Java would read ASCII alone, where Python reads UTF-8."""
    for number, name in enumerate(("a", "é", "z")):
        (tmp_path / "s").mkdir(exist_ok=True)
        text = f"ts,k\n1970-01-01 00:00:0{number},{number}\n"
        (tmp_path / "s" / f"{name}.csv").write_text(text)
    (tmp_path / "ontoweir.toml").write_text(TOML.format(path=tmp_path / "s", more=""))
    (tmp_path / "q.sql").write_text("SELECT s.k FROM s WHERE s.k >= 0")
    command = [sys.executable, "-m", "ontoweir", "run", str(tmp_path), "--once"]
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        [*command, "--sql", str(tmp_path / "q.sql"), "--sink", "jsonl"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    parts = sorted((tmp_path / "out").rglob("part-*.jsonl"))
    assert "".join(part.read_text() for part in parts).count('"k"') == 2


def test_a_server_reads_folders_of_columns_beside_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = Files(tmp_path, "s")
    register(tmp_path, "q", "SELECT s.k FROM s WHERE s.k >= 0")
    files.put("s/a.csv", "s/day=1/b.csv", "s/sub/c.csv")
    serve(tmp_path, spark)
    files.put("s/day=1/d.csv", "s/sub/deep/e.csv", "s/z.csv")
    serve(tmp_path, spark)
    live, replayed = files.answers()
    assert live == replayed == list(range(11))


@pytest.mark.parametrize(
    ("path", "output", "read"),
    [
        (".", "out", True),
        (".", "_out", False),
        ("s", "s/out", True),
        ("s", "s", True),
        ("s", "sout", False),
        ("*", "out", True),
        ("s/*", "s/out/deep", True),
        ("s/*", "out", False),
    ],
)
def test_answers_are_not_written_where_they_would_be_read(
    path: str, output: str, read: bool, spark: SparkSession, tmp_path: Path
) -> None:
    files = Files(tmp_path, path)
    files.put("s/a.csv")
    for places in (
        (tmp_path / output, tmp_path / "_check"),
        (tmp_path / "_out", tmp_path / output),
    ):
        streams = list(files.workspace.project.catalog.streams.values())
        if not read:
            refuse_folders(streams, places)
            continue
        with pytest.raises(UsageError, match="what is in it would be read as data of s"):
            refuse_folders(streams, places)


def test_a_run_does_not_read_its_own_answers(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(tmp_path, "s")
    files.put("s/a.csv")
    options = RunOptions(tmp_path / "check", tmp_path / "s" / "out", once=True, progress=False)
    with pytest.raises(UsageError, match="would be read as data of s"):
        run_queries(files.workspace, [files.query], options, None)
