"""Conditions of constants that never hold: no answers, as DuckDB has none, and a verdict that says
so before anything runs."""

from pathlib import Path

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import EARLY, ask_duckdb, told, write_project

NEVER = (
    "1 > 2",
    "FALSE",
    "NULL",
    "NOT (NULL)",
    "NOT (NULL = 1)",
    "r.level > 3 AND (FALSE OR 'a' = 'b')",
    "NULL AND r.level > 3",
)
SHAPES = (
    "SELECT r.sensor, r.ts FROM reading r WHERE {}",
    "SELECT r.sensor, s.city FROM reading r LEFT JOIN sensor s ON s.id = r.sensor WHERE {}",
    (
        "SELECT r.sensor, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor "
        "AND a.ts = r.ts WHERE {}"
    ),
    (
        "SELECT r.sensor, date_trunc('day', r.ts) AS d, COUNT(*) AS n FROM reading r "
        "LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts WHERE {} GROUP BY 1, 2"
    ),
    (
        "SELECT x.sensor FROM (SELECT r.sensor, COUNT(*) AS n FROM reading r WHERE {} "
        "GROUP BY r.sensor, date_trunc('hour', r.ts)) x WHERE x.n > 3"
    ),
    (
        "WITH x AS (SELECT date_trunc('day', r.ts) AS d, r.sensor, COUNT(*) AS n FROM reading r "
        "WHERE {} GROUP BY 1, 2) SELECT d, MAX(n) AS m FROM x GROUP BY d"
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("never")
    write_project(made, 7, 60)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("never", NEVER)
def test_what_never_holds_has_no_answers(
    folder: Path, project: OpenProject, shape: str, never: str
) -> None:
    text = shape.format(never)
    assert project.check(text).tier == "unsatisfiable"
    assert told(project, text) == ask_duckdb(folder, text) == {}
    early = shape.format(f"r.{EARLY} AND NOT ({never})")
    if "NULL" not in never:  # twin: there are rows
        assert told(project, early) == ask_duckdb(folder, early) != {}


@pytest.mark.parametrize("never", ["FALSE", "1 = 2 AND {}", "NULL", "{} AND NOT NULL"])
@pytest.mark.parametrize("table", ["alarm", "sensor"])
def test_a_left_join_that_never_holds_brings_nothing(
    folder: Path, project: OpenProject, table: str, never: str
) -> None:
    same = "a.ts = r.ts" if table == "alarm" else "a.id = r.sensor"
    on, shown = never.format(same), "grade" if table == "alarm" else "high"
    text = f"SELECT r.sensor, r.level, a.{shown} AS x FROM reading r LEFT JOIN {table} a ON {on}"
    assert project.check(text).bound is not None
    found = told(project, text)
    assert found == ask_duckdb(folder, text)
    assert found
    assert {row[2] for row in found} == {None}


def test_a_column_that_is_compared_with_null_is_named(project: OpenProject) -> None:
    with pytest.raises(QueryError, match="NULL is outside"):
        project.check("SELECT sensor FROM reading WHERE level = NULL")


ONE_GROUP = (
    "SELECT COUNT(*) AS n, SUM(r.level) AS s FROM reading r WHERE {}",
    "SELECT COUNT(*) + 1 AS n FROM (SELECT level, ts FROM reading) r WHERE {}",
    "WITH r AS (SELECT level + 1 AS level FROM reading) SELECT MAX(level) AS m FROM r WHERE {}",
    "SELECT COUNT(*) AS n FROM reading r JOIN alarm a ON a.ts = r.ts AND {}",
    "SELECT COUNT(*) AS n FROM (SELECT sensor FROM reading r WHERE {}) x",
    "SELECT COUNT(*) AS n FROM reading r WHERE r.ts > NOW() - INTERVAL '1' HOUR AND {}",
    (
        "WITH x AS (SELECT level FROM reading r WHERE {} UNION ALL SELECT grade FROM alarm "
        "WHERE FALSE) SELECT COUNT(*) AS n, MAX(level) AS m FROM x"
    ),
)


@pytest.mark.parametrize("shape", ONE_GROUP)
@pytest.mark.parametrize("never", ["FALSE", "1 > 2", "NULL", "r.level > 3 AND FALSE"])
def test_one_group_of_what_never_holds_has_its_row_over_nothing(
    folder: Path, project: OpenProject, shape: str, never: str
) -> None:
    text = shape.format(never)
    assert project.check(text).tier == "unsatisfiable"
    by_duckdb = text.replace("NOW()", "TIMESTAMP '2026-03-08 05:00:00'")
    for emit in ("changes", "snapshots"):
        (row,) = project.replay(text, emit=emit).to_arrow().to_pylist()
        values = tuple(v for name, v in row.items() if name not in ("op", "at"))
        assert {values: 1} == ask_duckdb(folder, by_duckdb), (emit, text)
