"""`check` says what a replay would refuse of a bounded query, before there is data."""

from pathlib import Path

import pytest

from ontoweir.api.opening import open_project
from ontoweir.errors import OntoweirWarning
from tests.ontoweir.conftest import Run

PROJECT = """
[project]
queries = ["*.sql"]
[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
columns = { v = { type = "int", min = 0, max = 99 } }
[streams.w]
source = { format = "csv", path = "w.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
[streams.w.columns]
k = { type = "int", min = 0, max = 9 }
multiplicity = { type = "int", min = 0, max = 9 }
[relations.r]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
columns = { v = "int" }
"""
PADDED = (
    "SELECT a.multiplicity AS m FROM w a LEFT JOIN w b ON a.k = b.k AND b.ts > a.ts AND "
    "b.ts <= a.ts + INTERVAL '1' MINUTE"
)
GROUPS = "COUNT(*) AS n FROM s WHERE ts > NOW() - INTERVAL '1' MINUTE GROUP BY v"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT ts AS at, v FROM s", "a column called 'at'"),
        ("SELECT ts AS held, v FROM s", None),
        ("SELECT v AS multiplicity FROM s", "a column called 'multiplicity'"),
        ("SELECT DISTINCT v AS multiplicity FROM s", None),
        (f"SELECT v AS op, {GROUPS}", "a column called 'op'"),
        (f"SELECT v AS until, {GROUPS}", "a column called 'until'"),
        ("SELECT v AS until, COUNT(*) AS n FROM s GROUP BY v", None),
        ("SELECT v AS multiplicity, COUNT(*) AS n FROM s GROUP BY v", "a column called 'mult"),
        (
            PADDED,
            "a column called 'multiplicity'",
        ),
        ("SELECT MAX(multiplicity) AS m FROM w", None),
        ("SELECT v FROM r", "q reads no stream"),
        ("SELECT s.v FROM s, r WHERE s.v = r.v AND r.v > 3", None),
        ("SELECT at AS held FROM (SELECT ts AS at FROM s) AS t", None),
    ],
)
def test_what_a_run_refuses(tmp_path: Path, run: Run, query: str, said: str | None) -> None:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "q.sql").write_text(query)
    (tmp_path / "s.csv").write_text("ts,v\n2026-01-01T00:00:00,4\n")
    (tmp_path / "w.csv").write_text("ts,k,multiplicity\n2026-01-01T00:00:00,4,5\n")
    for _ in range(2):  # the second time from the cache
        checked = run("check", tmp_path)
        assert checked.code == 0, checked.err
        assert ("replay and run refuse it: " in checked.err) == (said is not None)
        assert said is None or said in checked.err
    replayed = run("replay", tmp_path, "--query", "q", "--output", "-")
    assert replayed.code == (0 if said is None else 2), replayed.err
    live = run("run", tmp_path, "--query", "q", "--once")
    assert live.code == replayed.code, live.err
    registered = run("register", tmp_path, "--query", "q")
    assert registered.code == replayed.code, registered.err
    if said is not None:
        assert replayed.err.startswith(f"{tmp_path / 'q.sql'}:1: ")
        with pytest.warns(OntoweirWarning, match="replay and run refuse it"):
            assert open_project(tmp_path).check("q").plans
