"""What is nested in files with types is read by path, as it is in JSON lines."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from ontoweir.cli import main

_ELEMENT = pa.struct({"kind": pa.string(), "v": pa.float64(), "more": pa.struct({"q": pa.int32()})})
SCHEMA = pa.schema(
    {
        "device": pa.struct({"id": pa.int64(), "place": pa.struct({"x": pa.int32()})}),
        "device.name": pa.string(),
        "meta": pa.struct({"time": pa.int64()}),
        "values": pa.list_(_ELEMENT),
        "levels": pa.list_(pa.int32()),
    }
)


def _record(name: str, **fields: Any) -> dict[str, Any]:
    held = [{"name": n, "type": kind} for n, kind in fields.items()]
    return {"type": "record", "name": name, "fields": held}


def _null_or(kind: Any) -> list[Any]:
    return ["null", kind]


def _array(kind: Any) -> dict[str, Any]:
    return {"type": "array", "items": kind}


_PLACE = _record("Place", x=_null_or("int"))
_DEVICE = _record("Device", id=_null_or("long"), place=_null_or(_PLACE), inner=_null_or("Device"))
_MORE = _record("More", q=_null_or("int"))
_VALUE = _record("V", kind=_null_or("string"), v=_null_or("double"), more=_null_or(_MORE))
AVRO = _record(
    "Reading",
    device=_null_or(_DEVICE),
    meta=_record("Meta", time="long"),
    values=_null_or(_array(_VALUE)),
    levels=_null_or(_array("int")),
)
TOML = """
[project]
[streams.reading]
source = {{ format = "{form}", path = "{path}"{unnest} }}
timestamp = {{ column = "ts", unit = "1 second", format = "epoch_s", from = ["meta.time"] }}
[streams.reading.columns]
device = {{ type = "int", from = "device.id", nullable = true }}
x = {{ type = "int", from = "device.place.x", nullable = true }}
"""
ELEMENTS = """
kind = { type = "string", from = "values.kind", nullable = true }
v = { type = "double", from = "values.v", nullable = true }
q = { type = "int", from = "values.more.q", nullable = true }
"""
LEVELS = """
level = { type = "int", from = "levels" }
"""


def _make(random: Random, rows: int) -> list[dict[str, Any]]:
    def maybe(value: Any) -> Any:
        return None if random.random() < 0.2 else value

    def element() -> dict[str, Any]:
        return {
            "kind": maybe(random.choice("ab")),
            "v": maybe(random.randint(0, 9) / 4),
            "more": maybe({"q": maybe(random.randint(0, 5))}),
        }

    return [
        {
            "device": maybe({"id": maybe(n % 7), "place": maybe({"x": maybe(n % 3)})}),
            "device.name": f"d{n}",
            "meta": {"time": 1_767_225_600 + n // 3},
            "values": maybe([element() for _ in range(random.randint(0, 3))]),
            "levels": maybe([random.randint(0, 3) for _ in range(random.randint(0, 3))]),
        }
        for n in range(rows)
    ]


def _write_json(rows: list[dict[str, Any]], path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, row_group_size=100)


def _write_arrow(rows: list[dict[str, Any]], path: Path) -> None:
    pf.write_feather(pa.Table.from_pylist(rows, SCHEMA), str(path), chunksize=64)


def _write_avro(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("wb") as file:
        fastavro.writer(file, AVRO, rows)


def _write_delta(rows: list[dict[str, Any]], path: Path) -> None:
    write_deltalake(path, pa.Table.from_pylist(rows, SCHEMA).drop_columns(["device.name"]))


def _write_iceberg(rows: list[dict[str, Any]], path: Path) -> None:
    made = pa.Table.from_pylist(rows, SCHEMA).drop_columns(["device.name"])
    catalog = SqlCatalog("here", uri="sqlite:///:memory:", warehouse=f"file://{path.parent}")
    catalog.create_namespace_if_not_exists("n")
    table = catalog.create_table("n.readings", made.schema, location=f"file://{path}")
    for start in (0, 200):  # two snapshots
        table.append(made.slice(start, 200 if not start else len(rows)))


WRITERS: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {
    "json": _write_json,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "avro": _write_avro,
    "delta": _write_delta,
    "iceberg": _write_iceberg,
}


def _replay(folder: Path, form: str, columns: str, unnest: str, query: str) -> list[str]:
    toml = TOML.format(form=form, path=f"data.{form}", unnest=unnest) + columns
    (folder / "ontoweir.toml").write_text(toml)
    out = folder / f"{form}.csv"
    arguments = ["replay", str(folder), query, "--output", str(out), "--expand", "-q"]
    assert main([*arguments, "--cache", "off"]) == 0
    return sorted(out.read_text().splitlines())


@pytest.mark.parametrize(
    ("columns", "unnest", "query"),
    [
        (ELEMENTS, ', unnest = "values"', "SELECT r.device, r.x, r.kind, r.v, r.q FROM reading r"),
        (LEVELS, ', unnest = "levels"', "SELECT r.device, r.level FROM reading r WHERE r.x = 1"),
        ("", "", "SELECT r.device, r.x FROM reading r"),
    ],
    ids=["objects", "numbers", "plain"],
)
def test_as_json_lines_are_read(columns: str, unnest: str, query: str, tmp_path: Path) -> None:
    rows = _make(Random(7), 500)
    found = {}
    for form, write in WRITERS.items():
        write(rows, tmp_path / f"data.{form}")
        found[form] = _replay(tmp_path, form, columns, unnest, query)
    assert len(found["json"]) > 20
    for form, lines in found.items():
        assert lines == found["json"], form


def test_a_name_with_dots_comes_before_a_path(tmp_path: Path) -> None:
    rows = _make(Random(1), 20)
    for row in rows:
        row["device"] = None
    _write_parquet(rows, tmp_path / "data.parquet")
    more = 'name = { type = "string", from = "device.name" }\n'
    lines = _replay(tmp_path, "parquet", more, "", "SELECT r.name FROM reading r")
    assert len(lines) == 21
    assert lines[0].startswith('"d0"')


@pytest.mark.parametrize(
    ("columns", "unnest", "said"),
    [
        ('far = { type = "int", from = "device.far" }\n', "", "far"),
        ('far = { type = "int", from = "device" }\n', "", "struct"),
        ('far = { type = "int", from = "device.id.far" }\n', "", "far"),
        ("", ', unnest = "device"', "struct"),
        ("", ', unnest = "nothing"', "nothing"),
    ],
)
def test_paths_that_lead_nowhere(
    columns: str, unnest: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("parquet", "avro"):
        WRITERS[form](_make(Random(2), 5), tmp_path / f"data.{form}")
        toml = TOML.format(form=form, path=f"data.{form}", unnest=unnest) + columns
        (tmp_path / "ontoweir.toml").write_text(toml)
        query = "SELECT r.far FROM reading r" if columns else "SELECT r.x FROM reading r"
        assert main(["replay", str(tmp_path), query, "--output", str(tmp_path / "o.csv")]) == 2
        error = capsys.readouterr().err
        assert f"data.{form}" in error
        assert said in error.replace("record", "struct")


def test_static_relations(tmp_path: Path) -> None:
    """By path, and an array's elements, as streams."""
    for form in ("parquet", "arrow", "avro"):
        WRITERS[form](_make(Random(3), 60), tmp_path / f"data.{form}")
        (tmp_path / "at.csv").write_text("ts,n\n2026-01-01T00:00:00,1\n")
        (tmp_path / "ontoweir.toml").write_text(
            f"""[project]
[streams.at]
source = {{ format = "csv", path = "at.csv", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ n = "int" }}
[relations.held]
source = {{ format = "{form}", path = "data.{form}", unnest = "levels" }}
[relations.held.columns]
device = {{ type = "int", from = "device.id", nullable = true }}
level = {{ type = "int", from = "levels" }}
"""
        )
        out = tmp_path / "o.csv"
        query = (
            "SELECT h.level, COUNT(*) AS n FROM at a, held h WHERE h.level >= a.n GROUP BY h.level"
        )
        assert main(["replay", str(tmp_path), query, "--final", "--output", str(out), "-q"]) == 0
        wanted: dict[int, int] = {}
        for row in _make(Random(3), 60):
            for level in row["levels"] or ():
                wanted[level] = wanted.get(level, 0) + (level >= 1)
        counted = {
            int(k): int(n) for k, n, *_ in (x.split(",") for x in out.read_text().splitlines()[1:])
        }
        assert counted == {k: n for k, n in wanted.items() if n}, form
