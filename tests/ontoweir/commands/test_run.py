"""`ontoweir run`: what is there is read, once; then nothing is new; what cannot run is refused."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.errors import UsageError
from tests.ontoweir.commands.test_errors import is_one_line
from tests.ontoweir.commands.test_replay import QUERY, SUMMARY, write_data
from tests.ontoweir.conftest import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_answers_of_finished_steps_once(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1, 1, 2], [140, 90, 131, 135])
    command = ("run", project, "--query", QUERY, "--once", "--summary", "json")
    ran = run(*command)
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)
    assert set(summary) == {*SUMMARY, "broken", "rejects", "decided", "engines"}
    # the step of the last reading is not finished before a later one comes
    assert (summary["tuples"], summary["results"], summary["late"]) == (4, 2, 0)
    files = list((project / "out" / "answers" / QUERY).glob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    assert sorted(str(row["at"]) for row in rows) == ["2014-08-01 00:00:00", "2014-08-01 00:05:00"]
    again = json.loads(run(*command).out)
    assert (again["tuples"], again["results"]) == (0, 0)
    assert list((project / "out" / "answers" / QUERY).glob("*.parquet")) == files


def test_a_table_has_the_groups_that_hold(run: Run, project: Path, spark: "SparkSession") -> None:
    """As the same SQL over all rows of finished steps; again after more of them have come."""
    file = project / "top.sql"
    named = "report_id, COUNT(*) AS n, MAX(avg_speed) AS top"
    file.write_text(f"SELECT {named} FROM traffic GROUP BY report_id")
    command = ("run", project, "--sql", file, "--once", "--sink", "table")
    table = project / "out" / "answers" / "top.parquet"
    speeds = [140, 90, 131, 150, 7]
    data = write_data(project, list(range(5)), speeds)
    rows = pq.read_table(data)
    data.unlink()
    for first, known in ((0, 3), (3, 5)):
        pq.write_table(rows.slice(first, known - first), data.with_name(f"part-{known}.parquet"))
        ran = run(*command)
        assert ran.code == 0, ran.err
        (row,) = pq.read_table(table, columns=["report_id", "n", "top"]).to_pylist()
        # the step of the last reading is not finished
        assert row == {"report_id": 7, "n": known - 1, "top": max(speeds[: known - 1])}
    more = ("--checkpoint", project / "c", "--output", project / "o")
    ran = run("run", project, "--query", QUERY, "--once", "--sink", "table", *more)
    assert ran.code == 2
    assert "have no key" in ran.err


def test_plain_sql(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1, 2], [140, 131, 20])
    file = project / "fast.sql"
    file.write_text("SELECT id, avg_speed FROM traffic WHERE avg_speed > 130")
    kept = ("--keep", "30 days", "--compact", "8")
    ran = run("run", project, "--sql", file, "--query", QUERY, "--once", *kept)
    assert ran.code == 0, ran.err
    for name in ("fast", QUERY):
        files = (project / "out" / "answers" / name).glob("*.parquet")
        assert sum(pq.read_metadata(f).num_rows for f in files) == 2
    more = ("run", project, "--sql", file)
    for options, said in (
        (("--sql", file), "two queries are called fast"),
        (("--serve",), "--sql does not go with --serve"),
        (("--sql", project / "none.sql"), "none.sql"),
        (("--keep", "soon"), "'soon' is no duration"),
        (("--compact", "1"), "--compact"),
        (("--compact", "8", "--sink", "srj"), "the sink srj has no files that can be merged"),
        (("--compact", "8", "--sink", "console"), "console has no files that can be merged"),
        (("--compact", "8", "--parts-may-go"), "exclude each other"),
    ):
        ran = run(*more, *options)
        assert ran.code == 2
        assert is_one_line(ran.err)
        assert said in ran.err


def test_an_unbounded_query_is_refused_before_anything_starts(run: Run, project: Path) -> None:
    ran = run("run", project, "--query", "how-often-congestion-got-worse", "--once")
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert "unbounded" in ran.err
    assert not (project / "out").exists()


def test_lines_of_json_and_metrics_elsewhere(
    run: Run, project: Path, spark: "SparkSession"
) -> None:
    write_data(project, [0, 1, 2], [140, 131, 135])
    more = ("--sink", "jsonl", "--metrics", project / "seen")
    ran = run("run", project, "--query", QUERY, "--once", *more)
    assert ran.code == 0, ran.err
    files = list((project / "out" / "answers" / QUERY).glob("*.jsonl"))
    assert sum(len(f.read_text().splitlines()) for f in files) == 2
    assert {p.name for p in (project / "seen").iterdir()} == {"metrics.jsonl", "metrics.prom"}


def test_an_option_that_no_sink_has_is_refused(run: Run, project: Path) -> None:
    for more, said in (
        (("--sink-option", "topic=x"), "has no option topic"),
        (("--sink", "kafka"), "needs the option topic"),
        (("--spark", "spark.driver.memory"), "has no value"),
    ):
        ran = run("run", project, "--query", QUERY, "--once", *more)
        assert ran.code == 2
        assert is_one_line(ran.err)
        assert said in ran.err
    assert not (project / "out").exists()


def test_spark_connect_is_refused_before_anything_starts(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(project, [0, 1], [140, 131])
    assert run("register", project, "--query", QUERY).code == 0
    for more in ((), ("--query", QUERY)):
        ran = run("run", project, "--once", "--spark", "spark.remote=sc://here", *more)
        assert (ran.code, ran.out) == (2, "")
        assert is_one_line(ran.err)
        assert ran.err.startswith("--spark spark.remote: ")
    monkeypatch.setenv("SPARK_REMOTE", "sc://here")
    ran = run("run", project, "--once")
    assert ran.code == 2
    assert "SPARK_REMOTE names a server of Spark Connect; a live run keeps its state" in ran.err
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    opened = ontoweir.open_project(project, spark=session)
    with pytest.raises(UsageError, match="the session is one of Spark Connect"):
        opened.register(QUERY, name="another")
    assert [e.name for e in opened.list()] == [QUERY]
    assert not (project / "out" / "answers").exists()


UNBOUNDED = """PREFIX : <http://traffic.example/ns#>
SELECT ?one ?other WHERE {
  GRAPH ?t1 { ?one :averageSpeed ?v } GRAPH ?t2 { ?other :averageSpeed ?v } FILTER(?t1 < ?t2)
}"""


def test_an_unbounded_query_runs_if_someone_insists(
    run: Run, project: Path, spark: "SparkSession"
) -> None:
    (project / "queries" / "again.rq").write_text(UNBOUNDED, encoding="utf-8")
    write_data(project, [0, 1, 2, 3, 4], [50, 50, 60, 50, 70])
    command = ("run", project, "--query", "again", "--once", "--summary", "json")
    assert run(*command).code == 2
    ran = run(*command, "--allow-unbounded", "--alarm", "2")
    assert ran.code == 0, ran.err
    assert "again is not known to be bounded" in ran.err
    assert "again holds 4 rows of state, and no bound of it is known" in ran.err
    summary = json.loads(ran.out)
    assert (summary["bound_rows"], summary["results"]) == (None, 3)
    replayed = project / "replayed.parquet"
    more = ("--query", "again", "--allow-unbounded", "--output", replayed, "--quiet")
    assert run("replay", project, *more).code == 0
    files = list((project / "out" / "answers" / "again").glob("*.parquet"))
    found = [row for file in files for row in pq.read_table(file).to_pylist()]
    assert sorted(map(str, found)) == sorted(map(str, pq.read_table(replayed).to_pylist()))


def test_an_alarm_is_a_number_of_rows(run: Run, project: Path) -> None:
    ran = run("run", project, "--once", "--alarm", "0")
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert "--alarm" in ran.err


def test_what_is_registered_is_served(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1, 1, 2], [140, 90, 131, 135])
    assert run("register", project, "--query", QUERY).code == 0
    ran = run("run", project, "--once", "--summary", "json")
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)
    assert set(summary) == {*SUMMARY, "rejects", "queries", "decided"}
    assert (summary["tuples"], summary["results"]) == (4, 2)
    files = list((project / "out" / "answers" / QUERY).glob("*.parquet"))
    assert sum(pq.read_metadata(f).num_rows for f in files) == 2
    status = json.loads(run("status", QUERY, "--project", project, "--format", "json").out)
    assert (status["state"], status["tuples"], status["results"]) == ("stopped", 4, 2)
    assert status["answers_folder"] == str(files[0].parent)
    assert "running, answers go to" in ran.err
    again = run("run", project, "--once", "--quiet", "--summary", "json")
    assert (json.loads(again.out)["tuples"], again.err) == (0, "")
    # the state is gone with what it was of
    assert run("drop", QUERY, "--project", project, "--purge").code == 0
    assert not files[0].exists()


def test_an_entry_that_fails_is_exit_code_3(run: Run, project: Path, spark: "SparkSession") -> None:
    write_data(project, [0, 1, 2], [140, 131, 135])
    assert run("register", project, "--query", QUERY).code == 0
    assert run("run", project, "--once", "--quiet").code == 0
    text = (project / "ontoweir.toml").read_text()
    changed = text.replace("max_per_timestamp = ", "max_per_timestamp = 1")
    assert changed != text
    (project / "ontoweir.toml").write_text(changed)
    ran = run("run", project, "--once", "--quiet")
    assert ran.code == 3
    assert is_one_line(ran.err)
    assert "another run" in ran.err
    status = json.loads(run("status", QUERY, "--project", project, "--format", "json").out)
    assert status["state"] == "failed"


def test_what_does_not_go_with_a_registry(run: Run, project: Path) -> None:
    assert run("register", project, "--query", QUERY).code == 0
    for more, said in (
        (("--query", QUERY, "--serve"), "--query does not go with"),
        (("--checkpoint", project / "x"), "--checkpoint: it does not go with"),
        (("--metrics", project / "x"), "--metrics: it does not go with"),
    ):
        ran = run("run", project, *more)
        assert ran.code == 2
        assert is_one_line(ran.err)
        assert said in ran.err
