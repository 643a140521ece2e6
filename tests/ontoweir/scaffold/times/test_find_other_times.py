"""Columns that tell time in a way that is not read are named, with what to write."""

import tomllib
from pathlib import Path

import pytest

from ontoweir.cli import main

LINES = range(40)
COLUMNS = {
    "years": ("year", [f"{1950 + n}.00" for n in LINES], "years written as 1950.0", "write 1950"),
    "ordinals": ("day", [str(736389 + n) for n in LINES], "since the year 1", "in 2017-03-01"),
    "serials": ("date", [str(45000 + n) for n in LINES], "as spreadsheets do", "in 2023-03-15"),
    "elapsed": ("t", [f"0 days 00:00:{n:02d}" for n in LINES], "since a beginning", "add the time"),
    "zoned": (
        "time",
        [f"2026-03-01T00:{n:02}:00+01:00[Europe/Berlin]" for n in LINES],
        "written like no time that is read",
        "write them as ISO 8601",
    ),
}
TWINS = {
    "serials": ("price", COLUMNS["serials"][1]),
    "ordinals, back and forth": ("day", [str(736389 + n * 7 % 40) for n in LINES]),
    "years": ("share", COLUMNS["years"][1]),
    "one time": ("time", ["2026-03-01T00:00" for _ in LINES]),
    "words": ("time", ["soon" for _ in LINES]),
    "fractions": ("year", [f"{1950 + n}.5" for n in LINES]),
}


def said(folder: Path, name: str, values: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    rows = [f"{v},a,{n % 7}" for n, v in enumerate(values)]
    (folder / "t.csv").write_text("\n".join([f"{name},station,rain", *rows]) + "\n")
    assert main(["init", str(folder / "p"), "--from", str(folder / "t.csv")]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("case", COLUMNS)
def test_they_are_named(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, values, why, fix = COLUMNS[case]
    told = said(tmp_path, name, values, capsys)
    assert f"t.{name} " in told
    assert why in told
    assert fix in told


@pytest.mark.parametrize("case", TWINS)
def test_others_are_not(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, values = TWINS[case]
    assert "row by row, seldom go back" in said(tmp_path, name, values, capsys)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("pt AS PROCTIME()", "clicks.pt says when a program comes to a row"),
        ("n INT", "a program processes them; declare one, as in ts TIMESTAMP\n"),
        (
            "a DATE, b DATE, c DATE, d DATE, e DATE",
            "; of type DATE are clicks.a, clicks.b, clicks.c and 2 more; declare one, ",
        ),
    ],
)
def test_times_of_processing(
    column: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = f"CREATE TABLE clicks (k BIGINT, {column}) WITH ('connector' = 'kafka');\n"
    (tmp_path / "a.sql").write_text(sql)
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "a.sql")]) == 2
    assert told in capsys.readouterr().err


LOG = [f"2026-03-01 {n // 60:02d}:{n % 60:02d}:00 upgrade p{n % 5} 1.{n} 1.{n + 1}" for n in LINES]


def test_a_log_whose_columns_are_named(tmp_path: Path) -> None:
    (tmp_path / "dpkg.log").write_text("\n".join(["2026-03-01 00:00:00 startup all", *LOG]) + "\n")
    given = [str(tmp_path / "p"), "--from", str(tmp_path / "dpkg.log")]
    assert main(["init", *given, "--names", "day,clock,action,package,old,new"]) == 0
    assert main(["check", given[0], "--data", "-q"]) == 0
    stream = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]["dpkg"]
    assert stream["timestamp"]["from"] == ["day", "clock"]
    assert [*stream["columns"]] == ["action", "package", "old", "new"]


@pytest.mark.parametrize(
    ("rows", "fix"),
    [
        (
            ["2026-03-01 00:00:00 startup all", *LOG],
            "name all 6 of them: --names day,clock,c3,c4,c5,c6",
        ),
        ([f"{row} and {n * 'so '}on" for n, row in enumerate(LOG)], "write it as CSV or JSON"),
    ],
)
def test_a_log_is_told_of(
    rows: list[str], fix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dpkg.log").write_text("\n".join(rows) + "\n")
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "dpkg.log")]) == 2
    told = capsys.readouterr().err
    assert f"each row of dpkg is one text, such as '{rows[0][:40]}" in told
    assert fix in told


def test_a_log_beside_files_of_data_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "copy.log").write_text("\n".join(LOG) + "\n")
    rows = [f"2026-03-01T00:{n:02d}:00Z,{n % 7}.5" for n in LINES]
    (tmp_path / "data" / "rain.csv").write_text("\n".join(["ts,rain", *rows]) + "\n")
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "data")]) == 0
    assert "left out, as no files of data: " in capsys.readouterr().out
