"""SQL that reads queries: checked, replayed and registered as one query."""

import csv
import json
from pathlib import Path

import pytest

from tests.ontoweir.commands.test_errors import is_one_line
from tests.ontoweir.commands.test_replay import write_data
from tests.ontoweir.conftest import Run

VIEW = """
[views.hourly]
query = '''
SELECT report_id, date_trunc('hour', ts) AS hour, AVG(avg_speed) AS mean, COUNT(*) AS n
FROM traffic
GROUP BY report_id, hour
'''
"""
SLOWER = (
    "SELECT b.report_id, b.hour, a.mean AS before, b.mean FROM hourly a, hourly b "
    "WHERE a.report_id = b.report_id AND b.hour = a.hour + INTERVAL '1' HOUR AND b.mean < a.mean"
)


@pytest.fixture
def slower(project: Path) -> Path:
    """A query over the project's view of hourly means."""
    toml = project / "ontoweir.toml"
    toml.write_text(toml.read_text() + VIEW)
    file = project / "slower.sql"
    file.write_text(SLOWER)
    return file


def test_the_verdict_is_that_of_the_whole(run: Run, project: Path, slower: Path) -> None:
    (told,) = json.loads(run("check", project, "--sql", slower, "--format", "json").out)
    (inner,) = told["reads"]
    assert (told["query"], inner["query"]) == ("slower", "hourly")
    assert told["verdict"] == inner["verdict"] == "bounded"
    assert told["bound"]["rows"] > inner["bound"]["rows"] > 0
    text = run("check", project, "--sql", slower, "--verbose").out
    assert "\n  reads hourly: window-bounded, ≤ 900 rows" in text


def test_hours_that_are_slower_than_the_hour_before(run: Run, project: Path, slower: Path) -> None:
    # three hours of two readings each, and the beginning of a fourth, which is not over
    write_data(project, [0, 1, 12, 13, 24, 25, 36], [50, 40, 30, 20, 60, 70, 10])
    output = project / "slower.csv"
    ran = run("replay", project, "--sql", slower, "--output", output, "--summary", "json")
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out.splitlines()[-1])
    assert summary["state_rows_max"] <= summary["bound_rows"]
    assert "reads the answers of a query" in summary["one_range_because"]
    with output.open(newline="") as opened:
        (row,) = csv.DictReader(opened)
    assert (row["report_id"], row["before"], row["mean"]) == ("7", "45", "25")
    assert row["hour"].startswith("2014-08-01 01:00:00")
    assert row["at"].startswith("2014-08-01 02:00:00")


def test_a_query_over_a_view_is_registered(run: Run, project: Path, slower: Path) -> None:
    entry = json.loads(run("register", project, "--sql", slower, "--format", "json").out)
    assert entry["verdict"] == "bounded"
    assert f"{SLOWER[:8]}" in (project / "out/registry/slower/entry.json").read_text()


@pytest.mark.parametrize(
    ("sql", "place", "what"),
    [
        ("SELECT mean\nFROM hourley", "nested.sql:2", "did you mean 'hourly'?"),
        ("SELECT speed FROM hourly", "nested.sql:1", "it shows report_id, hour, mean, n"),
        (
            "SELECT n FROM (SELECT COUNT(*) AS n FROM hourly) x",
            "nested.sql:1",
            "an aggregate in a subquery whose groups are not final",
        ),
        ("SELECT mean FROM hourly, hourly", "nested.sql:1", "occurs twice in FROM"),
    ],
)
def test_what_is_refused_is_one_line(
    run: Run, project: Path, slower: Path, sql: str, place: str, what: str
) -> None:
    file = slower.parent / "nested.sql"
    file.write_text(sql)
    ran = run("check", project, "--sql", file)
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert place in ran.err
    assert what in ran.err


def test_what_is_wrong_in_a_view_is_said_there(run: Run, project: Path, slower: Path) -> None:
    toml = project / "ontoweir.toml"
    toml.write_text(toml.read_text().replace("AVG(avg_speed)", "AVG(avg_sped)"))
    line = next(
        n for n, text in enumerate(toml.read_text().splitlines(), 1) if text == "query = '''"
    )
    ran = run("check", project, "--sql", slower)
    assert ran.code == 2
    assert is_one_line(ran.err)
    assert f"ontoweir.toml:{line}: the view hourly, line 1: unknown column 'avg_sped'" in ran.err
