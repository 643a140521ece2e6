"""`init --from` a folder in which files of several tables lie."""

import gzip
import json
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

TIMES = [f"2026-05-04 {hour:02}:{minute:02}" for hour in range(8) for minute in range(0, 60, 5)]


def _readings(file: Path, day: str) -> None:
    rows = [f"{day} {t[11:]};m{n % 4};{n},5" for n, t in enumerate(TIMES)]
    file.write_text("\n".join(["Time;Meter;kWh", *rows]) + "\n")


def _meters(file: Path) -> None:
    rows = [f"m{n};{name};0{7 * n:04}" for n, name in enumerate("abcd")]
    file.write_text("\n".join(["Meter;Street;Postal", *rows]) + "\n")


def _events(file: Path) -> None:
    rows = [json.dumps({"ts": t.replace(" ", "T"), "meter": {"id": "m1"}, "n": 1}) for t in TIMES]
    with gzip.open(file, "wt") as opened:
        opened.write("\n".join(rows) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    _readings(folder / "readings-2026-01.csv", "2026-01-05")
    _readings(folder / "readings-2026-02.csv", "2026-02-05")
    _meters(folder / "meters.csv")
    _events(folder / "events.jsonl.gz")
    return folder


def _init(run: Run, project: Path, data: Path) -> dict[str, Any]:
    ran = run("init", project, "--from", data)
    assert ran.code == 0, ran.err
    return tomllib.loads((project / "ontoweir.toml").read_text())


def test_each_table_is_one(run: Run, tmp_path: Path, data: Path) -> None:
    made = _init(run, tmp_path / "p", data)
    assert {n: s["source"]["path"] for n, s in made["streams"].items()} == {
        "events": str(data / "events.jsonl.gz"),
        "readings": str(data / "readings-2026-0*.csv"),
    }
    assert list(made["relations"]) == ["meters"]
    # digits that begin with a zero are no number, and what is unique by chance is no key
    assert made["relations"]["meters"]["columns"]["Postal"] == "string"
    assert made["relations"]["meters"]["keys"] == [["Meter"]]
    assert run("check", tmp_path / "p", "--data", "-q").code == 0
    names = [file.stem for file in (tmp_path / "p" / "queries").iterdir()]
    assert {name.partition("-")[0] for name in names} == {"readings", "events"}
    ran = run("replay", "readings-by-day", "--project", tmp_path / "p", "--output", tmp_path / "o")
    assert ran.code == 0, ran.err


def test_a_folder_of_one_table_is_that(run: Run, tmp_path: Path, data: Path) -> None:
    (data / "meters.csv").unlink()
    (data / "events.jsonl.gz").unlink()
    (data / "2026").mkdir()
    (data / "readings-2026-02.csv").rename(data / "2026" / "more.csv")
    made = _init(run, tmp_path / "p", data)
    assert [s["source"]["path"] for s in made["streams"].values()] == [str(data)]


def test_a_folder_of_one_file_is_called_as_that(run: Run, tmp_path: Path) -> None:
    """Unless its name has a number: then others may follow, and belong to it."""
    folder = tmp_path / "hall"
    for name, table, path in (("kwh.csv", "kwh", "hall/kwh.csv"), ("2026-01.csv", "hall", "hall")):
        folder.mkdir()
        _readings(folder / name, "2026-01-05")
        made = _init(run, tmp_path / f"of-{table}", folder)
        assert {n: s["source"]["path"] for n, s in made["streams"].items()} == {
            table: str(tmp_path / path)
        }
        (folder / name).unlink()
        folder.rmdir()


def test_folders_within_are_tables(run: Run, tmp_path: Path, data: Path) -> None:
    (data / "meters").mkdir()
    (data / "meters.csv").rename(data / "meters" / "a.csv")
    made = _init(run, tmp_path / "p", data)
    assert made["relations"]["meters"]["source"]["path"] == str(data / "meters")
    assert set(made["streams"]) == {"events", "readings"}


def test_numbered_files_beside_one_that_begins_alike(run: Run, tmp_path: Path, data: Path) -> None:
    for n, file in enumerate(sorted(data.glob("readings*"))):
        file.rename(data / f"m{n}.csv")  # m*.csv would have meters.csv, too
    made = _init(run, tmp_path / "p", data)
    assert made["streams"]["m"]["source"]["path"] == str(data / "m[0-9]*.csv")
    assert list(made["relations"]) == ["meters"]
    names = [f.stem for f in (tmp_path / "p" / "queries").iterdir() if f.stem.startswith("m-by")]
    ran = run("replay", names[0], "--project", tmp_path / "p", "--output", tmp_path / "o.csv")
    assert ran.code == 0, ran.err


def test_files_that_no_pattern_has_are_tables_each(run: Run, tmp_path: Path, data: Path) -> None:
    """`*.csv` would have the meters, too."""
    (data / "readings-2026-01.csv").rename(data / "z.csv")
    made = _init(run, tmp_path / "p", data)
    assert {"readings_2026_02", "z"} <= set(made["streams"])
    assert made["streams"]["z"]["source"]["path"] == str(data / "z.csv")


def test_a_row_is_called_by_its_id_not_by_another_time(run: Run, tmp_path: Path) -> None:
    """Trips: that hardly two of them begin together is chance."""
    rows = [
        f"{n},2026-05-04 {n // 60:02}:{n % 60:02}:07,2026-05-04 {n // 60 + 1:02}:{n % 60:02}:00,"
        f"S{n % 3},S{n % 5},{n % 7}.5"
        for n in range(600)
    ]
    rows[3] = rows[3].replace("00:03:07", "00:02:07")
    (tmp_path / "trips.csv").write_text("\n".join(["id,start,end,from,to,km", *rows]) + "\n")
    made = _init(run, tmp_path / "p", tmp_path / "trips.csv")
    (stream,) = made["streams"].values()
    assert stream["keys"] == [["id", stream["timestamp"]["column"]]]
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    assert "trips/{id}" in mapping
    assert ":ofFrom" in mapping


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_partitions_of_tables(run: Run, tmp_path: Path, form: str) -> None:
    """What the folders of a table are called says is a column, but for times."""
    for day in (1, 2):
        for plant in ("bonn", "ulm"):
            _put(tmp_path / f"lake/a/date=2026-03-0{day}/plant={plant}/x.{form}", day, "value")
        _put(tmp_path / f"lake/b/date=2026-03-0{day}/x.{form}", day, "level")
    assert run("init", tmp_path / "p", "--from", tmp_path / "lake").code == 0
    held = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]
    assert [*held["a"]["columns"]] == ["value", "plant"]
    assert [*held["b"]["columns"]] == ["level"]
    text = "SELECT plant, COUNT(*) AS n FROM a GROUP BY plant, CAST(ts AS DATE)"
    shown = run("show", text, "--project", tmp_path / "p", "--format", "csv").out.splitlines()[1:]
    assert sorted(row[:7] for row in shown) == ["bonn,20", "ulm,20,"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables_of_each_partition(run: Run, tmp_path: Path, form: str) -> None:
    for day in (1, 2):
        _put(tmp_path / f"lake/dt=2026-03-0{day}/a.{form}", day, "value")
        _put(tmp_path / f"lake/dt=2026-03-0{day}/b/x.{form}", day, "level")
    assert run("init", tmp_path / "p", "--from", tmp_path / "lake").code == 0
    held = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]
    assert sorted(stream["source"]["path"] for stream in held.values()) == [
        str(tmp_path / f"lake/dt=*/{place}") for place in (f"a.{form}", f"b/**/*.{form}")
    ]
    for name in held:
        shown = run("show", f"SELECT * FROM {name}", "--project", tmp_path / "p")
        assert "40 rows" in shown.out, shown.err


def _put(file: Path, day: int, column: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    times = [datetime(2026, 3, day, n) for n in range(20)]
    table = pa.table({"ts": times, column: [n / 3 for n in range(20)]})
    (pq.write_table if file.suffix == ".parquet" else pcsv.write_csv)(table, file)


def test_files_that_are_left_out_are_named(run: Run, tmp_path: Path, data: Path) -> None:
    assert "left out" not in run("init", tmp_path / "p", "--from", data).out
    for name in ("flights.csv.zip", "notes.docx", ".hidden", "_SUCCESS"):
        (data / name).write_bytes(b"PK")
    said = run("init", tmp_path / "q", "--from", data).out
    shown = f"{data / 'flights.csv.zip'}, {data / 'notes.docx'}"
    assert f"left out, as no files of data: {shown}\n" in said
