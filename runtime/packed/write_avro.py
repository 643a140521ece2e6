"""Write Arrow tables as an Avro file, by fastavro."""

import hashlib
import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.packed.plain_type import plain_type

_ROWS = 16_384
"""Rows that are Python values at once."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN: dict[pa.DataType, str] = {
    pa.null(): "null",
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.uint8(): "int",
    pa.uint16(): "int",
    pa.int64(): "long",
    pa.uint32(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
}


class AvroWriter:
    """Writes tables of one schema into what takes bytes. The same rows make the same bytes."""

    def __init__(self, sink: "BinaryIO | pa.NativeFile", schema: pa.Schema) -> None:
        from fastavro.write import Writer

        self.schema = schema
        described = avro_schema(schema)
        marker = hashlib.sha256(json.dumps(described).encode()).digest()[:16]
        bare: Any = _Bytes(sink)
        self._writer = Writer(bare, described, codec="deflate", sync_marker=marker)

    def write_table(self, table: pa.Table) -> None:
        """Append rows."""
        names = self.schema.names
        for batch in table.to_batches(max_chunksize=_ROWS):
            columns = [plain_values(column) for column in batch.columns]
            for values in zip(*columns, strict=True):
                self._writer.write(dict(zip(names, values, strict=True)))

    def close(self) -> None:
        """Write what is left; the sink stays open."""
        self._writer.flush()


class _Bytes:
    """A sink that fastavro can but append to: of one that could also be read, or is in the middle
    of something, it would look at what is there."""

    def __init__(self, sink: "BinaryIO | pa.NativeFile") -> None:
        self._sink = sink

    def write(self, content: bytes) -> int:
        """Append bytes."""
        self._sink.write(content)
        return len(content)

    def seekable(self) -> bool:
        """It is at no place."""
        return False

    def flush(self) -> None:
        """Whoever opened the sink does that."""


def require_avro(place: str) -> None:
    """See that Avro can be written and read.

    Args:
        place: what asks for it.

    Raises:
        UsageError: fastavro is not installed.
    """
    if find_spec("fastavro") is None:
        raise UsageError(
            "answers in Avro need fastavro, which is not installed",
            why="it is optional for ontoweir",
            fix="pip install 'ontoweir[avro]', or pip install fastavro",
            source=Source(place),
        )


def require_names(names: Sequence[str]) -> None:
    """See that columns may be called so in Avro.

    Raises:
        UsageError: one of them may not.
    """
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise UsageError(
            f"the column {wrong!r} cannot be written as Avro",
            why="a name in Avro has letters without accents, digits and _, and begins with no "
            "digit",
            fix="name it otherwise in the query (SQL: AS name; SPARQL: another variable), or write "
            "Arrow or Parquet, which take all names",
        )


def avro_schema(schema: pa.Schema) -> dict[str, Any]:
    """The schema of a file of rows: a record of columns, each of which may be NULL if Arrow's may.

    Raises:
        UsageError: a column has a name that Avro does not have.
    """
    require_names(schema.names)
    fields = []
    for field in schema:
        kind = _avro_type(field.type)
        union = field.nullable and kind != "null"
        fields.append({"name": field.name, "type": ["null", kind] if union else kind})
    return {"type": "record", "name": "Answer", "fields": fields}


def _avro_type(kind: pa.DataType) -> str | dict[str, Any]:
    """The type of a column's values."""
    kind = plain_type(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if pa.types.is_date32(kind):
        return {"type": "int", "logicalType": "date"}
    if pa.types.is_timestamp(kind):
        unit = "nanos" if kind.unit == "ns" else "micros"
        return {"type": "long", "logicalType": f"{'' if kind.tz else 'local-'}timestamp-{unit}"}
    if pa.types.is_decimal(kind):
        digits = {"precision": kind.precision, "scale": kind.scale}
        return {"type": "bytes", "logicalType": "decimal", **digits}
    raise TypeError(f"answers have no values of type {kind}")


def plain_values(column: pa.Array) -> list[Any]:
    """Values as fastavro takes them: times as numbers, as far as they may lie."""
    kind = plain_type(column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    elif pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if pa.types.is_timestamp(kind):
        unit = "ns" if kind.unit == "ns" else "us"
        column = column.cast(pa.timestamp(unit, kind.tz)).cast(pa.int64())
    elif pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    values: list[Any] = column.to_pylist()
    return values
