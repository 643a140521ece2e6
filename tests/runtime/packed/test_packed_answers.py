"""Answers in Arrow's own format and in Avro: what is read is what was written, or it is refused."""

import io
import os
from contextlib import suppress
from datetime import date
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import Any, Literal

import fastavro
import pyarrow as pa
import pytest

from ontoweir.answers.read_answers import find_answers
from ontoweir.cli import main
from ontoweir.dashboard.rows.page_rows import Look, page_rows
from ontoweir.errors import DataError, UsageError
from ontoweir.runtime.live.checkpoint.commit_record import PartsMark
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.sinks.files import FileFormat
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter
from ontoweir.runtime.packed import read_whole, write_avro
from ontoweir.runtime.packed.write_avro import AvroWriter, avro_schema
from ontoweir.runtime.results.write_results import OutputFormat, ResultWriter

QUERY = "hot-readings"
FAR = [0, -1, 253_402_300_799_999_999, None]
"""Microseconds: now and then, the last of the year 9999, and none."""
TABLE = pa.table(
    {
        "text": ["a\nb", "", None, "3f2504e0-4f89-41d3-9a0c-0305e82c3301"],
        "whole": pa.array([2**63 - 1, -(2**63), None, 0], pa.int64()),
        "short": pa.array([2**31 - 1, None, -(2**31), 7], pa.int32()),
        "double": pa.array([float("nan"), float("-inf"), 0.1, None], pa.float64()),
        "flag": [True, False, None, True],
        "price": pa.array([Decimal("-1.50"), None, Decimal("9" * 17 + ".99"), Decimal(0)]).cast(
            pa.decimal128(19, 2)
        ),
        "long": pa.array([Decimal("9" * 38), None, Decimal(-1), Decimal(0)], pa.decimal128(38, 0)),
        "day": pa.array([date(1, 1, 1), date(9999, 12, 31), None, date(2026, 2, 28)]),
        "at": pa.array(FAR, pa.timestamp("us")),
        "known": pa.array(FAR, pa.timestamp("us", "UTC")),
        "never": pa.array([None] * 4, pa.timestamp("us")),
    }
)
SCHEMA = TABLE.schema


def _write(output: Path, form: OutputFormat, *tables: pa.Table) -> Path:
    with ResultWriter(output, form, SCHEMA) as writer:
        for table in tables:
            writer.write(table)
        writer.commit()
    return output


def _read(file: Path) -> pa.Table:
    return pa.concat_tables(find_answers(file).read())


def _same(found: pa.Table, wanted: pa.Table) -> bool:
    """Whether rows are the same; a number that is none is itself."""
    assert found.schema.equals(wanted.schema), found.schema
    shown = [[_show(value) for value in t.to_pydict().values()] for t in (found, wanted)]
    return shown[0] == shown[1]


def _show(values: list[Any]) -> list[Any]:
    return ["NaN" if isinstance(v, float) and isnan(v) else v for v in values]


@pytest.mark.parametrize("name", ["a.arrow", "a.feather", "a.avro"])
def test_all_types_come_back(tmp_path: Path, name: str) -> None:
    form: Literal["arrow", "avro"] = "avro" if name.endswith("avro") else "arrow"
    file = _write(tmp_path / name, form, TABLE.slice(0, 1), TABLE.slice(1, 0), TABLE.slice(1))
    assert _same(_read(file), TABLE)
    assert not _same(_read(file), TABLE.slice(0, 3))
    assert _same(_read(_write(tmp_path / name, form)), TABLE.slice(0, 0))


def test_foreign_readers_see_the_same_rows(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.feather", "arrow", TABLE)
    assert _same(pa.ipc.open_file(file).read_all(), TABLE)
    with open(_write(tmp_path / "a.avro", "avro", TABLE), "rb") as opened:
        reader = fastavro.reader(opened)
        rows: list[Any] = list(reader)
        schema: Any = reader.writer_schema
    assert [row["price"] for row in rows] == TABLE["price"].to_pylist()
    assert [row["at"] for row in rows] == TABLE["at"].to_pylist()
    kinds = {field["name"]: field["type"][1] for field in schema["fields"]}
    assert kinds["at"]["logicalType"] == "local-timestamp-micros"
    assert kinds["known"]["logicalType"] == "timestamp-micros"
    assert kinds["day"] == {"type": "int", "logicalType": "date"}


def test_a_column_that_is_never_null_says_so() -> None:
    schema = pa.schema([pa.field("n", pa.int64(), nullable=False), pa.field("m", pa.int64())])
    assert [f["type"] for f in avro_schema(schema)["fields"]] == ["long", ["null", "long"]]


def test_the_same_rows_are_the_same_bytes() -> None:
    def encode(table: pa.Table) -> bytes:
        sink = io.BytesIO()
        writer = AvroWriter(sink, table.schema)
        writer.write_table(table)
        writer.close()
        return sink.getvalue()

    coded = TABLE.set_column(0, "text", TABLE["text"].dictionary_encode())
    assert encode(TABLE) == encode(TABLE) == encode(coded)
    assert encode(TABLE) != encode(TABLE.slice(1))


@pytest.mark.parametrize("name", ["héllo", "1st", "a-b", ""])
def test_names_that_avro_does_not_have_are_refused(tmp_path: Path, name: str) -> None:
    table = pa.table({"fine_1": [1], name: [2]})
    with pytest.raises(UsageError, match="cannot be written as Avro") as refused:
        ResultWriter(tmp_path / "a.avro", "avro", table.schema)
    assert repr(name) in refused.value.what
    assert list(tmp_path.iterdir()) == []
    with ResultWriter(tmp_path / "a.arrow", "arrow", table.schema) as writer:
        writer.write(table)
        writer.commit()
    assert _read(tmp_path / "a.arrow").equals(table)
    query: Any = type("Made", (), {"terms": None, "schema": table.schema})()
    bind_sink(make_sink("arrow", tmp_path, {}), query)
    with pytest.raises(UsageError, match="cannot be written as Avro"):
        bind_sink(make_sink("avro", tmp_path, {}), query)


@pytest.mark.parametrize("form", ["arrow", "avro"])
def test_what_fails_leaves_what_was_there(tmp_path: Path, form: OutputFormat) -> None:
    file = tmp_path / f"a.{form}"
    file.write_bytes(b"before")
    with suppress(RuntimeError), ResultWriter(file, form, SCHEMA) as writer:
        writer.write(TABLE)
        raise RuntimeError
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"before"]


def test_a_stream_that_breaks_off_does_not_say_that_it_ends(tmp_path: Path) -> None:
    def piped(*, fails: bool) -> Path:
        inlet, outlet = os.pipe()
        place = Path(f"/dev/fd/{outlet}")
        with suppress(RuntimeError), ResultWriter(place, "arrow", SCHEMA) as writer:
            writer.write(TABLE)
            if fails:
                raise RuntimeError
            writer.commit()
        os.close(outlet)
        file = tmp_path / "piped.arrow"
        with open(inlet, "rb") as opened:
            file.write_bytes(opened.read())
        return file

    assert _same(_read(piped(fails=False)), TABLE)
    with pytest.raises(DataError, match="does not say that it ends"):
        _read(piped(fails=True))


@pytest.mark.parametrize("form", ["arrow", "avro"])
def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path, form: OutputFormat) -> None:
    file = _write(tmp_path / f"a.{form}", form, TABLE)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        _read(file)
    file.write_bytes(b"something else")
    with pytest.raises(DataError, match="cannot be read"):
        _read(file)


def test_avro_of_other_programs_with_nested_values_is_refused(tmp_path: Path) -> None:
    schema: Any = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "tags", "type": {"type": "array", "items": "string"}}],
    }
    with open(tmp_path / "a.avro", "wb") as opened:
        fastavro.writer(opened, schema, [{"tags": ["a"]}])
    with pytest.raises(DataError, match="its column tags is of the type array"):
        _read(tmp_path / "a.avro")


def test_without_fastavro_nothing_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _write(tmp_path / "a.avro", "avro", TABLE)
    monkeypatch.setattr(write_avro, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="need fastavro") as refused:
        make_sink("avro", tmp_path, {})
    monkeypatch.setattr(read_whole, "find_spec", lambda _: None)
    assert "pip install 'ontoweir[avro]'" in str(refused.value)
    with pytest.raises(UsageError, match="need fastavro"):
        _read(file)
    make_sink("arrow", tmp_path, {})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `init` makes, which has data."""
    folder = str(tmp_path_factory.mktemp("made") / "project")
    assert main(["init", folder, "-q"]) == 0
    return folder


@pytest.fixture(scope="module")
def replayed(project: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The answers of a query of the example, in each format."""
    folder = tmp_path_factory.mktemp("replayed")
    files = {}
    for name in ("a.parquet", "a.arrow", "a.feather", "a.avro"):
        files[name] = folder / name
        asked = ["replay", project, "--query", QUERY, "-q"]
        assert main([*asked, "--output", str(files[name])]) == 0
    return files


@pytest.mark.parametrize("name", ["a.arrow", "a.feather", "a.avro"])
def test_a_replay_has_the_same_answers_in_each(
    replayed: dict[str, Path], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    wanted = _read(replayed["a.parquet"])
    found = _read(replayed[name])
    assert found.equals(wanted.replace_schema_metadata(None))
    assert found.num_rows > 0
    both = [str(replayed[name]), str(replayed["a.parquet"])]
    assert main(["diff", *both, "--exit-code"]) == 0
    assert page_rows(replayed[name], Look()).total == wanted.num_rows
    capsys.readouterr()


@pytest.mark.parametrize("form", ["arrow", "avro"])
def test_what_is_piped_is_shown(
    replayed: dict[str, Path],
    project: str,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    asked = ["replay", project, "--query", QUERY, "-q"]
    assert main([*asked, "--output", "-", "--format", form]) == 0
    piped = io.BytesIO(capfdbinary.readouterr().out)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(piped))
    assert main(["diff", "-", str(replayed["a.parquet"]), "--exit-code"]) == 0


def test_a_replay_without_fastavro_writes_nothing(
    project: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_avro, "find_spec", lambda _: None)
    asked = ["replay", project, "--query", QUERY, "-q"]
    assert main([*asked, "--output", str(tmp_path / "a.avro")]) == 2
    assert "pip install 'ontoweir[avro]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def _open(folder: Path, mark: PartsMark | None = None) -> PartWriter:
    parts = open_parts(folder, mark or PartsMark(), None)
    return PartWriter("me", parts, {"answers": folder / "out"})


@pytest.mark.parametrize("form", ["csv", "arrow", "avro"])
def test_live_parts_are_found_or_written_again(tmp_path: Path, form: FileFormat) -> None:
    writer, folder = _open(tmp_path), PartFolder("answers", "q", form)
    rows = {1: TABLE.slice(0, 2), 2: TABLE.slice(2)}
    for number, table in rows.items():
        writer.put("answers", "q", number, table, form)
    files = sorted((tmp_path / "out" / "q").glob(f"part-*.{form}"))
    assert len(files) == 2
    if form != "csv":  # which has no types
        assert _same(_read(tmp_path / "out" / "q"), TABLE)
    before = files[0].read_bytes()
    files[0].unlink()
    writer = _open(tmp_path, writer.parts.mark())
    check_parts(writer, [folder], 2, lambda part: rows[part.batch], may_be_gone=False)
    assert files[0].read_bytes() == before
    files[0].write_bytes(before[:-1] + b"?")
    with pytest.raises(UsageError, match="is not what was published"):
        check_parts(writer, [folder], 2, lambda part: None, may_be_gone=False)
