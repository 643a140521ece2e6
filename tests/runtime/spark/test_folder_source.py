"""The source that lists folders: the same files in the same order, and logs, as Spark's own."""

import json
import os
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from ontoweir.runtime.live.arrivals.list_arrivals import list_logged
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.spark.tune_session import FolderListing, list_folders, tune_session

pytestmark = pytest.mark.spark

NAMES = ("a", "b.parquet", "_hidden", ".hidden", "c d", "é%20", "_metadata", "e._COPYING_", "_k=1")
BELOW = ("", "", "", "", "plain/", "_hidden/", "plain/deep/")
COMPACT = "spark.sql.streaming.fileSource.log.compactInterval"


class Folders:
    """Folders in which files arrive, each of a time of its own."""

    def __init__(self, place: Path, names: str) -> None:
        self.random, self.now = Random(7), 1_700_000_000
        self.places = [place / name for name in names]
        for folder in self.places:
            folder.mkdir()

    def change(self, below: tuple[str, ...]) -> None:
        """Some files come, one goes."""
        for _ in range(self.random.randint(3, 6)):
            folder = self.random.choice(self.places) / self.random.choice(below)
            folder.mkdir(parents=True, exist_ok=True)
            name = self.random.choice(NAMES)
            file = folder / (f"{name}{self.now}" if self.random.random() < 0.8 else name)
            file.write_text("row\n")
            self.now += 1
            os.utime(file, (self.now, self.now))
        there = [file for folder in self.places for file in folder.iterdir() if file.is_file()]
        if len(there) > 6:
            self.random.choice(there).unlink()


def list_with(spark: SparkSession, folders: Folders, check: Path, *, ours: bool) -> None:
    """Let Spark list what is there, three files in a micro-batch."""
    session = spark.newSession()
    tune_session(session, check)
    session.conf.set(COMPACT, "3")
    places = [str(folder) for folder in folders.places]
    frame = list_folders(session, FolderListing(places, (), 3))
    assert frame is not None
    if not ours:
        pattern = f"{Path(places[0]).parent}/{{{','.join(f.name for f in folders.places)}}}"
        reader = session.readStream.format("text").option("maxFilesPerTrigger", "3")
        frame = reader.option("recursiveFileLookup", "true").load(pattern)
    writer = frame.where("false").select("value").writeStream.format("noop")
    writer = writer.option("checkpointLocation", str(check)).trigger(availableNow=True)
    writer.start().awaitTermination()


def logged(check: Path) -> list[tuple[str, int]]:
    """The files of a log, in the order in which they came."""
    return [(f.uri, f.modified) for f in list_logged(SparkFolder(check), 0, -1, 10**9)]


@pytest.mark.parametrize(("names", "below"), [("su", BELOW), ("s", ("day=1/", "day=2/", "_x/"))])
def test_it_lists_what_sparks_own_source_lists(
    spark: SparkSession, tmp_path: Path, names: str, below: tuple[str, ...]
) -> None:
    folders = Folders(tmp_path, names)
    checks = {name: tmp_path / name for name in ("ours", "sparks", "both")}
    for step in range(5):
        folders.change(below)
        list_with(spark, folders, checks["ours"], ours=True)
        list_with(spark, folders, checks["sparks"], ours=False)
        list_with(spark, folders, checks["both"], ours=step % 2 == 0)
        found = {name: logged(check) for name, check in checks.items()}
        assert found["ours"] == found["sparks"] == found["both"]
    assert len(found["ours"]) > 8
    offsets = [sorted(f.name for f in (c / "offsets").iterdir()) for c in checks.values()]
    assert offsets[0] == offsets[1] == offsets[2]
    entries = [SparkFolder(check).list_logs() for check in checks.values()]
    assert entries[0] == entries[1] == entries[2]
    texts = [(checks[name] / entries[0][0]).read_text().splitlines() for name in checks]
    assert texts[0][0] == texts[1][0] == "v1"
    assert [json.loads(line) for line in texts[0][1:]] == [json.loads(x) for x in texts[1][1:]]
    assert texts[0][1] == texts[1][1]


def test_old_entries_are_removed(spark: SparkSession, tmp_path: Path) -> None:
    """Of the log, those before the last compact entry but one."""
    folders = Folders(tmp_path, "s")
    for number in range(24):
        (folders.places[0] / f"{number}").write_text("row\n")
    list_with(spark, folders, tmp_path / "check", ours=True)
    names = {file.name for file in (tmp_path / "check" / "sources" / "0").iterdir()}
    assert names == {"2.compact", "3", "4", "5.compact", "6", "7"}
    assert len(logged(tmp_path / "check")) == 24
