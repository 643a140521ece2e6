"""Read an Avro file as Arrow tables, by fastavro."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ontoweir.runtime.packed.packed_file import PackedFile
from ontoweir.runtime.sources.read_source import unreadable

_ROWS = 65_536
_PLAIN = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
    "fixed": pa.binary(),
}
_LOGICAL = {
    ("int", "date"): pa.date32(),
    ("long", "timestamp-millis"): pa.timestamp("us", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "timestamp-nanos"): pa.timestamp("ns", "UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("us"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
    ("long", "local-timestamp-nanos"): pa.timestamp("ns"),
    ("int", "time-millis"): None,
    ("long", "time-micros"): None,
    ("string", "uuid"): pa.string(),
}
"""Times of day are no values that can be declared."""
_NONE: frozenset[str] = frozenset()


def read_avro(file: str, names: Collection[str], *, deep: bool = False) -> PackedFile:
    """An Avro file, with the columns wanted, as far as it has them.

    Raises:
        DataError: it is no Avro file of records, or cannot be read.
    """
    import fastavro

    try:
        with open(file, "rb") as opened:
            schema = fastavro.reader(opened).writer_schema
    except Exception as error:
        raise unreadable(file, error) from error
    if not isinstance(schema, dict) or schema.get("type") not in ("record", "error"):
        raise unreadable(file, ValueError("its values are no records"))
    named: dict[str, Mapping[str, Any]] = {}
    _collect(schema, named)
    types, nested = {}, {}
    for field in schema["fields"]:
        kind = _arrow_type(field["type"], named, deep=deep)
        if kind is not None:
            types[field["name"]] = kind
        else:
            nested[field["name"]] = _describe(field["type"])
    held = pa.schema(types)
    wanted = {name: kind for name, kind in types.items() if name in names}
    return PackedFile(file, held, nested, _read_rows(file, pa.schema(wanted)))


def _read_rows(file: str, schema: pa.Schema) -> Iterator[pa.Table]:
    import fastavro

    try:
        with open(file, "rb") as opened:
            records = iter(fastavro.reader(opened))
            while portion := list(islice(records, _ROWS)):
                columns = [_column([row[f.name] for row in portion], f.type) for f in schema]  # type: ignore[index]
                columns = columns or [pa.nulls(len(portion))]
                yield pa.table(columns, schema=schema or pa.schema({"": pa.null()}))
    except Exception as error:  # of a broken file, whatever its codec raises
        raise unreadable(file, error) from error


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Values as an array: strings, as of UUIDs, are made of what they are, also in nested ones."""
    if pa.types.is_string(kind):
        values = [None if value is None else str(value) for value in values]
    if pa.types.is_struct(kind):
        there = pa.array([value is None for value in values], pa.bool_())
        fields = list(kind)
        made = [
            _column([None if v is None else v.get(f.name) for v in values], f.type) for f in fields
        ]
        return pa.StructArray.from_arrays(made, fields=fields, mask=there)
    if pa.types.is_list(kind):
        ends = np.cumsum([0, *(0 if value is None else len(value) for value in values)])
        places = pa.array(ends, pa.int32(), mask=np.array([*(v is None for v in values), False]))
        held = _column([one for v in values if v is not None for one in v], kind.value_type)
        return pa.ListArray.from_arrays(places, held)
    return pa.array(values, kind)


def _arrow_type(
    kind: Any, named: Mapping[str, Mapping[str, Any]], *, deep: bool, inside: frozenset[str] = _NONE
) -> "pa.DataType | None":
    """The type of a field's values (None: they are of several types; or nested, and these are not
    wanted, `deep`, or in themselves, as those of the names `inside`)."""
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        if not others:
            return pa.null()
        one = others[0] if len(others) == 1 else None
        return None if one is None else _arrow_type(one, named, deep=deep, inside=inside)
    if isinstance(kind, str):
        if kind in named and kind not in _PLAIN:
            return _arrow_type(named[kind], named, deep=deep, inside=inside)
        return _PLAIN.get(kind)
    base, logical = kind["type"], kind.get("logicalType")
    if isinstance(base, dict | list):
        return _arrow_type(base, named, deep=deep, inside=inside)
    if logical == "decimal" and base in ("bytes", "fixed"):
        precision = int(kind["precision"])
        return pa.decimal128(precision, int(kind.get("scale", 0))) if precision <= 38 else None
    if (base, logical) in _LOGICAL:
        return _LOGICAL[base, logical]
    if base in ("record", "error", "array") and deep:
        return _nested_type(kind, named, inside)
    return _arrow_type(base, named, deep=deep, inside=inside)


def _nested_type(
    kind: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]], inside: frozenset[str]
) -> "pa.DataType | None":
    """The type of an array, or of a record, with those of its fields that have one."""
    if kind["type"] == "array":
        held = _arrow_type(kind["items"], named, deep=True, inside=inside)
        return None if held is None else pa.list_(held)
    name = str(kind.get("name"))
    if name in inside:
        return None
    within = inside | {name}
    fields = {
        field["name"]: made
        for field in kind["fields"]
        if (made := _arrow_type(field["type"], named, deep=True, inside=within)) is not None
    }
    return pa.struct(fields) if fields else None


def _collect(kind: Any, named: dict[str, Mapping[str, Any]]) -> None:
    """Note the types that have names, which others may refer to."""
    if isinstance(kind, list):
        for one in kind:
            _collect(one, named)
    elif isinstance(kind, dict):
        if "name" in kind:
            if kind["name"] in named:
                return
            named[kind["name"]] = kind
        for field in kind.get("fields", ()):
            _collect(field["type"], named)
        for part in ("items", "values"):
            _collect(kind.get(part), named)
        if isinstance(kind["type"], dict | list):
            _collect(kind["type"], named)


def _describe(kind: Any) -> str:
    if isinstance(kind, list):
        return " or ".join(_describe(one) for one in kind if one != "null")
    return str(kind.get("logicalType") or kind["type"]) if isinstance(kind, dict) else str(kind)
