"""Read a small, plain static relation without Spark, where what Spark would read is certain."""

import csv
import json
import os
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.sources.read_source import read_header

SMALL_TEXT = 2 << 20
"""Bytes of CSV or JSON up to which it is read here."""
LARGEST_PARQUET = 1 << 30
"""Bytes of the columns in use of a Parquet file, as they are in memory, up to which it is read
here."""

_PATH = re.compile(r"[\w /.@+-]+")
_CELL = r'(?:"[^"]+"|[^",]*)'
_QUOTED_LINE = re.compile(rf"{_CELL}(?:,{_CELL})*")
_WHOLE = r"^-?[0-9]{1,18}$"
_NUMBER = r"^-?[0-9]{1,30}(\.[0-9]{1,30})?$"

Cells = dict[str, list[str | None]]


def read_small(data: DataSource, path: str, columns: Sequence[Column]) -> pa.Table | None:
    """The declared columns of one small local file, in their declared types, as read_source and
    Spark give them. None: Spark has to read it, because the file is large, or anything in it is
    not plain: escapes, cells that are not in their type's canonical form, dates and times,
    options. What breaks a declaration of types is left to Spark too, so that there is one message.
    """
    if not os.path.isfile(path) or not _PATH.fullmatch(path):
        return None
    name = os.path.basename(path)
    if name.startswith(("_", ".")):
        return None
    if data.format != "parquet" and os.path.getsize(path) > SMALL_TEXT:
        return None
    if data.format == "parquet":
        return None if data.options else _read_parquet(path, columns)
    readers: dict[str, tuple[tuple[str, ...], Callable[..., Cells | None]]] = {
        "csv": ((".csv", ".txt"), _read_csv),
        "json": ((".json", ".jsonl", ".ndjson", ".txt"), _read_json),
    }
    endings, read = readers.get(data.format, ((), _read_json))
    if not name.endswith(endings):
        return None
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    if any(c in text for c in "\r\0\ufeff"):
        return None
    cells = read(data, path, text, columns)
    if cells is None:
        return None
    typed = {c.name: _typed(cells[c.name], c.type) for c in columns}
    return None if any(v is None for v in typed.values()) else pa.table(typed)


def _read_parquet(path: str, columns: Sequence[Column]) -> pa.Table | None:
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            names = [n.lower() for n in schema.names]
            if len(set(names)) < len(names) or not {c.name for c in columns} <= set(schema.names):
                return None
            if not all(_same(schema.field(c.name).type, c.type) for c in columns):
                return None
            wanted = [c.name for c in columns]
            if _measure(file.metadata, wanted) > LARGEST_PARQUET:
                return None
            table = file.read(columns=wanted)
    except (OSError, pa.ArrowException):
        return None
    typed = {c.name: table.column(c.name).cast(arrow_type(c.type)) for c in columns}
    return pa.table(typed)


def _measure(file: pq.FileMetaData, names: Sequence[str]) -> int:
    """Bytes of columns, not compressed."""
    places = [file.schema.to_arrow_schema().get_field_index(name) for name in names]
    groups = [file.row_group(i) for i in range(file.num_row_groups)]
    return sum(group.column(p).total_uncompressed_size for group in groups for p in places)


def _same(there: pa.DataType, kind: ColumnType) -> bool:
    """Whether values of a type need no conversion that could fail or round."""
    match kind:
        case IntType():
            return bool(pa.types.is_signed_integer(there))
        case DecimalType(precision=precision, scale=scale):
            exact = pa.types.is_decimal128(there) and there.scale == scale
            return bool(exact and there.precision <= precision)
        case FloatType() | StringType() | BooleanType():
            return bool(there == arrow_type(kind))
        case DateType() | TimestampType():  # calendars and zones
            return False
        case _:
            assert_never(kind)


def _read_csv(data: DataSource, path: str, text: str, columns: Sequence[Column]) -> Cells | None:
    header = read_header(data, path)
    if header is None or not {c.name for c in columns} <= set(header) or "\\" in text:
        return None
    lines = text.removesuffix("\n").split("\n")[1:]
    if '"' in text:
        if not all(_QUOTED_LINE.fullmatch(line) for line in lines):
            return None
        rows = list(csv.reader(lines, strict=True))
    else:
        rows = [line.split(",") for line in lines]
    if not all(len(row) == len(header) and any(row) for row in rows):
        return None
    cells: Cells = {}
    for column in columns:
        place = header.index(column.name)
        values = [row[place] for row in rows]
        if any(v != v.strip() for v in values):
            return None
        cells[column.name] = [v or None for v in values]
    return cells


class _NotPlain(Exception):
    pass


def _read_json(data: DataSource, path: str, text: str, columns: Sequence[Column]) -> Cells | None:
    if data.options:
        return None
    names = [c.name for c in columns]
    other = {n.lower() for n in names}
    cells: Cells = {n: [] for n in names}

    def refuse(_: str) -> Any:
        raise _NotPlain

    def whole(digits: str) -> str:
        return refuse(digits) if digits == "-0" else digits

    def plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        odd = {k for k in row if k.lower() in other and k not in cells}
        if len(row) < len(pairs) or odd:
            raise _NotPlain
        return row

    for line in text.removesuffix("\n").split("\n"):
        try:
            row = json.loads(
                line,
                parse_float=refuse,
                parse_int=whole,
                parse_constant=refuse,
                object_pairs_hook=plain,
            )
        except (ValueError, RecursionError, _NotPlain):
            return None
        if not isinstance(row, dict) or not row:
            return None
        for name in names:
            cell = row.get(name)
            if cell is not None and not (isinstance(cell, str) and _is_text(cell)):
                return None
            cells[name].append(cell)
    return cells


def _is_text(cell: str) -> bool:
    """Whether it has no half of a surrogate pair, and nothing that Spark trims."""
    return cell == cell.strip() and not any("\ud800" <= c <= "\udfff" for c in cell)


def _typed(cells: list[str | None], kind: ColumnType) -> "pa.Array | None":
    """Texts as values of a type (None: one of them is not in canonical form)."""
    texts = pa.array(cells, pa.string())
    match kind:
        case StringType():
            return texts
        case IntType():
            return texts.cast(pa.int64()) if _all_match(texts, _WHOLE) else None
        case FloatType():
            if not _all_match(texts, _NUMBER):
                return None
            return pa.array([None if c is None else float(c) for c in cells], pa.float64())
        case BooleanType():
            if not _all_match(texts, "^(true|false)$"):
                return None
            return pa.array([None if c is None else c == "true" for c in cells], pa.bool_())
        case DecimalType(precision=precision, scale=scale):
            pattern = rf"^-?[0-9]{{1,{precision - scale}}}(\.[0-9]{{1,{scale}}})?$"
            if scale == 0 or scale == precision or not _all_match(texts, pattern):
                return None
            exact = [None if c is None else Decimal(c) for c in cells]
            return pa.array(exact, pa.decimal128(precision, scale))
        case DateType() | TimestampType():
            return None if texts.null_count < len(texts) else texts.cast(arrow_type(kind))
        case _:
            assert_never(kind)


def _all_match(texts: "pa.Array", pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py() is not False)
