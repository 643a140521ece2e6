"""Rows as messages that a schema registry describes: a zero, its number, a value."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from ontoweir.runtime.framed.schema_registry import SchemaRegistry
from ontoweir.runtime.packed.plain_type import plain_type
from ontoweir.runtime.packed.write_avro import avro_schema, plain_values
from ontoweir.runtime.results.plain_json import plain_json

MessageForm: TypeAlias = Literal["avro", "json"]


def frame_rows(
    rows: pa.Table, subject: str, form: MessageForm, registry: SchemaRegistry
) -> list[bytes]:
    """A message for each row, in the framing of Confluent's serializers. Their schema is registered
    under the subject, unless it is there already.

    Args:
        rows: of columns that Avro can name, where it is Avro.
        subject: by convention that of a topic's values, `TOPIC-value`.
        form: how values are written.
        registry: which knows the schema afterwards.

    Raises:
        RunError: the registry does not answer, or does not take the schema.
        UsageError: a column has a name that Avro does not have.
    """
    if form == "avro":
        described = avro_schema(rows.schema)
        number = registry.register(subject, "AVRO", json.dumps(described))
        bodies = _encode_avro(rows, described)
    else:
        number = registry.register(subject, "JSON", json.dumps(_describe_json(rows.schema)))
        texts = (dump_row(row) for row in rows.to_pylist())
        bodies = [text.encode() for text in texts]
    head = bytes([0]) + number.to_bytes(4, "big")
    return [head + body for body in bodies]


def dump_row(row: Mapping[str, object]) -> str:
    """A row as JSON text."""
    return json.dumps(row, default=plain_json, ensure_ascii=False)


def _encode_avro(rows: pa.Table, described: dict[str, Any]) -> list[bytes]:
    import fastavro

    parsed = fastavro.parse_schema(described)
    columns = [plain_values(rows.column(name).combine_chunks()) for name in rows.column_names]
    made = []
    for values in zip(*columns, strict=True):
        stream = BytesIO()
        row = dict(zip(rows.column_names, values, strict=True))
        fastavro.schemaless_writer(stream, parsed, row)
        made.append(stream.getvalue())
    return made


def _describe_json(schema: pa.Schema) -> dict[str, Any]:
    """JSON Schema of rows, each with all of its members."""
    members = {f.name: _json_types(plain_type(f.type), nullable=f.nullable) for f in schema}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Answer",
        "type": "object",
        "properties": members,
        "required": schema.names,
    }


def _json_types(kind: pa.DataType, *, nullable: bool) -> dict[str, Any]:
    """The types of a column's values: numbers that JSON cannot have, as NaN, are texts."""
    said: Sequence[str] = ["string"]
    if pa.types.is_integer(kind):
        said = ["integer"]
    elif pa.types.is_floating(kind):
        said = ["number", "string"]
    elif pa.types.is_boolean(kind):
        said = ["boolean"]
    types = [*said, *(["null"] if nullable else [])]
    return {"type": types if len(types) > 1 else types[0]}
