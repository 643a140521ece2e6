"""What is written of answers: intervals and changes, and what is refused."""

import csv
import json
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

FILE = """
[project]

[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 3

[streams.s.columns]
k = { type = "int", min = 0, max = 9 }
a = "int"
"""
ROWS = """ts,k,a
2026-01-01 00:00:00,1,10
2026-01-01 00:01:00,1,11
2026-01-01 00:01:00,2,12
2026-01-01 00:06:00,3,13
"""
WINDOW = "FROM s WHERE ts > NOW() - INTERVAL '3' MINUTE"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ontoweir.toml").write_text(FILE)
    (tmp_path / "s.csv").write_text(ROWS)
    return tmp_path


def replay(run: Run, folder: Path, sql: str, *options: str) -> list[str]:
    (folder / "q.sql").write_text(sql)
    output = folder / "out.csv"
    ran = run("replay", folder, "--sql", folder / "q.sql", "--output", output, "--quiet", *options)
    assert ran.code == 0, ran.err
    return output.read_text().replace("2026-01-01 ", "").replace(":00.000000", "").splitlines()


def test_a_window_is_written_as_intervals(run: Run, folder: Path) -> None:
    assert replay(run, folder, f"SELECT k {WINDOW}") == [
        '"k","at","until","multiplicity"',
        "1,00:00,00:03,1",
        "1,00:01,00:04,1",
        "2,00:01,00:04,1",
        "3,00:06,00:09,1",
    ]


def test_changes_of_a_window(run: Run, folder: Path) -> None:
    assert replay(run, folder, f"SELECT k {WINDOW}", "--emit", "changes") == [
        '"k","op","at","multiplicity"',
        '1,"+",00:00,1',
        '1,"+",00:01,1',
        '2,"+",00:01,1',
        '1,"-",00:03,1',
        '1,"-",00:04,1',
        '2,"-",00:04,1',
        '3,"+",00:06,1',
    ]


def test_an_answer_of_a_set_is_prolonged(run: Run, folder: Path) -> None:
    assert replay(run, folder, f"SELECT DISTINCT k {WINDOW}") == [
        '"k","op","at"',
        '1,"+",00:00',
        '2,"+",00:01',
        '1,"-",00:04',
        '2,"-",00:04',
        '3,"+",00:06',
    ]


def test_snapshots_are_written_whenever_something_changes(run: Run, folder: Path) -> None:
    assert replay(run, folder, f"SELECT k {WINDOW}", "--emit", "snapshots") == [
        '"k","at","multiplicity"',
        "1,00:00,1",
        "1,00:01,2",
        "2,00:01,1",
        "1,00:03,1",
        "2,00:03,1",
        "3,00:06,1",  # from 00:04 on, nothing
    ]


def test_snapshots_of_groups(run: Run, folder: Path) -> None:
    sql = "SELECT k, COUNT(*) AS n FROM s GROUP BY k"
    assert replay(run, folder, sql, "--emit", "snapshots") == [
        '"k","n","at"',
        "1,1,00:00",
        "1,2,00:01",
        "2,1,00:01",
        "1,2,00:06",
        "2,1,00:06",
        "3,1,00:06",
    ]


def test_a_row_of_a_group_ends_when_the_next_begins(run: Run, folder: Path) -> None:
    sql = "SELECT k, COUNT(*) AS n FROM s GROUP BY k"
    assert replay(run, folder, sql, "--emit", "changes") == [
        '"k","n","op","at"',
        '1,1,"+",00:00',
        '1,1,"-",00:01',
        '1,2,"+",00:01',
        '2,1,"+",00:01',
        '3,1,"+",00:06',
    ]


def test_groups_of_a_window_change_as_rows_come_and_go(run: Run, folder: Path) -> None:
    sql = f"SELECT k, COUNT(*) AS n, MAX(a) AS most {WINDOW} GROUP BY k"
    assert replay(run, folder, sql) == [
        '"k","n","most","op","at"',
        '1,1,10,"+",00:00',
        '1,1,10,"-",00:01',
        '1,2,11,"+",00:01',
        '2,1,12,"+",00:01',
        '1,2,11,"-",00:03',
        '1,1,11,"+",00:03',
        '1,1,11,"-",00:04',
        '2,1,12,"-",00:04',
        '3,1,13,"+",00:06',
    ]


def test_having_brings_and_takes_groups_of_a_window(run: Run, folder: Path) -> None:
    sql = f"SELECT k, MIN(a) + 1 AS least {WINDOW} GROUP BY k HAVING COUNT(*) = 1 AND k < 2"
    assert replay(run, folder, sql) == [
        '"k","least","op","at"',
        '1,11,"+",00:00',
        '1,11,"-",00:01',
        '1,12,"+",00:03',
        '1,12,"-",00:04',
    ]


NONE = "SELECT COUNT(*) AS n, MAX(a) AS most, AVG(a) AS mean FROM s WHERE"


def test_without_groups_there_is_a_row_over_nothing(run: Run, folder: Path) -> None:
    assert replay(run, folder, f"{NONE} a > 99") == ['"n","most","mean","at"']
    assert replay(run, folder, f"{NONE} a > 99", "--final")[1:] == ["0,,,00:00"]
    assert replay(run, folder, f"{NONE} a > 99", "--emit", "changes")[1:] == ['0,,,"+",00:00']
    assert replay(run, folder, f"{NONE} a > 99", "--emit", "snapshots")[1:] == ["0,,,00:00"]
    having = "SELECT SUM(a) AS s FROM s WHERE a > 99 HAVING COUNT(*) > 0"
    assert replay(run, folder, having, "--final") == ['"s","at"']


def test_the_row_over_nothing_ends_with_the_first_match(run: Run, folder: Path) -> None:
    assert replay(run, folder, f"{NONE} a = 12", "--emit", "changes")[1:] == [
        '0,,,"+",00:00',
        '0,,,"-",00:01',
        '1,12,12,"+",00:01',
    ]
    assert replay(run, folder, f"{NONE} a = 12", "--final")[1:] == ["1,12,12,00:01"]
    assert replay(run, folder, f"{NONE} a < 11", "--emit", "changes")[1:] == ['1,10,10,"+",00:00']


def test_a_window_that_shows_nothing_has_a_row(run: Run, folder: Path) -> None:
    sql = f"SELECT COUNT(*) AS n, MIN(a) AS least {WINDOW} AND a > 10"
    assert replay(run, folder, sql)[1:] == [
        '0,,"+",00:00',
        '0,,"-",00:01',
        '2,11,"+",00:01',
        '2,11,"-",00:04',
        '0,,"+",00:04',
        '0,,"-",00:06',
        '1,13,"+",00:06',
    ]


def test_times_are_values(run: Run, folder: Path) -> None:
    assert replay(run, folder, "SELECT DISTINCT ts FROM s WHERE a > 10") == [
        '"ts","at"',
        "00:01Z,00:01",
        "00:06Z,00:06",
    ]
    assert replay(run, folder, "SELECT ts, COUNT(*) AS n FROM s GROUP BY ts")[2:] == [
        "00:01Z,2,00:01",
        "00:06Z,1,00:06",
    ]


@pytest.mark.parametrize(
    ("sql", "emit", "why"),
    [
        (f"SELECT k {WINDOW}", "answers", "an answer of a window ends"),
        ("SELECT k FROM s", "intervals", "it has no window"),
        (f"SELECT DISTINCT k {WINDOW}", "intervals", "prolonged by every further match"),
        (f"SELECT k, COUNT(*) AS n {WINDOW} GROUP BY k", "answers", "when a row comes, or goes"),
        (f"SELECT k, COUNT(*) AS n {WINDOW} GROUP BY k", "intervals", "when a row comes, or goes"),
        ("SELECT k FROM s", "snapshots", "its answers hold for ever"),
        ("SELECT ts, COUNT(*) AS n FROM s GROUP BY ts", "snapshots", "its answers hold for ever"),
    ],
)
def test_what_cannot_be_written_so(run: Run, folder: Path, sql: str, emit: str, why: str) -> None:
    (folder / "q.sql").write_text(sql)
    output = folder / "out.csv"
    arguments = ("--sql", folder / "q.sql", "--output", output, "--emit", emit)
    ran = run("replay", folder, *arguments)
    assert ran.code == 2
    assert ran.err.startswith(f"{folder / 'q.sql'}:1: ")
    assert why in ran.err
    assert not output.exists()


@pytest.mark.parametrize(
    ("sql", "options", "name"),
    [
        ("SELECT a AS at FROM s", (), "at"),
        ("SELECT a AS multiplicity FROM s", (), "multiplicity"),
        (f"SELECT a AS until {WINDOW}", (), "until"),
        (f"SELECT COUNT(*) AS op {WINDOW}", (), "op"),
        ("SELECT a AS op FROM s", ("--emit", "changes"), "op"),
        ("SELECT k AS at, COUNT(*) AS n FROM s GROUP BY k", (), "at"),
    ],
)
def test_columns_that_every_answer_has(
    run: Run, folder: Path, sql: str, options: tuple[str, ...], name: str
) -> None:
    (folder / "q.sql").write_text(sql)
    output = folder / "o.csv"
    ran = run("replay", folder, "--sql", folder / "q.sql", "--output", output, *options)
    assert ran.code == 2
    assert f"has a column called '{name}'" in ran.err
    free = sql.replace(f"AS {name}", "AS other")
    (folder / "q.sql").write_text(free)
    ran = run("replay", folder, "--sql", folder / "q.sql", "--output", output, *options)
    assert ran.code == 0


def test_final_changes_are_the_final_rows(run: Run, folder: Path) -> None:
    (folder / "q.sql").write_text("SELECT k, COUNT(*) AS n FROM s GROUP BY k")
    rows = []
    for more in ((), ("--emit", "changes")):
        output = folder / "o.csv"
        ran = run(
            *("replay", folder, "--sql", folder / "q.sql", "--output", output, "--final", *more)
        )
        assert ran.code == 0, ran.err
        with output.open() as opened:
            made = list(csv.DictReader(opened))
        assert {row.pop("op", "+") for row in made} == {"+"}
        rows.append(sorted((row["k"], row["n"], row["at"]) for row in made))
    assert rows[0] == rows[1] != []


@pytest.mark.parametrize(
    ("sql", "pattern", "emit"),
    [
        ("SELECT k FROM s", "MON", "answers"),
        (f"SELECT k {WINDOW}", "WKS", "intervals"),
        (f"SELECT DISTINCT k {WINDOW}", "WK", "changes"),
        (
            "SELECT x.k FROM s x, s y WHERE x.k = y.k AND x.ts > NOW() - INTERVAL '5' MINUTE",
            "WK",
            "intervals",
        ),
        ("SELECT k, COUNT(*) AS n FROM s GROUP BY k", "STR", "answers"),
        ("SELECT ts, COUNT(*) AS n FROM s GROUP BY ts", "MON", "answers"),
        (f"SELECT k, COUNT(*) AS n {WINDOW} GROUP BY k", "STR", "changes"),
        (f"SELECT ts, COUNT(*) AS n {WINDOW} GROUP BY ts", "STR", "changes"),
    ],
)
def test_check_says_how_answers_change(
    run: Run, folder: Path, sql: str, pattern: str, emit: str
) -> None:
    (folder / "q.sql").write_text(sql)
    ran = run("check", folder, "--sql", folder / "q.sql", "--format", "json")
    (found,) = json.loads(ran.out)["queries"] if ran.out.startswith("{") else json.loads(ran.out)
    assert (found["pattern"], found["emit"]) == (pattern, emit)
    assert found["final"] == (pattern == "MON")
    assert found["verdict"].endswith("bounded")


@pytest.mark.parametrize(
    ("sql", "kept", "bound"),
    [
        ("SELECT k, a FROM s WHERE a > 10", 0, 0),
        (f"SELECT k {WINDOW}", 1, 9),
        (f"SELECT DISTINCT k {WINDOW}", 1, 9),
    ],
)
def test_rows_of_a_time_that_is_not_over_are_not_kept_for_later(
    run: Run, folder: Path, sql: str, kept: int, bound: int
) -> None:
    """What is kept is what is still to come when a time is over, as in a live run."""
    output = folder / "out.csv"
    ran = run(
        *("replay", folder, "--sql", sql, "--output", output, "--emit", "changes"),
        *("--summary", "json", "-q"),
    )
    found = json.loads(ran.out)
    assert (found["state_rows_max"], found["bound_rows"]) == (kept, bound)
