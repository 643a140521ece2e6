"""Merged parts of CSV, Arrow and Avro, whose files begin with their columns, have each row once."""

import csv
import io
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Literal

import fastavro
import pyarrow as pa
import pytest

from ontoweir.runtime.live.checkpoint.commit_record import PartsMark
from ontoweir.runtime.live.output import merge_parts
from ontoweir.runtime.live.output.drop_parts import let_go, remove_files
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter

Form = Literal["csv", "arrow", "avro"]
SCHEMA = pa.schema(
    {
        "n": pa.int64(),
        "text": pa.string(),
        "price": pa.decimal128(9, 2),
        "at": pa.timestamp("us", "UTC"),
    }
)
TEXTS = [None, "", "a\nb", 'say "so"\n', "é,;", "n", "\n"]


def _rows(rng: Random, batch: int) -> pa.Table:
    size = rng.choice([0, 1, 3, 50])
    columns = {
        "n": [batch * 1000 + n for n in range(size)],
        "text": [rng.choice(TEXTS) for _ in range(size)],
        "price": [rng.choice([None, Decimal("1.50"), Decimal("-7.25")]) for _ in range(size)],
        "at": [rng.choice([None, batch, 10**15]) for _ in range(size)],
    }
    return pa.table(columns, schema=SCHEMA)


def _read(file: Path, form: Form) -> list[Any]:
    match form:
        case "csv":
            header, *rows = csv.reader(io.StringIO(file.read_text("utf-8"), newline=""))
            assert header == SCHEMA.names
            return rows
        case "arrow":
            rows = pa.ipc.open_file(file).read_all().to_pylist()
            return [tuple(row.values()) for row in rows]
        case "avro":
            with file.open("rb") as opened:
                return [tuple(row.values()) for row in fastavro.reader(opened)]  # type: ignore[union-attr]


@pytest.mark.parametrize("form", ["csv", "arrow", "avro"])
def test_each_row_is_there_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form
) -> None:
    monkeypatch.setattr(merge_parts, "PATIENCE", 0.0)
    rng, folder = Random(form), PartFolder("answers", "q", form)
    writer = PartWriter("me", open_parts(tmp_path, PartsMark(), None, 3), {"answers": tmp_path})
    plain = PartWriter("me", open_parts(tmp_path, PartsMark(), None, None), {"answers": tmp_path})
    wanted = []
    for batch in range(40):
        rows = _rows(rng, batch)
        (tmp_path / "alone").write_bytes(plain.encode("q", rows, form, batch))
        wanted += _read(tmp_path / "alone", form)
        gone = let_go(writer)
        writer.parts.mark()
        remove_files(gone, writer)
        writer.put_all([(folder, rows)], batch)
        files = sorted((tmp_path / "q").glob(f"part-*.{form}"))
        assert [row for file in files for row in _read(file, form)] == wanted
    assert len(wanted) > 200
    assert len(files) < 12


@pytest.mark.parametrize("form", ["csv", "arrow", "avro"])
def test_twin_of_other_columns_nothing_is_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form
) -> None:
    monkeypatch.setattr(merge_parts, "PATIENCE", 0.0)
    folder = PartFolder("answers", "q", form)
    writer = PartWriter("me", open_parts(tmp_path, PartsMark(), None, 3), {"answers": tmp_path})
    for batch in range(12):
        gone = let_go(writer)
        writer.parts.mark()
        remove_files(gone, writer)
        writer.put_all([(folder, pa.table({f"n{batch % 2}": [batch]}))], batch)
    assert len([*(tmp_path / "q").glob(f"part-*.{form}")]) == 12
