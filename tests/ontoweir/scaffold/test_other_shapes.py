"""`ontoweir init --from` of times in several columns, no header, blanks around values, and tables
that are called after the things that they tell of."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.ontoweir.conftest import Run


def _init(run: Run, folder: Path, file: str, rows: list[str], *more: str) -> dict[str, Any]:
    (folder / file).write_text("\n".join(rows) + "\n")
    ran = run("init", folder / "p", "--from", folder / file, *more)
    assert ran.code == 0, ran.err
    assert run("check", folder / "p", "--data", "-q").code == 0
    catalog = tomllib.loads((folder / "p" / "ontoweir.toml").read_text())
    streams: dict[str, Any] = catalog["streams"]
    return streams


def _show(run: Run, asked: str, project: Path) -> str:
    ran = run("show", asked, "--project", project, "--limit", "0")
    assert ran.code == 0, ran.err
    return ran.out


def test_a_year_a_month_a_day_and_an_hour(run: Run, tmp_path: Path) -> None:
    rows = [f"2026,{1 + n // 48},{1 + n // 24 % 2},{n % 24},{n % 7}.5" for n in range(96)]
    streams = _init(run, tmp_path, "air.csv", ["year,month,day,hour,pm", *rows])
    assert streams["air"]["timestamp"] == {
        "column": "ts",
        "unit": "1 hour",
        "format": "%Y %m %d %H",
        "from": ["year", "month", "day", "hour"],
    }
    asked = "SELECT ts, pm FROM air WHERE ts >= TIMESTAMP '2026-02-02 23:00:00'"
    assert "2026-02-02 23:00:00" in _show(run, asked, tmp_path / "p")


def test_the_same_where_a_part_is_none(run: Run, tmp_path: Path) -> None:
    rows = [f"2026,{n},1,{n}.5" for n in range(1, 14)]  # there is no thirteenth month
    (tmp_path / "air.csv").write_text("\n".join(["year,month,day,pm", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "air.csv")
    assert (ran.code, "has a time that goes on" in ran.err) == (2, True)


def test_cells_parted_by_blanks_below_no_header(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-02-28 08:{n:02}:03.5 {n % 3 + 1} {n}.25" for n in range(60)]
    streams = _init(run, tmp_path, "motes.txt", rows, "--names", "day,clock,mote,celsius")
    stream = streams["motes"]
    assert stream["source"]["options"] == {"sep": " ", "names": "day|clock|mote|celsius"}
    assert stream["timestamp"]["from"] == ["day", "clock"]
    asked = "SELECT mote, celsius FROM motes WHERE celsius > 57"
    shown = _show(run, asked, tmp_path / "p")
    assert all(number in shown for number in ("57.25", "58.25", "59.25"))


def test_what_has_no_header_says_how_to_name_its_columns(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-02-28T08:{n:02}:00,{n % 3},{n}.5" for n in range(60)]
    _init(run, tmp_path, "log.csv", rows)
    assert "--names log=a,b,c" in (tmp_path / "p" / "ontoweir.toml").read_text()


def test_names_of_some_columns(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-02-28T08:{n:02}:00,{n % 3},{n}.5" for n in range(60)]
    streams = _init(run, tmp_path, "log.csv", rows, "--names", "log=at,place")
    assert streams["log"]["timestamp"]["column"] == "at"
    assert [*streams["log"]["columns"]] == ["place", "_c2"]


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ("a,,b", "has no name for a column"),
        ("other=a,b", "--names is of a table 'other', which there is not"),
        ("at,x,X", "names has 'x' twice"),
    ],
)
def test_names_that_are_wrong(names: str, what: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("2026-02-28T08:00:00,1,2\n2026-02-28T08:01:00,1,2\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "log.csv", "--names", names)
    assert ran.code == 2
    assert what in ran.err
    assert not (tmp_path / "p").exists()


def test_names_of_what_is_no_csv(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"ts": "2026-02-28T08:00:00", "v": 1}\n')
    ran = run("init", tmp_path / "p", "--from", tmp_path / "log.jsonl", "--names", "a,b")
    assert (ran.code, "--names of" in ran.err, "which is jsonl" in ran.err) == (2, True, True)


def test_blanks_around_numbers_and_what_is_missing(run: Run, tmp_path: Path) -> None:
    rows = [f"M{n % 2},2026-01-05 {n:02}:00:00, {'Null' if n == 5 else n} " for n in range(24)]
    streams = _init(run, tmp_path, "lcl.csv", ["LCLid,DateTime,kwh ", *rows])
    stream = streams["lcl"]
    assert stream["source"]["options"] == {"header": "true", "nullValues": "Null"}
    assert stream["columns"]["kwh "] == {"type": "int", "nullable": True}
    asked = "SELECT LCLid, SUM(`kwh `) AS total FROM lcl GROUP BY LCLid"
    shown = _show(run, asked, tmp_path / "p")
    assert "132" in shown  # 0 + 2 + … + 22
    assert "139" in shown  # 1 + 3 + … + 23, without the 5


def test_rows_about_things_are_not_called_by_them(run: Run, tmp_path: Path) -> None:
    rows = [f"{n % 30},2026-01-05T08:{n // 30:02}:00,{n}.5" for n in range(900)]
    streams = _init(run, tmp_path, "vehicles.csv", ["vehicle_id,ts,speed", *rows])
    assert streams["vehicles"]["keys"] == [["ts", "vehicle_id"]]
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    assert "vehicles/{vehicle_id}/{ts}" in mapping
    assert 'vehicles/{vehicle_id}"' not in mapping


def test_things_of_their_own_are(run: Run, tmp_path: Path) -> None:
    rows = [f"{n},2026-01-05T08:{n % 60:02}:00,{n}.5" for n in range(60)]
    streams = _init(run, tmp_path, "orders.csv", ["order_id,ts,price", *rows])
    assert [*streams] == ["orders"]
    assert "orders/{order_id}" in (tmp_path / "p" / "mapping.r2rml.ttl").read_text()


def test_numbers_of_rows_are_no_things(run: Run, tmp_path: Path) -> None:
    rows = [f"{n},2026-01-05T08:{n:02}:00,{n % 2},{n}.5" for n in range(60)]
    _init(run, tmp_path, "air.csv", ["No,ts,mmsi,pm", *rows])
    queries = "".join(q.read_text() for q in (tmp_path / "p" / "queries").iterdir())
    assert ":ofMmsi ?it" in queries
    assert ":ofNo" not in queries


def test_a_column_for_each_sensor(run: Run, tmp_path: Path) -> None:
    rows = [f"2026-03-01T{n:02}:00Z,{n}.5,{n}.25,{'' if n == 3 else n / 4},x" for n in range(24)]
    _init(run, tmp_path, "wide.csv", ["time,T01,T02,T03,note", *rows])
    shown = run("show", "wide-of-each-column", "--project", tmp_path / "p", "--format", "csv").out
    means = {row.split(",")[0]: float(row.split(",")[2]) for row in shown.splitlines()[1:]}
    assert means == {"T01": 12.0, "T02": 11.75, "T03": pytest.approx((69 - 0.75) / 23)}
