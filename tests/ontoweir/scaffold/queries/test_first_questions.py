"""`ontoweir init --from`: files that are called as no table is, and first queries that keep little,
whose words say what they are about."""

import gzip
import tomllib
from pathlib import Path
from typing import Any

from tests.ontoweir.conftest import Run


def _init(run: Run, folder: Path, file: str, lines: list[str]) -> dict[str, Any]:
    text = "\n".join(lines) + "\n"
    if file.endswith(".gz"):
        (folder / file).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / file).write_text(text)
    ran = run("init", folder / "p", "--from", folder / file)
    assert ran.code == 0, ran.err
    assert run("check", folder / "p", "--data", "-q").code == 0
    catalog = tomllib.loads((folder / "p" / "ontoweir.toml").read_text())
    streams: dict[str, Any] = catalog["streams"]
    return streams


def _queries(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_text() for file in (folder / "p" / "queries").iterdir()}


def test_cells_in_a_file_that_is_called_otherwise(run: Run, tmp_path: Path) -> None:
    rows = [f"{n % 90}\t{n % 50}\t{n % 5}\t{881250949 + 977 * n}" for n in range(1000)]
    head = "user_id:token\titem_id:token\trating:float\ttimestamp:float"
    streams = _init(run, tmp_path, "ml.inter", [head, *rows])
    assert streams["ml"]["timestamp"]["format"] == "epoch_s"
    assert {"ml-above", "ml-by-hour", "ml-range"} <= {*_queries(tmp_path)}


def test_what_has_no_cells_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.note").write_text("one, two\nthree\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "a.note")
    assert (ran.code, "it is no file of data" in ran.err) == (2, True)


def test_a_packed_log(run: Run, tmp_path: Path) -> None:
    lines = [
        f'10.0.0.{n % 4} - - [01/Feb/2026:00:{n:02}:00 +0000] "GET / HTTP/1.1" 200 {n}'
        for n in range(60)
    ]
    streams = _init(run, tmp_path, "access.log.gz", lines)
    assert streams["access"]["columns"]["bytes"] == "int"
    assert [p.name for p in (tmp_path / "p" / "data").iterdir()] == ["access.csv"]


def test_rows_parted_by_runs_of_blanks_without_names(run: Run, tmp_path: Path) -> None:
    rows = [f" {n % 9:05} 199701{n % 28 + 1:02}  {n % 3 + 1}  {n % 50:6}.25" for n in range(280)]
    streams = _init(run, tmp_path, "sample.txt", sorted(rows, key=lambda row: row[7:15]))
    assert list(streams["sample"]["columns"]) == ["_c0", "_c2", "_c3"]


def test_numbers_in_a_header_above_days(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-01-{n:02},{n}.5,{n}.25" for n in range(1, 30)]
    assert list(_init(run, tmp_path, "sums.csv", ["ts,00,10", *rows])["sums"]["columns"]) == [
        "00",
        "10",
    ]


def test_twin_numbers_above_days_are_a_row(run: Run, tmp_path: Path) -> None:
    """Without a name above the days; and below what stands for a missing day."""
    rows = [f"2026-01-{n:02},{n}.5,{n}.25" for n in range(2, 30)]
    streams = _init(run, tmp_path, "sums.csv", ["2026-01-01,00,10", *rows])
    assert streams["sums"]["timestamp"]["column"] == "_c0"


def test_rows_are_about_what_all_of_them_have(run: Run, tmp_path: Path) -> None:
    """Not about holidays: in SPARQL there would be none on other days."""
    days = [
        f"2026-01-{n // 24 + 1:02} {n % 24:02}:00,{ {5: 'Epiphany', 8: 'Fair'}.get(n // 24, '') },"
        f"{('rain', 'sun', 'snow')[n * 7 % 3]},{n % 50}.5"
        for n in range(480)
    ]
    _init(run, tmp_path, "traffic.csv", ["ts,holiday,weather,flow", *days])
    asked = _queries(tmp_path)
    assert (
        ":ofWeather ?it"
        in asked["traffic-by-hour" if "traffic-by-hour" in asked else "traffic-by-day"]
    )
    assert "{holiday}" not in (tmp_path / "p" / "mapping.r2rml.ttl").read_text().partition(";")[0]


def test_thirty_car_parks_that_come_again_are_all(run: Run, tmp_path: Path) -> None:
    rows = [
        f"2026-03-{n // 720 + 1:02} {n // 30 % 24:02}:00:{n % 30:02},park{n % 30},{n % 97}"
        for n in range(3600)
    ]
    streams = _init(run, tmp_path, "parks.csv", ["ts,park,occupancy", *rows])
    assert len(streams["parks"]["columns"]["park"]["enum"]) == 30
    asked = _queries(tmp_path)
    assert "# The latest occupancy of each park: what holds now." in asked["parks-latest"]
    assert "# Every ParkEvent whose occupancy is above 72." in asked["parks-above"]
    assert run("check", tmp_path / "p", "--fail-on", "unbounded").code == 0


def test_twin_thirty_that_hardly_come_again_are_some(run: Run, tmp_path: Path) -> None:
    rows = [
        f"2026-03-{n // 720 + 1:02} {n // 30 % 24:02}:00:{n % 30:02},park{n % 30},{n % 97}"
        for n in range(600)
    ]
    streams = _init(run, tmp_path, "parks.csv", ["ts,park,occupancy", *rows])
    assert streams["parks"]["columns"]["park"] == "string"


def test_customers_called_by_an_id_that_comes_again(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-{n // 60 + 1:02}-{n % 28 + 1:02},{n * 7 % 40}" for n in range(600)]
    _init(run, tmp_path, "buys.csv", ["date,id", *sorted(rows)])
    asked = _queries(tmp_path)
    assert len(asked) == 3
    assert "within" in asked["buys-again"].splitlines()[0]
