"""`ontoweir replay`: answers and a summary, or one line that says what is wrong with the data."""

import csv
import itertools
import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from tests.ontoweir.commands.test_errors import is_one_line, snapshot
from tests.ontoweir.conftest import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

QUERY = "every-reading-above-130"
SUMMARY = {
    *("markers", "tuples", "results", "state_rows_max", "bound_rows"),
    *("seconds", "tuples_per_second", "late", "rejected"),
}


def write_data(project: Path, steps: list[int], speeds: list[int]) -> Path:
    """One reading per step of five minutes, all of sensor 7; returns the file of readings."""
    start = datetime(2014, 8, 1)
    table = pa.table(
        {
            "id": pa.array(range(len(steps)), pa.int64()),
            "report_id": pa.array([7] * len(steps), pa.int32()),
            "ts": pa.array([start + timedelta(minutes=5 * s) for s in steps], pa.timestamp("us")),
            "status": pa.array(["OK"] * len(steps)),
            "avg_speed": pa.array(speeds, pa.int32()),
            "vehicle_count": pa.array([1] * len(steps), pa.int32()),
            "avg_measured_time": pa.array([30] * len(steps), pa.int32()),
        }
    )
    file = project / "data" / "traffic" / "part.parquet"
    file.parent.mkdir(parents=True)
    pq.write_table(table, file)
    names = ["POINT_1_STREET", "DURATION_IN_SEC", "POINT_1_CITY", "NDT_IN_KMH", "ROAD_TYPE"]
    with (project / "data" / "sensor.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*names, "REPORT_ID", "DISTANCE_IN_METERS"])
        writer.writerow(["Ringvej", 60, "Aarhus", 60, "MAJOR_ROAD", 7, 1000])
    return file


def test_answers_and_summary(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1, 1, 2], [140, 90, 131, 135])
    output = project / "fast.csv"
    ran = run(
        *("replay", project, "--query", QUERY, "--output", output),
        *("--summary", "json", "--to", "2014-08-01T00:10:00"),
    )
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out.splitlines()[-1])
    assert summary.keys() >= SUMMARY
    assert (summary["results"], summary["late"], summary["bound_rows"]) == (2, 0, 0)
    with output.open(newline="") as file:
        answers = list(csv.DictReader(file))
    assert [a["speed"] for a in answers] == ["140", "131"]
    assert {"reading", "sensor", "speed", "multiplicity", "at"} == answers[0].keys()


def test_how_long_spark_took_to_start(
    run: Run, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is told where Spark was started, and is nothing on a session of the caller's."""
    monkeypatch.setattr("ontoweir.run.replay_query.perf_counter", itertools.count(0, 2.5).__next__)
    assert run("init", tmp_path / "rooms").code == 0
    query = ("--query", "hot-readings", "--engine", "spark")
    asked = ("replay", tmp_path / "rooms", *query, "--output", tmp_path / "b")
    assert "tuples/s; Spark took 2.5 s to start)" in run(*asked).out
    summary = json.loads(run(*asked, "--summary", "json").out.splitlines()[-1])
    assert summary["spark_start_seconds"] == 2.5
    project = ontoweir.open_project(tmp_path / "rooms", spark=spark)
    answers = project.replay("hot-readings", engine="spark")
    assert answers.summary["spark_start_seconds"] == 0


def test_plain_sql_runs_by_its_plan(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1, 2, 40], [15, 130, 120, 150])
    file = project / "jams.sql"
    file.write_text(
        "SELECT a.avg_speed AS before, b.avg_speed AS after FROM traffic a JOIN traffic b "
        "USING (report_id) WHERE a.avg_speed < 20 AND b.avg_speed > 100 "
        "AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '1' HOUR;\n"
    )
    output = project / "jams.csv"
    ran = run("replay", project, "--sql", file, "--output", output, "--summary", "json")
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out.splitlines()[-1])
    assert summary["state_rows_max"] <= summary["bound_rows"]
    with output.open(newline="") as opened:
        answers = [(a["before"], a["after"]) for a in csv.DictReader(opened)]
    assert answers == [("15", "130"), ("15", "120")]


def test_a_query_or_sql(run: Run, project: Path) -> None:
    ran = run("replay", project, "--output", project / "x.csv")
    assert ran.code == 2
    assert "--query --sql" in ran.err
    ran = run("replay", project, "--query", QUERY, "--sql", "x.sql", "--output", project / "x.csv")
    assert (ran.code, ran.out) == (2, "")


def test_summary_as_text(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1], [140, 150])
    ran = run("replay", project, "--query", QUERY, "--output", project / "fast.jsonl")
    assert ran.code == 0, ran.err
    assert f"{QUERY}: 2 results in {project / 'fast.jsonl'}" in ran.out
    lines = (project / "fast.jsonl").read_text().splitlines()
    assert [json.loads(line)["speed"] for line in lines] == [140, 150]


def refuse(run: Run, project: Path, *more: object) -> str:
    """Replay wrong data: one line, exit code 2, nothing written."""
    before = snapshot(project)
    ran = run("replay", project, "--query", QUERY, "--output", project / "out.csv", *more)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert is_one_line(ran.err), ran.err
    assert snapshot(project) == before
    return ran.err


def test_timestamps_that_go_backwards(run: Run, project: Path, spark: "SparkSession") -> None:
    file = write_data(project, [0, 2, 1], [140, 140, 140])
    told = refuse(run, project)
    assert told.startswith(f"{file}:3: ")
    assert "backwards" in told
    assert "2014-08-01" in told


def test_no_readings(run: Run, project: Path, spark: "SparkSession") -> None:
    file = write_data(project, [0], [140])
    file.unlink()
    told = refuse(run, project)
    assert told.startswith(f"{project / 'ontoweir.toml'}:")
    assert str(file.parent) in told


def test_no_register(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0], [140])
    (project / "data" / "sensor.csv").unlink()
    assert str(project / "data" / "sensor.csv") in refuse(run, project)


def test_a_file_that_is_no_parquet(run: Run, project: Path, spark: "SparkSession") -> None:
    file = write_data(project, [0], [140])
    file.write_text("not Parquet")
    assert refuse(run, project).startswith(str(file))


def test_data_without_a_declared_column(run: Run, project: Path, spark: "SparkSession") -> None:
    file = write_data(project, [0], [140])
    pq.write_table(pq.read_table(file).drop_columns(["avg_speed"]), file)
    told = refuse(run, project)
    assert told.startswith(str(file))
    assert "avg_speed" in told


def test_a_static_row_outside_its_domain(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0], [140])
    register = project / "data" / "sensor.csv"
    register.write_text(register.read_text().replace("MAJOR_ROAD", "MOTORWAY"))
    told = refuse(run, project)
    assert told.startswith(f"{register}:2: ")
    assert "MOTORWAY" in told


def test_an_unbounded_query_only_where_it_is_allowed(
    run: Run, project: Path, spark: "SparkSession"
) -> None:
    write_data(project, [0, 1], [5, 120])
    output = project / "out.csv"
    command = ("replay", project, "--query", "how-often-congestion-got-worse", "--output", output)
    refused = run(*command)
    assert refused.code == 2
    assert "--allow-unbounded" in refused.err
    assert not output.exists()
    allowed = run(*command, "--allow-unbounded")
    assert allowed.code == 0, allowed.err
    assert allowed.err.startswith("warning: how-often-congestion-got-worse is ")
    assert len(allowed.err.splitlines()) == 1
    assert output.exists()


GROUPED = """PREFIX : <http://traffic.example/ns#>
SELECT ?reading (COUNT(*) AS ?n) (MAX(?speed) AS ?top)
WHERE { GRAPH ?t { ?reading :averageSpeed ?speed } } GROUP BY ?reading"""


def test_an_unbounded_aggregate_query_keeps_its_groups(
    run: Run, project: Path, spark: "SparkSession"
) -> None:
    write_data(project, [0, 1, 2, 3], [140, 90, 135, 70])
    (project / "queries" / "grouped.rq").write_text(GROUPED)
    output = project / "out.csv"
    command = ("replay", project, "--query", "grouped", "--output", output, "--summary", "json")
    assert "--allow-unbounded" in run(*command).err
    assert not output.exists()
    since = ("--from", "2014-08-01T00:05:00")
    told = []
    for more in ((), since):
        allowed = run(*command, "--allow-unbounded", *more)
        assert allowed.code == 0, allowed.err
        assert allowed.err.startswith("warning: grouped is not known to be bounded: ")
        summary = json.loads(allowed.out)
        assert (summary["bound_rows"], summary["state_rows_max"] > 2) == (None, True)
        told.append([(r["n"], r["top"]) for r in csv.DictReader(output.read_text().splitlines())])
    assert told == [[("1", "140"), ("1", "90"), ("1", "135"), ("1", "70")], told[0][1:]]


def test_the_installed_command_says_one_line(project: Path) -> None:
    """Neither Java nor Spark adds to it."""
    file = write_data(project, [0, 2, 1], [140, 140, 140])
    command = Path(sys.executable).parent / "ontoweir"
    done = subprocess.run(
        [command, "replay", project, "--query", QUERY, "--output", project / "out.csv"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_line(done.stderr), done.stderr
    assert done.stderr.startswith(f"{file}:3: ")
    assert not (project / "out.csv").exists()


def test_no_java_is_said_in_words(project: Path, tmp_path: Path) -> None:
    write_data(project, [0], [140])
    command = Path(sys.executable).parent / "ontoweir"
    asked = ["--query", QUERY, "--engine", "spark", "--output", str(project / "out.csv")]
    done = subprocess.run(
        [str(command), "replay", str(project), *asked],
        capture_output=True,
        text=True,
        env={**os.environ, "JAVA_HOME": str(tmp_path)},
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "ontoweir doctor" in done.stderr.splitlines()[-1]
    assert not (project / "out.csv").exists()


def test_static_data_tightens_bounds_if_asked(
    run: Run, project: Path, spark: "SparkSession"
) -> None:
    write_data(project, [0, 1], [140, 90])
    query = ("check", project, "--query", "sensors-fast-after-congestion", "--format", "json")
    declared = json.loads(run(*query).out)[0]
    known = json.loads(run(*query, "--static-data").out)[0]
    assert declared["bound"]["rows"] == 2 * 449
    assert known["bound"]["rows"] == 2  # one sensor
    assert known["verdict"] == declared["verdict"]
    unbounded = ("check", project, "--query", "how-often-congestion-got-worse")
    assert json.loads(run(*unbounded, "--static-data", "--format", "json").out)[0]["witness"]
