"""`ontoweir init --from` of what pandas writes: whole numbers with a zero behind the point, and
headers of several lines."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run


def _init(run: Run, folder: Path, text: str) -> dict[str, Any]:
    (folder / "data.csv").write_text(text)
    ran = run("init", folder / "p", "--from", folder / "data.csv")
    assert ran.code == 0, ran.err
    assert "left out" not in ran.out
    assert run("check", folder / "p", "--data", "-q").code == 0
    made: dict[str, Any] = tomllib.loads((folder / "p" / "ontoweir.toml").read_text())
    return made["streams"]["data"]  # type: ignore[no-any-return]


def _hours(count: int) -> list[str]:
    return [f"2026-03-{1 + n // 24:02} {n % 24:02}:00:00" for n in range(count)]


def test_years_with_a_zero_behind_the_point(run: Run, tmp_path: Path) -> None:
    lines = [f"{1871 + n}.0,{900 + n * 37 % 300}.5" for n in range(60)]
    stream = _init(run, tmp_path, "\n".join(["year,volume", *lines]) + "\n")
    assert stream["timestamp"] == {"column": "year", "unit": "1 day", "format": "%Y.0"}
    shown = run("show", "SELECT year, volume FROM data WHERE volume = 900.5", tmp_path / "p").out
    assert "1871-01-01 00:00:00" in shown


def test_years_and_months_of_which_one_has_a_zero(run: Run, tmp_path: Path) -> None:
    lines = [f"{1950 + n // 12}.0,{1 + n % 12},{1 + n % 7}.0,{n / 4}" for n in range(96)]
    stream = _init(run, tmp_path, "\n".join(["year,month,day,x", *lines]) + "\n")
    assert stream["timestamp"]["format"] == "%Y.0 %m %d.0"
    assert stream["timestamp"]["from"] == ["year", "month", "day"]


@pytest.mark.parametrize("odd", ["1930.5", "1930", ""])
def test_years_that_are_not_all_written_so(run: Run, tmp_path: Path, odd: str) -> None:
    lines = [f"{1871 + n}.0,{n}.5" for n in range(60)]
    lines[59] = f"{odd},1.5"
    (tmp_path / "data.csv").write_text("\n".join(["year,volume", *lines]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "data.csv")
    assert ran.code == 2
    assert not (tmp_path / "p").exists()


HEADERS = {
    "index": ([",hall 1,hall 1", ",temp,rh", "when,,"], ["when", "hall 1 temp", "hall 1 rh"], 2),
    "names of levels": (
        ["hall,hall 1,hall 2", "kind,temp,temp", "when,,"],
        ["when", "hall 1 temp", "hall 2 temp"],
        2,
    ),
    "no name of the index": ([",temp,temp", ",mean,max"], ["index", "temp mean", "temp max"], 1),
    "three levels": (
        [",a,a", ",b,b", ",c,d", "when,,"],
        ["when", "a b c", "a b d"],
        3,
    ),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_of_several_lines(run: Run, tmp_path: Path, kind: str) -> None:
    header, names, skip = HEADERS[kind]
    lines = [f"{t},{20 + n % 5 / 4},{n % 7}" for n, t in enumerate(_hours(60))]
    stream = _init(run, tmp_path, "\n".join([*header, *lines]) + "\n")
    assert stream["source"]["options"]["names"] == "|".join(names)
    assert stream["source"]["options"]["skip"] == str(skip)
    assert stream["timestamp"]["column"] == names[0]
    assert list(stream["columns"]) == names[1:]
    asked = f"SELECT `{names[1]}` AS x FROM data"
    assert run("show", asked, tmp_path / "p").code == 0


@pytest.mark.parametrize(
    "header",
    [
        ["when,temp,rh", ",degC,%"],  # units
        [",temp,rh", ",degC,%"],
        ["when,temp,rh"],
        [",temp,rh"],
    ],
)
def test_a_header_of_one_line(run: Run, tmp_path: Path, header: list[str]) -> None:
    lines = [f"{t},{20 + n % 5 / 4},{n % 7}" for n, t in enumerate(_hours(60))]
    (tmp_path / "data.csv").write_text("\n".join([*header, *lines]) + "\n")
    assert run("init", tmp_path / "p", "--from", tmp_path / "data.csv").code == 0
    made = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]["data"]
    assert list(made["columns"]) == ["temp", "rh"]
    assert "names" not in made["source"]["options"]


@pytest.mark.parametrize("odd", ["inf", "-inf", "NaN"])
def test_numbers_that_are_none(run: Run, tmp_path: Path, odd: str) -> None:
    lines = [f"{t},{n % 7}.5" for n, t in enumerate(_hours(40))]
    lines[7] = f"{lines[7][:19]},{odd}"
    stream = _init(run, tmp_path, "\n".join(["ts,x", *lines]) + "\n")
    assert "x" in stream["columns"]
    for query in (tmp_path / "p" / "queries").iterdir():
        ran = run("show", query.stem, tmp_path / "p", "-q")
        assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"ts,x\n", "; a has no rows; name a file with more: "),
        ("a.csv", b"ts,x\n2026-03-01T00:00:00Z,1\n", "; a has one row; name a file with more: "),
        ("a.csv", b"ts,x\n\x8d\x81\xff,1\n", "has bytes that are no text, in UTF-8 or Windows-"),
    ],
)
def test_files_of_which_nothing_can_be_made(
    run: Run, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    ran = run("init", tmp_path / "p", "--from", tmp_path / name)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert "codec" not in ran.err
