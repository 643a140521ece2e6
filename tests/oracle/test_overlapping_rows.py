"""Rows of tables of windows that overlap (HOP, CUMULATE), which are not grouped by their windows,
and their ranks there, against DuckDB, where a row is joined with its windows."""

from pathlib import Path
from random import Random

import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import QueryError
from tests.oracle.test_asked_sql import EARLY, ask_duckdb, told, write_project

MINUTE = "INTERVAL '1' MINUTE"
DAYS = "TIMESTAMP '2026-02-26', TIMESTAMP '2026-03-10'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("overlapping")
    write_project(made, 11, 120)
    return made


@pytest.fixture(scope="module")
def project(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


def make_windows(random: Random) -> tuple[str, str]:
    """A table of windows, and what DuckDB reads instead."""
    slide, times = random.choice([(10, 3), (20, 2), (30, 4), (60, 1)])
    size = slide * times
    offset = random.choice([0, 0, 10])
    more = f", INTERVAL '{offset}' MINUTE" if offset else ""
    kind = random.choice(["HOP", "CUMULATE"])
    ours = (
        f"TABLE({kind}(TABLE reading, DESCRIPTOR(ts), INTERVAL '{slide}' MINUTE, "
        f"INTERVAL '{size}' MINUTE{more}))"
    )
    step = slide if kind == "HOP" else size
    begins = f"generate_series({DAYS}, INTERVAL '{step}' MINUTE)"
    begin = f"w + INTERVAL '{offset}' MINUTE"
    ends = f"{begin} + {size} * {MINUTE}" if kind == "HOP" else f"{begin} + k * {slide} * {MINUTE}"
    many = "[1]" if kind == "HOP" else str([*range(1, times + 1)])
    windows = (
        f"(SELECT {begin} AS window_start, {ends} AS window_end "
        f"FROM (SELECT UNNEST({begins}) AS w), (SELECT UNNEST({many}) AS k))"
    )
    theirs = (
        f"(SELECT reading.*, window_start, window_end FROM reading, {windows} "
        "WHERE ts >= window_start AND ts < window_end)"
    )
    return ours, theirs


@pytest.mark.parametrize("seed", range(6))
def test_each_row_comes_once_for_every_window(
    folder: Path, project: OpenProject, seed: int
) -> None:
    random = Random(seed)
    ours, theirs = make_windows(random)
    texts = [
        f"SELECT sensor, level FROM {{}} WHERE {EARLY} AND level > 3",
        f"SELECT sensor, ts, window_end FROM {{}} WHERE {EARLY}",
        f"SELECT * FROM {{}} WHERE {EARLY} AND window_start > TIMESTAMP '2026-02-27 09:00:00'",
        (
            "SELECT w.sensor, w.window_start, s.city FROM {} AS w JOIN sensor s "
            f"ON s.id = w.sensor WHERE {EARLY}"
        ),
        (
            "SELECT sensor, e FROM (SELECT sensor, level, window_end AS e FROM {} "
            f"WHERE {EARLY}) AS w WHERE level > 2"
        ),
    ]
    for text in texts:
        asked = text.format(ours)
        found = told(project, asked)
        assert found == ask_duckdb(
            folder, text.format(f"{theirs} AS t" if " AS w" not in text else theirs)
        ), asked
        assert found


@pytest.mark.parametrize("seed", range(5))
def test_groups_and_ranks_of_windows(folder: Path, project: OpenProject, seed: int) -> None:
    """Within the bound; all windows that are asked for are over."""
    random = Random(seed)
    ours, theirs = make_windows(random)
    early = "ts < TIMESTAMP '2026-02-28 00:00:00'"
    by = random.choice(["", ", sensor"])
    number = random.choice(["RANK()", "DENSE_RANK()", "ROW_NUMBER()", "NTILE(2)", "CUME_DIST()"])
    over = f"{number} OVER (PARTITION BY window_start, window_end{by} ORDER BY amount, sensor, ts)"
    rows = f"{{}} WHERE {early} AND sensor IS NOT NULL"
    texts = [
        f"SELECT sensor, ts, amount, window_start, {over} AS n FROM {rows}",
        f"SELECT * FROM (SELECT sensor, ts, {over} AS n FROM {rows}) AS x WHERE n <= 1",
        f"SELECT DISTINCT window_start, window_end, sensor FROM {rows}",
        f"SELECT sensor, COUNT(*) AS n FROM {rows} GROUP BY sensor, window_start, window_end",
    ]
    for text in texts:
        asked = text.format(ours)
        verdict = project.check(asked)
        assert verdict.bound is not None, asked
        assert verdict.bound.rows is not None, asked
        assert project.replay(asked).summary["state_rows_max"] <= verdict.bound.rows
        found = told(project, asked)
        assert found == ask_duckdb(folder, text.format(f"{theirs} AS t")), asked
        assert found


def test_groups_without_windows_count_each_row_as_often(folder: Path, project: OpenProject) -> None:
    table = "TABLE(HOP(TABLE reading, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '30' MINUTE))"
    text = "SELECT sensor, COUNT(*) AS n, SUM(level) AS s FROM {} GROUP BY sensor"
    rows = project.replay(text.format(table)).to_arrow().to_pylist()
    last = {row["sensor"]: (row["n"], row["s"]) for row in rows}
    once = ask_duckdb(folder, text.format("reading"))
    assert last == {str(k): (3 * n, 3 * s) for k, n, s in once}


HOPS = "SELECT sensor FROM TABLE(HOP(TABLE reading, DESCRIPTOR(ts), INTERVAL '10' MINUTE, {}))"
START = "SELECT ts, HOP_START(ts, INTERVAL '10' MINUTE, INTERVAL '30' MINUTE) AS b FROM reading"
SPARKS = "SELECT window(ts, '30 minutes', '10 minutes') AS w, sensor FROM reading"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HOPS.format("INTERVAL '25' MINUTE"), "not all rows lie in as many windows"),
        (HOPS.format("INTERVAL '7' DAY"), "a row lies in 1,008 windows"),
        (START, "and not grouped by"),
        (SPARKS, "and not grouped by"),
    ],
)
def test_what_cannot_be_told_is_refused(project: OpenProject, text: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        project.check(text)
