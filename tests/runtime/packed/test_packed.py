"""Sources of Avro and Delta, without Spark: the rows are those of the same data as Parquet."""

import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from ontoweir.cli import main
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.project.project import load_project
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed import read_packed
from ontoweir.runtime.spark.explain_java import suggest_package
from ontoweir.runtime.verified.identify_streams import identify_relations

START = datetime(2026, 1, 5, 8, tzinfo=UTC)
COLUMNS = {
    "sensor": "string",
    "value": {"type": "double", "nullable": True},
    "price": "decimal(8,2)",
    "kind": "string",
    "day": "date",
    "id": "string",
    "seen": "timestamp",
    "n": "int",
    "ok": "boolean",
}
FIELDS: list[dict[str, Any]] = [
    {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "sensor", "type": "string"},
    {"name": "value", "type": ["null", "double"]},
    {
        "name": "price",
        "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2},
    },
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    {"name": "other", "type": ["null", "Kind"]},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
    {"name": "seen", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "n", "type": "long"},
    {"name": "ok", "type": "boolean"},
    {
        "name": "place",
        "type": {"type": "record", "name": "P", "fields": [{"name": "x", "type": "int"}]},
    },
    {"name": "mixed", "type": ["int", "string"]},
]


def _records(numbers: range) -> list[dict[str, Any]]:
    return [
        {
            "ts": START + timedelta(minutes=n // 2),
            "sensor": f"s{n % 2}",
            "value": None if n % 7 == 0 else n / 2,
            "price": Decimal(n) / 4,
            "kind": "AB"[n % 2],
            "other": "A" if n % 3 else None,
            "day": date(2026, 1, 5) + timedelta(n % 3),
            "id": UUID(int=n),
            "seen": START + timedelta(microseconds=n),
            "n": n - 50,
            "ok": n % 2 == 0,
            "place": {"x": n},
            "mixed": n,
        }
        for n in numbers
    ]


def _write_avro(file: Path, records: list[dict[str, Any]], codec: str = "deflate") -> Path:
    schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": FIELDS})
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        fastavro.writer(opened, schema, records, codec=codec)
    return file


def _table(records: list[dict[str, Any]]) -> pa.Table:
    held = [{n: r[n] for n in ("ts", *COLUMNS)} | {"id": str(r["id"])} for r in records]
    return pa.Table.from_pylist(held)


def _project(folder: Path, source: dict[str, Any], columns: Any = None) -> Path:
    folder.mkdir(exist_ok=True)
    declared = {**COLUMNS} if columns is None else columns

    def value(one: object) -> str:
        if not isinstance(one, dict):
            return json.dumps(one)
        return f"{{ {', '.join(f'{json.dumps(k)} = {value(v)}' for k, v in one.items())} }}"

    (folder / "ontoweir.toml").write_text(
        f"[project]\nqueries = []\n[streams.a]\nsource = {value(source)}\n"
        'timestamp = { column = "ts", unit = "1 minute" }\n'
        f"columns = {value(declared)}\n"
        f"[relations.r]\nsource = {value(source)}\ncolumns = {{ id = 'string', n = 'int' }}\n"
    )
    return folder


def _ask(folder: Path, output: Path, sql: str = "SELECT * FROM a") -> list[dict[str, Any]]:
    command = ["replay", str(folder), "--sql", sql, "--output", str(output), "-q"]
    assert main([*command, "--engine", "driver"]) == 0
    rows: list[dict[str, Any]] = pq.read_table(output).to_pylist()
    return rows


def _fail(folder: Path, capsys: pytest.CaptureFixture[str], sql: str = "SELECT * FROM a") -> str:
    output = folder / "none.parquet"
    command = ["replay", str(folder), "--sql", sql, "--output", str(output), "-q"]
    capsys.readouterr()
    assert main([*command, "--engine", "driver"]) == 2
    assert not output.exists()
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1, told
    return told


@pytest.fixture
def known(tmp_path: Path) -> list[dict[str, Any]]:
    """The answers over the same rows as Parquet."""
    pq.write_table(_table(_records(range(200))), tmp_path / "known.parquet")
    source = {"format": "parquet", "path": str(tmp_path / "known.parquet")}
    return _ask(_project(tmp_path / "k", source), tmp_path / "k.parquet")


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_avro_files_are_read_in_order(
    tmp_path: Path, known: list[dict[str, Any]], codec: str
) -> None:
    for number in range(4):  # more rows than one block has
        part = range(50 * number, 50 * number + 50)
        _write_avro(tmp_path / "data" / f"{number}.avro", _records(part), codec)
    (tmp_path / "data" / "note.txt").write_text("not of Avro")
    source = {"format": "avro", "path": str(tmp_path / "data")}
    project = _project(tmp_path / "p", source)
    assert _ask(project, tmp_path / "a.parquet") == known
    assert len(known) == 200
    joined = "SELECT a.n FROM a, r WHERE a.id = r.id"
    assert len(_ask(project, tmp_path / "j.parquet", joined)) == 200
    assert main(["check", str(project), "--data", "-q"]) == 0


def test_delta_has_no_order_of_its_own(tmp_path: Path, known: list[dict[str, Any]]) -> None:
    backwards = _table(_records(range(199, -1, -1)))
    write_deltalake(tmp_path / "d", backwards.slice(0, 90), partition_by=["sensor"])
    write_deltalake(tmp_path / "d", backwards.slice(90), mode="append")
    source = {"format": "delta", "path": str(tmp_path / "d")}
    project = _project(tmp_path / "p", source)
    found = _ask(project, tmp_path / "a.parquet")

    def order(row: dict[str, Any]) -> int:
        return int(row["n"])

    assert sorted(found, key=order) == sorted(known, key=order)
    joined = "SELECT a.n FROM a, r WHERE a.id = r.id"
    assert len(_ask(project, tmp_path / "j.parquet", joined)) == 200
    assert main(["check", str(project), "--data", "-q"]) == 0


def test_delta_has_what_its_log_says(tmp_path: Path) -> None:
    """Not what its files have: deleted rows are in them still, or in files that are not used."""
    write_deltalake(tmp_path / "d", _table(_records(range(100))), partition_by=["sensor"])
    source = {"format": "delta", "path": str(tmp_path / "d")}
    project = _project(tmp_path / "p", source)
    sql = "SELECT n FROM a"
    assert len(_ask(project, tmp_path / "a.parquet", sql)) == 100
    table = DeltaTable(tmp_path / "d")
    table.delete("sensor = 's0'")
    assert len(_ask(project, tmp_path / "b.parquet", sql)) == 50
    table.delete("n < 0")
    assert len(_ask(project, tmp_path / "c.parquet", sql)) == 25
    before = {**source, "options": {"versionAsOf": "0"}}
    assert len(_ask(_project(tmp_path / "q", before), tmp_path / "e.parquet", sql)) == 100
    catalog = load_project(project).catalog
    assert identify_relations(catalog, ["r"]) == {}  # nothing is recalled of it


def test_rejected_rows_name_the_file(tmp_path: Path) -> None:
    records = _records(range(20))
    records[13]["n"] = 1 << 40
    _write_avro(tmp_path / "a.avro", records)
    source = {"format": "avro", "path": str(tmp_path / "a.avro")}
    columns = {**COLUMNS, "n": {"type": "int", "min": -100, "max": 100}}
    project = _project(tmp_path / "p", source, columns)
    command = ["replay", str(project), "--sql", "SELECT n FROM a", "-q", "--engine", "driver"]
    output = ["--output", str(tmp_path / "o.csv"), "--rejects", str(tmp_path / "rejects")]
    assert main([*command, *output]) == 0
    (row,) = pq.read_table(tmp_path / "rejects" / "rejects.parquet").to_pylist()
    assert (row["file"], row["number"]) == (str(tmp_path / "a.avro"), 14)


@pytest.mark.parametrize("lateness", ["2 minutes", None])
def test_rows_that_come_late(tmp_path: Path, lateness: str | None) -> None:
    records = _records(range(100))
    for place in range(0, 96, 7):
        records[place], records[place + 3] = records[place + 3], records[place]
    pq.write_table(_table(records), tmp_path / "a.parquet", row_group_size=30)
    _write_avro(tmp_path / "a.avro", records)
    found = []
    for form in ("parquet", "avro"):
        source = {"format": form, "path": str(tmp_path / f"a.{form}")}
        project = _project(tmp_path / form, source)
        file = project / "ontoweir.toml"
        more = f', lateness = "{lateness}"' if lateness else ""
        text = file.read_text().replace('"1 minute"', f'"1 minute"{more}')
        file.write_text(text.replace("[relations.r]", "max_per_timestamp = 4\n[relations.r]"))
        output = tmp_path / f"{form}.out.parquet"
        command = ["replay", str(project), "--sql", "SELECT ts, n FROM a", "-q"]
        code = main([*command, "--engine", "driver", "--output", str(output)])
        assert code == (0 if lateness else 2)
        found.append(pq.read_table(output).to_pylist() if lateness else [])
    assert found[0] == found[1]
    assert len(found[0]) == (100 if lateness else 0)


def test_folders_name_values(tmp_path: Path) -> None:
    for site in ("east", "west"):
        part = range(20) if site == "east" else range(20, 40)
        _write_avro(tmp_path / "data" / f"site={site}" / "a.avro", _records(part))
    source = {"format": "avro", "path": str(tmp_path / "data")}
    project = _project(tmp_path / "p", source, {"n": "int", "site": "string"})
    found = _ask(project, tmp_path / "a.parquet")
    assert {(r["n"] < -30, r["site"]) for r in found} == {(True, "east"), (False, "west")}


@pytest.mark.parametrize("format", ["epoch_ms", None])
def test_times_as_numbers(tmp_path: Path, format: str | None) -> None:
    fields = [{"name": "ts", "type": "long"}, {"name": "n", "type": "int"}]
    schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": fields})
    scale = 1_000 if format else 1_000_000
    rows = [{"ts": scale * 60 * n, "n": n} for n in range(5)]
    with (tmp_path / "a.avro").open("wb") as opened:
        fastavro.writer(opened, schema, rows)
    project = _project(tmp_path / "p", {"format": "avro", "path": "../a.avro"}, {"n": "int"})
    file = project / "ontoweir.toml"
    text = file.read_text().replace("[relations.r]", "[relations.x]").replace("id = 'string', ", "")
    more = "" if format is None else f', format = "{format}"'
    file.write_text(text.replace('unit = "1 minute"', f'unit = "1 minute"{more}'))
    found = _ask(project, tmp_path / "a.parquet")
    assert [r["at"].minute for r in found] == [0, 1, 2, 3, 4]
    text = file.read_text()
    declared = '{ "n" = "int" }'
    assert declared in text
    file.write_text(text.replace(declared, '{ n = { type = "int", max = 3 } }', 1))
    rejects = tmp_path / "rejects"
    command = ["replay", str(project), "--sql", "SELECT * FROM a", "--rejects", str(rejects)]
    assert main([*command, "--output", str(tmp_path / "b.csv"), "-q"]) == 0
    (row,) = pq.read_table(rejects / "rejects.parquet").to_pylist()
    assert (row["file"], row["number"]) == (str(tmp_path / "a.avro"), 5)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"place": "string"}, "the column a.place is of type record, which holds no string values"),
        ({"mixed": "int"}, "the column a.mixed is of type int or string"),
        ({"nope": "int"}, "there is no column 'nope'"),
        ({"ok": "date"}, "the column a.ok is of type bool, which holds no date values"),
    ],
)
def test_columns_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], columns: dict[str, str], said: str
) -> None:
    _write_avro(tmp_path / "a.avro", _records(range(4)))
    source = {"format": "avro", "path": str(tmp_path / "a.avro")}
    told = _fail(_project(tmp_path / "p", source, columns), capsys)
    assert said in told
    assert told.startswith(f"{tmp_path}/a.avro: ")


def _broken(form: str) -> bytes:
    out = io.BytesIO()
    schema = {"type": "record", "name": "r", "fields": FIELDS} if form != "text" else "string"
    rows: list[Any] = _records(range(2000)) if form != "text" else ["x"]
    fastavro.writer(out, fastavro.parse_schema(schema), rows)
    return out.getvalue()[:-5_000] if form == "cut" else out.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it has 0 bytes"),
        (b"ts,n\n1,2\n", "the data cannot be read"),
        (_broken("cut"), "the data cannot be read"),
        (_broken("text"), "its values are no records"),
        (None, "there is no data for a"),
    ],
    ids=["empty", "text", "cut", "values", "none"],
)
def test_files_that_are_no_avro(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "a.avro").write_bytes(content)
    source = {"format": "avro", "path": str(tmp_path / "a.avro")}
    assert said in _fail(_project(tmp_path / "p", source, {"n": "int"}), capsys)


def test_folders_that_are_no_delta(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d").mkdir()
    source = {"format": "delta", "path": str(tmp_path / "d")}
    project = _project(tmp_path / "p", source, {"n": "int"})
    assert "the folder that the catalog names is empty" in _fail(project, capsys)
    pq.write_table(_table(_records(range(4))), tmp_path / "d" / "x.parquet")
    assert "the data cannot be read" in _fail(project, capsys)
    wrong = {**source, "options": {"versionAsOf": "9"}}
    write_deltalake(tmp_path / "d2", _table(_records(range(4))))
    wrong["path"] = str(tmp_path / "d2")
    assert "the data cannot be read" in _fail(_project(tmp_path / "q", wrong, {"n": "int"}), capsys)
    _fail(_project(tmp_path / "o", {**wrong, "options": {}}, {"nope": "int"}), capsys)


def test_mapped_columns_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their files have other names, by which they would be NULL."""
    write_deltalake(tmp_path / "d", _table(_records(range(4))))
    log = tmp_path / "d" / "_delta_log" / f"{0:020d}.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            line["metaData"]["configuration"]["delta.columnMapping.mode"] = "name"
            held = json.loads(line["metaData"]["schemaString"])
            for number, field in enumerate(held["fields"], 1):
                field["metadata"] = {
                    "delta.columnMapping.id": number,
                    "delta.columnMapping.physicalName": f"col-{number}",
                }
            line["metaData"]["schemaString"] = json.dumps(held)
        if "protocol" in line:
            line["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
    log.write_text("\n".join(map(json.dumps, lines)) + "\n")
    source = {"format": "delta", "path": str(tmp_path / "d")}
    told = _fail(_project(tmp_path / "p", source, {"n": "int"}), capsys)
    assert "the data cannot be read" in told


@pytest.mark.parametrize("form", ["avro", "delta"])
def test_without_the_package(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
) -> None:
    if form == "avro":
        path = _write_avro(tmp_path / "a.avro", _records(range(4)))
    else:
        path = tmp_path / "d"
        write_deltalake(path, _table(_records(range(4))))
    monkeypatch.setattr(read_packed, "find_spec", lambda name: None)
    source = {"format": form, "path": str(path)}
    told = _fail(_project(tmp_path / "p", source, {"n": "int"}), capsys)
    assert f"ontoweir[{form}]" in told
    assert main(["init", str(tmp_path / "i"), "--from", str(path)]) == 2
    assert f"pip install 'ontoweir[{form}]'" in capsys.readouterr().err
    said = suggest_package("/x", Exception(f"Failed to find the data source: {form}."))
    assert said is not None
    assert said.startswith(f"pip install 'ontoweir[{form}]'")


def test_options_of_sparks_are_sparks(tmp_path: Path) -> None:
    found = Located(str(tmp_path), (str(tmp_path / "a.avro"),))
    asked = [(), (("versionAsOf", "1"),), (("mode", "FAILFAST"),)]
    known = [
        [read_packed.is_packed(DataSource(form, "x", options), found) for options in asked]
        for form in ("avro", "delta", "orc")
    ]
    assert known == [[True, False, False], [True, True, False], [False, False, False]]
    assert not read_packed.is_packed(DataSource("avro", "s3://x"), Located("s3://x", None))


@pytest.mark.parametrize("form", ["avro", "delta"])
def test_projects_over_them(tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    if form == "avro":
        path = _write_avro(tmp_path / "a.avro", _records(range(200)))
    else:
        path = tmp_path / "a"
        write_deltalake(path, _table(_records(range(199, -1, -1))), partition_by=["sensor"])
    project = tmp_path / "p"
    assert main(["init", str(project), "--from", str(path)]) == 0
    told = capsys.readouterr().out
    assert ("that are not read: a.mixed\n" in told) == (form == "avro")  # place is read by path
    assert main(["check", str(project), "-q"]) == 0
    assert main(["check", str(project), "--mappings-only", "-q"]) == 0
    output = tmp_path / "o.parquet"
    command = ["replay", str(project), "--query", "a-by-hour", "--output", str(output), "-q"]
    assert main([*command, "--engine", "driver", "--final"]) == 0
    rows = pq.read_table(output).to_pylist()
    assert sum(r["rows"] for r in rows) == 102  # others are NULL, or of the hour that goes on
