"""`init --from` of files of which the beginning says too little."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run

_ROWS = 55_000
"""More than a megabyte, and more than are looked at for types."""


def _init(run: Run, folder: Path, late: dict[int, str]) -> dict[str, Any]:
    rows = [f"{1767225600 + n},{late.get(n, str(n % 50))},{'x' * 12}" for n in range(_ROWS)]
    (folder / "t.csv").write_text("\n".join(["ts,level,note", *rows]) + "\n")
    ran = run("init", folder / "p", "--from", folder / "t.csv")
    assert ran.code == 0, ran.err
    stream = tomllib.loads((folder / "p" / "ontoweir.toml").read_text())["streams"]["t"]
    assert isinstance(stream, dict)
    return stream


def _count(run: Run, folder: Path) -> int:
    """How many rows have a number."""
    asked = "SELECT ts, level FROM t WHERE level > -1"
    shown = run("show", asked, "--project", folder / "p", "-q", "--limit", "1")
    assert shown.code == 0, shown.err
    return int(shown.out.split(" of ")[-1].split()[0].replace(",", ""))


@pytest.mark.parametrize("texts", [("nil",), ("n/a", "fault", "--")])
def test_what_is_missing_in_late_rows_is_null(
    run: Run, tmp_path: Path, texts: tuple[str, ...]
) -> None:
    late = {_ROWS - 1 - n: texts[n % len(texts)] for n in range(30)}
    stream = _init(run, tmp_path, late)
    assert {*stream["source"]["options"]["nullValues"].split("|")} == {*texts}
    assert stream["columns"]["level"] == {"type": "int", "nullable": True}
    assert run("check", tmp_path / "p", "--data", "-q").code == 0
    assert _count(run, tmp_path) == _ROWS - 30


def test_fractions_in_late_rows_make_doubles(run: Run, tmp_path: Path) -> None:
    stream = _init(run, tmp_path, {_ROWS - 5: "3.5", _ROWS - 3: "1e3"})
    assert stream["columns"]["level"] == "double"
    assert _count(run, tmp_path) == _ROWS


def test_rare_texts_in_late_rows_are_said_and_rejected(run: Run, tmp_path: Path) -> None:
    stream = _init(run, tmp_path, {_ROWS - 5: "seven"})
    assert stream["columns"]["level"] == "int"
    said = (tmp_path / "p" / "ontoweir.toml").read_text()
    assert "something else in 1 of 55,000 rows, which are rejected" in said
    checked = run("check", tmp_path / "p", "--data", "-q")
    assert (checked.code, "level = seven" in checked.out) == (1, True)
    assert _count(run, tmp_path) == _ROWS - 1


def test_frequent_texts_in_late_rows_make_texts(run: Run, tmp_path: Path) -> None:
    stream = _init(run, tmp_path, {_ROWS - 1 - n: f"x{n}" for n in range(1000)})
    assert stream["columns"]["level"] == "string"
    assert run("check", tmp_path / "p", "--data", "-q").code == 0


def test_numbers_that_share_a_time_by_chance_are_no_key(run: Run, tmp_path: Path) -> None:
    times = [*range(1000), 999]  # two rows have one time, of other numbers
    rows = [f"{1767225600 + 60 * t},{n * 7 % 300},{n}.5" for n, t in enumerate(times)]
    (tmp_path / "t.csv").write_text("\n".join(["ts,glucose,isig", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "t.csv")
    assert ran.code == 0, ran.err
    stream = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]["t"]
    assert "keys" not in stream
    assert "ofGlucose" not in (tmp_path / "p" / "mapping.r2rml.ttl").read_text()


def test_twin_what_all_rows_of_a_time_differ_in_is_one(run: Run, tmp_path: Path) -> None:
    rows = [f"{1767225600 + 60 * (n // 8)},{n % 8},{n}.5" for n in range(1000)]
    (tmp_path / "t.csv").write_text("\n".join(["ts,mote,level", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "t.csv")
    assert ran.code == 0, ran.err
    stream = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]["t"]
    assert stream["keys"] == [["mote", "ts"]]


def test_a_bound_that_says_little_is_for_where_there_is_nothing_else(
    run: Run, tmp_path: Path
) -> None:
    """Things that are seen again after hours, of which many share a second now and then."""
    rows = [f"{1767225600 + 3600 * n + m},d{n % 15},{n % 9}.5" for n in range(60) for m in range(3)]
    rows += [f"{1767225600 + 3600 * 60},d{m},1.5" for m in range(15)]
    for name, head in (("t", "ts,device,level"), ("u", "ts,device,note")):
        lines = rows if name == "t" else [row.rpartition(",")[0] + ",x" for row in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]) + "\n")
        ran = run("init", tmp_path / name / "p", "--from", tmp_path / f"{name}.csv")
        assert ran.code == 0, ran.err
    made = {file.stem for file in (tmp_path / "t" / "p" / "queries").iterdir()}
    assert "t-again" not in made
    assert len(made) >= 3
    assert (tmp_path / "u" / "p" / "queries" / "u-again.rq").exists()
