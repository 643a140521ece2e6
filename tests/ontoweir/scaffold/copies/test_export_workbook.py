"""`ontoweir init --from` of a workbook: its sheets are Parquet files of the project."""

from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import DataError, UsageError
from ontoweir.scaffold.copies import export_workbook as module
from ontoweir.scaffold.copies.export_workbook import export_workbook
from tests.ontoweir.conftest import Run

START = datetime(2026, 1, 5, 8)


def _write(file: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file


def _read(folder: Path, rows: list[list[Any]]) -> pa.Table:
    file = _write(folder / "book.xlsx", {"one": rows})
    (made,) = export_workbook(file, folder)
    assert made == folder / "book.parquet"
    return pq.read_table(made)


def test_a_project_of_sheets(tmp_path: Path, run: Run) -> None:
    readings = [[START + timedelta(minutes=n), f"s{n % 3}", 20 + n / 4] for n in range(60)]
    sensors = [[f"s{n}", f"room {n}"] for n in range(3)]
    sheets: dict[str, list[list[Any]]] = {
        "Readings": [["Report of the plant"], [], ["at", "sensor", "celsius"], *readings],
        "sensors": [["sensor", "room"], *sensors],
        "empty": [],
        "note": [["see the other sheet"]],
    }
    file = _write(tmp_path / "plant.xlsx", sheets)
    told = run("init", tmp_path / "p", "--from", file)
    assert told.code == 0, told.err
    assert "copied, as of now: data/Readings.parquet, data/sensors.parquet" in told.out
    assert run("check", tmp_path / "p").code == 0
    asked = "SELECT r.celsius, s.room FROM readings r, sensors s WHERE r.sensor = s.sensor"
    assert "34.75" in run("show", asked, tmp_path / "p", "--limit", 0).out


def test_types(tmp_path: Path) -> None:
    head: list[Any] = [
        "day",
        "when",
        "mixed",
        "whole",
        "real",
        "yes",
        "clock",
        "long",
        "none",
        None,
        "none",
    ]
    rows: list[list[Any]] = [
        [date(2026, 1, 5), START, "a", 1, 2, True, time(8, 30), timedelta(hours=30), None, None, 1],
        [date(2026, 1, 6), None, 7, None, 2.5, None, None, None, "#N/A", None, None],
    ]
    table = _read(tmp_path, [head, *rows])
    assert table.column_names == [*head[:8], "none8", "none10"]
    kinds = {f.name: f.type for f in table.schema}
    assert (kinds["when"], kinds["whole"]) == (pa.timestamp("us"), pa.int64())
    assert (kinds["real"], kinds["yes"]) == (pa.float64(), pa.bool_())
    assert table.column("day").to_pylist() == [datetime(2026, 1, 5), datetime(2026, 1, 6)]
    assert table.column("mixed").to_pylist() == ["a", "7"]
    assert table.column("clock").to_pylist() == ["08:30:00", None]
    assert table.column("none8").to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([["a", "b"], [1, 2]], ["a", "b"]),
        ([["title"], ["a", "b"], [1, 2]], ["a", "b"]),
        ([["a", "b", None], [1, 2, 3]], ["a", "b", "_c2"]),
        ([["a", "A"], ["b", "c"], [1, 2]], ["a0", "A1"]),
        ([["only"], [1], [2]], ["only"]),
        ([["one", "two"], [None, "three"], ["x", "y"]], ["one", "two"]),
    ],
)
def test_names(tmp_path: Path, rows: list[list[Any]], names: list[str]) -> None:
    assert _read(tmp_path, rows).column_names == names


def test_sheets_without_rows(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.xlsx", {"one": [["a", "b"]], "two": [[1, 2], [3, 4]]})
    with pytest.raises(UsageError, match="no sheet has rows"):
        export_workbook(file, tmp_path)


def test_what_is_no_workbook(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="the workbook cannot be read"):
        export_workbook(tmp_path / "a.xlsx", tmp_path)
    with pytest.raises(UsageError, match="there is no"):
        export_workbook(tmp_path / "none.xlsx", tmp_path)
    (tmp_path / "a.xls").write_text("x")
    told = run("init", tmp_path / "p", "--from", tmp_path / "a.xls")
    assert "save it as .xlsx" in told.err
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"ontoweir\[excel\]"):
        export_workbook(tmp_path / "a.xlsx", tmp_path)
