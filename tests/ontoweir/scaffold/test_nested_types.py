"""`ontoweir init --from` of formats with types, in which objects and arrays are nested: members are
columns by path, elements rows, read where they are."""

import json
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from tests.ontoweir.conftest import Run

START = datetime(2026, 1, 5, 8, tzinfo=UTC)
_VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [{"name": "kind", "type": "string"}, {"name": "v", "type": "double"}],
}
_DEVICE = {
    "type": "record",
    "name": "Device",
    "fields": [{"name": "id", "type": "string"}, {"name": "floor", "type": "int"}],
}
AVRO = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "device", "type": _DEVICE},
        {"name": "values", "type": {"type": "array", "items": _VALUE}},
    ],
}


def _row(n: int) -> dict[str, Any]:
    measured = [{"kind": "t", "v": 20.5 + n}, {"kind": "h", "v": 50.25}][: n % 3]
    about = {"id": f"d{n % 5}", "floor": n % 3}
    return {"ts": START + timedelta(minutes=n), "device": about, "values": measured}


ROWS = [_row(n) for n in range(60)]


def _write_avro(rows: pa.Table, path: Path) -> None:
    with path.open("wb") as file:
        fastavro.writer(file, AVRO, rows.to_pylist())


def _write_iceberg(rows: pa.Table, path: Path) -> None:
    catalog = SqlCatalog("here", uri="sqlite:///:memory:", warehouse=f"file://{path.parent}")
    catalog.create_namespace("n")
    catalog.create_table("n.devices", rows.schema, location=f"file://{path}").append(rows)
    catalog.close()


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "devices.parquet": lambda rows, path: pq.write_table(rows, path),
    "devices.arrow": lambda rows, path: pf.write_feather(rows, str(path)),
    "devices.avro": _write_avro,
    "devices": lambda rows, path: write_deltalake(path, rows),
    "devices_": _write_iceberg,
}


@pytest.mark.parametrize("name", WRITERS)
def test_members_are_columns_and_elements_rows(run: Run, tmp_path: Path, name: str) -> None:
    WRITERS[name](pa.Table.from_pylist(ROWS), tmp_path / name)
    ran = run("init", tmp_path / "p", "--from", tmp_path / name)
    assert ran.code == 0, ran.err
    assert "copied" not in ran.out
    assert "left out" not in ran.out
    held = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]
    outer, inner = held.values()
    assert outer["columns"].keys() == {"device_id", "device_floor"}
    assert outer["columns"]["device_floor"] == {"type": "int", "from": "device.floor"}
    assert inner["source"]["unnest"] == "values"
    assert inner["columns"]["values_v"] == {"type": "double", "from": "values.v"}
    assert run("check", tmp_path / "p", "--data", "-q", "--fail-on", "undecided").code == 0
    stream = next(n for n in held if n.endswith("_values"))
    text = f"SELECT device_id, values_v FROM {stream} WHERE values_kind = 't'"
    shown = run("show", text, "--project", tmp_path / "p", "--format", "jsonl", "--limit", "0")
    found = [(one["device_id"], one["values_v"]) for one in map(json.loads, shown.out.splitlines())]
    assert sorted(found) == sorted((f"d{n % 5}", 20.5 + n) for n in range(60) if n % 3)


@pytest.mark.parametrize("folder", [False, True])
def test_a_time_within_an_object(run: Run, tmp_path: Path, folder: bool) -> None:
    """Also of a folder, one of whose files lacks a member."""
    rows = [{"sent": {"at": r["ts"]}, "device": r["device"], "tags": ["a"]} for r in ROWS]
    place = tmp_path / "devices.parquet"
    if folder:
        place = tmp_path / "devices"
        place.mkdir()
        pq.write_table(pa.Table.from_pylist(rows[:30]), place / "part0.parquet")
        pq.write_table(pa.Table.from_pylist(rows[30:]), place / "part1.parquet")
    else:
        pq.write_table(pa.Table.from_pylist(rows), place)
    ran = run("init", tmp_path / "p", "--from", place)
    assert ran.code == 0, ran.err
    assert "left out, as they are nested, or of types that are not read: devices.tags" in ran.out
    stream = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())["streams"]["devices"]
    assert stream["timestamp"]["from"] == ["sent.at"]
    assert run("check", tmp_path / "p", "--data", "-q").code == 0
    text = "SELECT d.device_id, d.device_floor FROM devices d"
    shown = run("show", text, "--project", tmp_path / "p", "--format", "jsonl", "--limit", "0")
    found = [json.loads(line)["device_id"] for line in shown.out.splitlines()]
    assert sorted(found) == sorted(f"d{n % 5}" for n in range(60))


def test_a_static_relation(run: Run, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "readings.parquet")
    about = [{"name": f"d{n}", "place": {"room": f"r{n}"}} for n in range(5)]
    pq.write_table(pa.Table.from_pylist(about), tmp_path / "devices.parquet")
    files = [tmp_path / "readings.parquet", tmp_path / "devices.parquet"]
    ran = run("init", tmp_path / "p", "--from", files[0], "--from", files[1])
    assert ran.code == 0, ran.err
    held = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    assert held["relations"]["devices"]["columns"]["place_room"]["from"] == "place.room"
    text = "SELECT r.device_id, d.place_room FROM readings r JOIN devices d ON d.name = r.device_id"
    shown = run("show", text, "--project", tmp_path / "p", "--format", "jsonl", "--limit", "0")
    found = [json.loads(line)["place_room"] for line in shown.out.splitlines()]
    assert sorted(found) == sorted(f"r{n % 5}" for n in range(60))
