"""Columns that tell time in a way that is not read are named, with what to write."""

from pathlib import Path

import pytest

from ontoweir.cli import main

LINES = range(40)
COLUMNS = {
    "years": ("year", [f"{1950 + n}.00" for n in LINES], "years written as 1950.0", "write 1950"),
    "ordinals": ("day", [str(736389 + n) for n in LINES], "since the year 1", "in 2017-03-01"),
    "serials": ("date", [str(45000 + n) for n in LINES], "as spreadsheets do", "in 2023-03-15"),
    "elapsed": ("t", [f"0 days 00:00:{n:02d}" for n in LINES], "since a beginning", "add the time"),
}
TWINS = {
    "serials": ("price", COLUMNS["serials"][1]),
    "ordinals, back and forth": ("day", [str(736389 + n * 7 % 40) for n in LINES]),
    "years": ("share", COLUMNS["years"][1]),
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
    [("pt AS PROCTIME()", "clicks.pt says when a program comes to a row"), ("n INT", "a stream")],
)
def test_times_of_processing(
    column: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = f"CREATE TABLE clicks (k BIGINT, {column}) WITH ('connector' = 'kafka');\n"
    (tmp_path / "a.sql").write_text(sql)
    assert main(["init", str(tmp_path / "p"), "--from", str(tmp_path / "a.sql")]) == 2
    assert told in capsys.readouterr().err
