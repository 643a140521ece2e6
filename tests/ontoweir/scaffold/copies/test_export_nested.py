"""`ontoweir init --from` of Parquet whose times are within objects: flat copies of the project."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.errors import DataError
from ontoweir.scaffold.copies.export_nested import export_nested
from tests.ontoweir.conftest import Run

START = datetime(2026, 1, 5, 8, tzinfo=UTC)


def _row(n: int) -> dict[str, Any]:
    measured = [{"kind": "t", "v": 20.5 + n}, {"kind": "h", "v": 50.25}][: n % 3]
    about = {"id": f"d{n % 5}", "place": {"floor": n % 3}}
    return {"device": about, "sent": {"at": START + timedelta(minutes=n)}, "values": measured}


def _write(file: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file


def test_members_are_columns_and_elements_are_rows(tmp_path: Path) -> None:
    rows = [_row(n) for n in range(60)]
    rows[7]["device"] = None
    file = _write(tmp_path / "devices.parquet", rows)
    (tmp_path / "made").mkdir()
    lines, values = export_nested(file, tmp_path / "made")
    assert [lines.name, values.name] == ["devices.parquet", "devices_values.parquet"]
    about = [
        {
            "device_id": row["device"] and row["device"]["id"],
            "device_place_floor": row["device"] and row["device"]["place"]["floor"],
            "sent_at": row["sent"]["at"],
        }
        for row in rows
    ]
    assert pq.read_table(lines).to_pylist() == about
    assert pq.read_table(values).to_pylist() == [
        {**one, "values_kind": value["kind"], "values_v": value["v"]}
        for one, row in zip(about, rows, strict=True)
        for value in row["values"]
    ]


@pytest.mark.parametrize("folder", [False, True])
def test_a_project_of_nested_parquet(run: Run, tmp_path: Path, folder: bool) -> None:
    place = tmp_path / "devices"
    if folder:
        place.mkdir()
        for part in (0, 1):
            rows = [_row(n) for n in range(part * 30, part * 30 + 30)]
            _write(place / f"part{part}.parquet", rows)
    else:
        place = _write(tmp_path / "devices.parquet", [_row(n) for n in range(60)])
    ran = run("init", tmp_path / "p", "--from", place)
    assert ran.code == 0, ran.err
    assert "copied, as of now: data/devices.parquet, data/devices_values.parquet" in ran.out
    assert run("check", tmp_path / "p", "--data", "-q").code == 0
    text = "SELECT device_id, values_v FROM devices_values WHERE values_kind = 't'"
    shown = run("show", text, "--project", tmp_path / "p", "--format", "jsonl", "--limit", "0")
    found = [(one["device_id"], one["values_v"]) for one in map(json.loads, shown.out.splitlines())]
    assert sorted(found) == sorted((f"d{n % 5}", 20.5 + n) for n in range(60) if n % 3)


def test_what_has_a_time_outside_is_read_where_it_is(run: Run, tmp_path: Path) -> None:
    """Twin."""
    rows = [{**_row(n), "ts": START + timedelta(minutes=n)} for n in range(60)]
    file = _write(tmp_path / "devices.parquet", rows)
    assert export_nested(file, tmp_path / "p") == []
    ran = run("init", tmp_path / "p", "--from", file)
    assert (ran.code, "copied" in ran.out) == (0, False), ran.err
    assert "left out, as they are nested: devices.device" in ran.out


def test_what_has_no_objects_is_not_copied(tmp_path: Path) -> None:
    assert export_nested(_write(tmp_path / "a.parquet", [{"x": 1, "tags": ["a"]}]), tmp_path) == []
    (tmp_path / "a.jsonl").write_text('{"device": {"at": "2026-01-01T00:00:00Z"}}\n')
    assert export_nested(tmp_path / "a.jsonl", tmp_path) == []
    assert export_nested(tmp_path / "nowhere", tmp_path) == []


def test_files_of_several_shapes_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "devices"
    place.mkdir()
    _write(place / "a.parquet", [_row(n) for n in range(5)])
    _write(place / "b.parquet", [{"device": {"name": "d"}, "sent": {"at": START}, "values": []}])
    with pytest.raises(DataError, match="cannot be made flat"):
        export_nested(place, tmp_path)
