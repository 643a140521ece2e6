"""The Python API, live: handles, several at once, sources by name, on a session left as it was."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ontoweir
from ontoweir.cli import main
from ontoweir.runtime.live.output.sinks.memory import MemorySink
from tests.waiting import HANG_TIMEOUT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOT, FAULTS, THEN = "hot-readings", "how-often-each-sensor-failed", "rooms-hot-then-cold"

PAIRS = """
PREFIX : <http://rooms.example/ns#>
SELECT ?before ?after WHERE {
  GRAPH ?t1 { ?one   :temperature ?before }
  GRAPH ?t2 { ?other :temperature ?after }
  FILTER(?t1 < ?t2 && ?before < ?after)
}"""
DENSE = ('streams.reading.columns.celsius="float"',)
"""Then no range bounds the temperatures that PAIRS has to remember."""


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "rooms"]) == 0
    return tmp_path / "rooms"


def finished(answers: ontoweir.Answers, last: Any) -> list[dict[str, Any]]:
    """Answers before the last timestamp, which no later one has finished."""
    rows = [r for r in answers.to_arrow(raw=True).to_pylist() if r["at"] < last]
    return sorted(rows, key=repr)


def last_reading(rooms: Path) -> Any:
    from datetime import datetime

    lines = (rooms / "data" / "reading.csv").read_text().splitlines()
    place = lines[0].split(",").index("ts")
    return max(datetime.fromisoformat(line.split(",")[place]) for line in lines[1:])


def test_handles_of_several_queries_on_the_users_session(
    rooms: Path, spark: "SparkSession"
) -> None:
    active = spark.getActiveSession()
    before = {row.key: row.value for row in spark.sql("SET").collect()}
    views = spark.catalog.listTables()
    project = ontoweir.open_project(rooms, spark=spark)
    handles = [project.register(name) for name in project.queries]
    assert {h.name for h in handles} == {e.name for e in project.list()} == set(project.queries)
    assert len({h.id for h in handles}) == len({h.runId for h in handles}) == 3
    for handle in handles:
        handle.processAllAvailable()
        assert handle.isActive
        assert handle.exception() is None
        assert handle.awaitTermination(0.01) is False
        progress = handle.lastProgress
        assert progress is not None
        assert (progress["batchId"], progress["numInputRows"]) == (0, 960)
        assert progress["durationMs"]
        assert progress["stateOperators"][0]["numRowsTotal"] == handle.status["state_rows"]
        assert all(n <= (most or n) for n, most in handle.state.values())
        assert handle.bound is None or handle.status["state_rows"] <= handle.bound
        assert handle.verdict.plans
        assert handle.rejects == {}
        assert handle.status["message"]
        assert handle.status["state"] == project.status(handle.name)["state"] == "running"
        replayed = project.replay(handle.name)
        if handle.name != FAULTS:  # a replay ends with the last counts
            end = last_reading(rooms)
            assert finished(handle.answers(), end) == finished(replayed, end)
        assert project.get(handle.name) is handle
    with pytest.raises(ontoweir.OntoweirError, match="runs already"):
        project.register(HOT)
    for handle in handles:
        handle.stop()
        assert not handle.isActive
        assert handle.awaitTermination(HANG_TIMEOUT) is True
        assert handle.awaitTermination() is None
        assert project.status(handle.name)["state"] == "stopped"
    again = project.register(HOT)  # the same query goes on from its checkpoint
    assert again.id == handles[0].id
    assert again.runId != handles[0].runId
    again.processAllAvailable()
    assert again.status["tuples"] == 960
    assert finished(again.answers(), last_reading(rooms))
    project.drop(HOT, purge=True)
    assert not again.isActive
    assert HOT not in {e.name for e in project.list()}
    assert {row.key: row.value for row in spark.sql("SET").collect()} == before
    assert spark.catalog.listTables() == views
    assert spark.getActiveSession() is active


def test_a_query_needs_a_name_and_a_bound(rooms: Path, spark: "SparkSession") -> None:
    project = ontoweir.open_project(rooms, spark=spark)
    text = (rooms / "queries" / f"{HOT}.rq").read_text()
    with pytest.raises(ontoweir.OntoweirError, match="has no name"):
        project.register(text)
    dense = ontoweir.open_project(rooms, spark=spark, settings=DENSE)
    assert dense.check(PAIRS).plans is None
    assert "unbounded" in dense.explain(PAIRS)  # a query that is in no file is explained too
    with pytest.raises(ontoweir.OntoweirError, match=r"known|grows"):
        dense.register(PAIRS, name="all-pairs")
    assert project.list() == ()
    with pytest.raises(ontoweir.OntoweirError, match="no query was registered as"):
        project.get("all-pairs")


def test_once_to_memory_and_a_checkpoint_of_ones_own(rooms: Path, spark: "SparkSession") -> None:
    project = ontoweir.open_project(rooms, spark=spark)
    text = (rooms / "queries" / f"{HOT}.rq").read_text()
    first = project.register(text, name="hot", checkpoint="state", sink=MemorySink(), once=True)
    assert first.awaitTermination(HANG_TIMEOUT) is True
    assert len(first.answers()) > 0
    assert not (rooms / "out" / "registry" / "hot" / "checkpoint").exists()
    # as anew: another entry, but the checkpoint is gone on from
    project.drop("hot", purge=True)
    assert Path("state/spark").is_dir()
    second = project.register(text, name="hot", checkpoint="state", sink=MemorySink(), once=True)
    second.awaitTermination(HANG_TIMEOUT)
    assert (len(second.answers()), second.status["tuples"]) == (0, 960)
    with pytest.raises(ontoweir.OntoweirError, match="another run"):
        project.register(THEN, name="then", checkpoint="state")
    assert project.status("then")["state"] == "failed"


def test_what_ends_a_run_is_its_exception(rooms: Path, spark: "SparkSession") -> None:
    folder = rooms / "data" / "reading"
    folder.mkdir()
    shutil.move(rooms / "data" / "reading.csv", folder / "a.csv")
    path = str(folder)
    project = ontoweir.open_project(
        rooms, spark=spark, settings=[f'streams.reading.source.path="{path}"']
    )
    handle = project.register(HOT)
    handle.processAllAvailable()
    shutil.rmtree(rooms / "out" / "registry" / HOT / "checkpoint")
    (rooms / "out" / "registry" / HOT / "checkpoint").write_text("in the way")
    shutil.copy(folder / "a.csv", folder / "b.csv")
    with pytest.raises(ontoweir.OntoweirError):
        handle.awaitTermination(HANG_TIMEOUT)
    assert handle.exception() is not None
    assert project.status(HOT)["state"] == "failed"
    with pytest.raises(ontoweir.OntoweirError):
        handle.processAllAvailable()


def read(rooms: Path, spark: "SparkSession", name: str) -> "DataFrame":
    return spark.read.csv(str(rooms / "data" / f"{name}.csv"), header=True)


def test_views_and_frames_are_sources(rooms: Path, spark: "SparkSession") -> None:
    """A view by its name, and a DataFrame whose rows come in no order: as from the files."""
    from pyspark.sql import functions as fn

    wanted = ontoweir.open_project(rooms, spark=spark).replay(THEN).to_arrow()
    reading = read(rooms, spark, "reading").orderBy(fn.rand(7))
    before = {table.name for table in spark.catalog.listTables()}
    read(rooms, spark, "sensor").createOrReplaceTempView("of_the_user")
    try:
        project = ontoweir.open_project(
            rooms, spark=spark, sources={"reading": reading, "sensor": "of_the_user"}
        )
        assert project.replay(THEN).to_arrow().equals(wanted)
        settings = ['relations.sensor.source={format="view", path="of_the_user"}']
        named = ontoweir.open_project(rooms, spark=spark, settings=settings)
        assert named.replay(THEN).to_arrow().equals(wanted)
        assert {t.name for t in spark.catalog.listTables()} == {*before, "of_the_user"}
    finally:
        spark.catalog.dropTempView("of_the_user")
    with pytest.raises(ontoweir.OntoweirError, match="no temporary view"):
        named.replay(THEN)
    with pytest.raises(ontoweir.OntoweirError, match="no temporary view"):
        ontoweir.open_project(rooms, spark=spark, sources={"sensor": "of_the_user"})
    with pytest.raises(ontoweir.OntoweirError, match="neither a stream nor a relation"):
        ontoweir.open_project(rooms, spark=spark, sources={"sensors": reading})
    wrong: Any = [1]
    with pytest.raises(ontoweir.OntoweirError, match="is a list"):
        ontoweir.open_project(rooms, spark=spark, sources={"sensor": wrong})


def test_rows_of_frames_are_held_to_the_catalog(rooms: Path, spark: "SparkSession") -> None:
    from pyspark.sql import functions as fn

    reading = read(rooms, spark, "reading").withColumn("celsius", fn.lit("much"))
    project = ontoweir.open_project(rooms, spark=spark, sources={"reading": reading})
    with pytest.raises(ontoweir.OntoweirError, match="960 of the 960 rows of reading are rejected"):
        project.replay(HOT)


def test_streams_are_sources_of_live_queries_only(rooms: Path, spark: "SparkSession") -> None:
    """A stream of the user's own making, whose rows Spark counts beside a file's."""
    folder = rooms / "data" / "arrived"
    folder.mkdir()
    lines = (rooms / "data" / "reading.csv").read_text().splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(lines[:481]))
    later = (folder / "a.csv").stat().st_mtime_ns + 1_000_000_000
    schema = read(rooms, spark, "reading").schema
    stream = spark.readStream.csv(str(folder), header=True, schema=schema)
    project = ontoweir.open_project(rooms, spark=spark, sources={"reading": stream})
    with pytest.raises(ontoweir.OntoweirError, match="reading is a stream"):
        project.replay(HOT)
    handle = project.register(HOT)
    handle.processAllAvailable()
    assert handle.status["tuples"] == 480
    handle.stop()
    (folder / "b.csv").write_text("".join([lines[0], *lines[481:]]))
    os.utime(folder / "b.csv", ns=(later, later))  # files are taken in the order of their times
    handle = project.register(HOT)
    handle.processAllAvailable()
    assert handle.status["tuples"] == 960
    handle.stop()
    files = ontoweir.open_project(rooms, spark=spark)
    end = last_reading(rooms)
    assert finished(handle.answers(), end) == finished(files.replay(HOT), end)
    batch = ontoweir.open_project(
        rooms, spark=spark, sources={"reading": read(rooms, spark, "reading")}
    )
    with pytest.raises(ontoweir.OntoweirError, match="reading is not a stream"):
        batch.register(THEN)


def test_a_session_and_frames_of_the_same_spark(rooms: Path, spark: "SparkSession") -> None:
    """What a DataFrame's columns mean stays as its own session says."""
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = mine.read.csv(str(rooms / "data" / "reading.csv"), header=True)
    moved = frame.withColumn("ts", frame.ts.cast("timestamp"))  # nine hours before
    wanted = ontoweir.open_project(rooms, spark=spark).replay(HOT).to_arrow()
    project = ontoweir.open_project(rooms, spark=mine, sources={"reading": moved})
    found = project.replay(HOT).to_arrow()
    hours = {
        (a - b).total_seconds() / 3600
        for a, b in zip(
            wanted.column("at").to_pylist(), found.column("at").to_pylist(), strict=True
        )
    }
    assert hours == {9.0}
    assert mine.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
