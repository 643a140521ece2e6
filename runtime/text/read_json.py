"""Read local JSON lines as Spark reads them, without Spark: block by block, in bounded memory.

A value is the text that it is written with (of a string, what it says), which is then cast to its
column's declared type by the rules for all text. Where all values of a block are written as their
types usually are, Arrow's reader converts them, or, if its lines differ in numbers, truth and plain
texts alone, but for a few, nobody parses them (read_uniform); else Arrow is given them as strings
(quote_values). Lines that it does not take are parsed one by one (parse_line), with those of the
same part.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.json as pjson

from ontoweir.mappings.model.catalog import (
    LIVE_OPTIONS,
    BooleanType,
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
)
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.text.convert_text import NotPlain, all_finite
from ontoweir.runtime.text.open_packed import BYTE_ORDER_MARK, cut_blocks, cut_parts, open_packed
from ontoweir.runtime.text.parse_line import parse_line
from ontoweir.runtime.text.quote_values import quote_values
from ontoweir.runtime.uniform.read_uniform import read_uniform

CORRUPT = "__corrupt"
"""The column with the text of a line that is not a JSON object, which has no other values (NULL: it
is one)."""
_AT_ONCE = 1 << 20
"""Bytes that a thread of Arrow's parses."""
_PIECE = 1 << 14
"""Bytes of lines that are parsed with one that is not like the others."""
_ROOM = re.compile(rb"[ \t]*\n[ \t\n]*")
_ODD_NUMBER = re.compile(rb"[:\[,][ \t]*(?:-?Inf(?!inity)|-NaN)|[0-9.eE+-]{1000}")
"""What Arrow takes and Spark does not, or not always: names of what is no number, long numbers."""
_LONG_NUMBER = re.compile(rb"[0-9.eE+-]{1000}")
_FAR = 1000
"""Digits of a number, and levels of nesting, up to which Spark's parser goes."""
_WITHOUT_EFFECT = LIVE_OPTIONS | {
    "pathglobfilter",  # it says which files are read
    *("primitivesasstring", "prefersdecimal", "dateformat", "timestampformat", "samplingratio"),
    *("timestampntzformat", "dropfieldifallnull", "inferschema", "header"),
}
"""Options that say nothing of values that are read as their text."""


def check_options(data: DataSource) -> None:
    """Nothing, if JSON is lines with nothing special.

    Raises:
        NotPlain: an option says otherwise.
    """
    for name, text in data.options:
        match name.lower(), text.lower():
            case ("multiline", "false") | ("mode", "permissive") | ("linesep", "\n"):
                pass
            case ("encoding" | "charset", "utf-8" | "utf8"):
                pass
            case (known, _) if known in _WITHOUT_EFFECT:
                pass
            case _:
                raise NotPlain


def read_json(
    path: str, wanted: Sequence[str], types: Mapping[str, ColumnType]
) -> Iterator[pa.Table]:
    """The members wanted, some at a time: in their declared types where all of a block are written
    as usual, else as text; NULL where a line lacks them; and CORRUPT.

    Args:
        path: a local file.
        wanted: names of members.
        types: what these are declared to be.

    Raises:
        NotPlain: Spark has to read it.
        OSError: it cannot be read.
    """
    first = True
    declared = {n: types[n] for n in wanted}
    with open_packed(path) as source:
        for block in cut_blocks(source):
            if first:
                block, first = block.removeprefix(BYTE_ORDER_MARK), False
            for table in _read_block(block, declared):
                if CORRUPT not in table.column_names:
                    table = table.append_column(CORRUPT, pa.nulls(table.num_rows, pa.string()))
                yield table


def _plain_type(declared: ColumnType) -> pa.DataType:
    """What Arrow reads a column as, where it and Spark agree: text, but for numbers and truth."""
    match declared:
        case IntType() | FloatType() | BooleanType():
            return arrow_type(declared)
        case DecimalType(precision=precision, scale=scale):
            # Arrow does not see what has no room before the point: so there is always some, and
            # the cast to the declared type, which is another one, sees it
            small = precision + scale < 38
            return pa.decimal128(38 - scale, scale) if small else pa.decimal256(38, scale)
        case _:
            return pa.string()


def _read_block(block: bytes, types: Mapping[str, ColumnType]) -> Iterator[pa.Table]:
    if b"\0" in block:
        raise NotPlain
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    parts: Iterable[pa.Table | bytes] | None = _read_alike(block, types)
    if parts is None:
        whole = _read_plain(block, types, threads=True)
        parts = cut_parts(block) if whole is None else [whole]
    tables = (_read_part(part, types) if isinstance(part, bytes) else part for part in parts)
    for _, alike in groupby(tables, key=lambda t: t.schema):
        yield pa.concat_tables(alike)


def _read_alike(block: bytes, types: Mapping[str, ColumnType]) -> list[pa.Table | bytes] | None:
    """The rows of lines that are alike, in parts that a processor holds near it, and between them
    pieces with other lines (None: many of the first part are other ones)."""
    if not (block.isascii() or _is_utf8(block)):
        return None
    kinds = {name: _plain_type(kind) for name, kind in types.items()}
    found: list[pa.Table | bytes] = []
    for part in cut_parts(block, _AT_ONCE):
        pieces = _cut_alike(part, kinds, _AT_ONCE)
        if not found and all(isinstance(piece, bytes) for piece in pieces):
            return None
        found += pieces
    return found or None


def _cut_alike(part: bytes, kinds: Mapping[str, pa.DataType], size: int) -> list[pa.Table | bytes]:
    """The rows of lines that are alike in a part of about so many bytes, and between them pieces
    with other lines, which are looked for by quarters, until there are some in each."""
    table = read_uniform(part, kinds)
    if table is not None or size <= _PIECE:
        return [part if table is None else table]
    quarter = size // 4
    found = [_cut_alike(piece, kinds, quarter) for piece in cut_parts(part, quarter)]
    if all(isinstance(pieces[0], bytes) and len(pieces) == 1 for pieces in found):
        return [part]
    return [piece for pieces in found for piece in pieces]


def _read_part(part: bytes, types: Mapping[str, ColumnType]) -> pa.Table:
    table = _read_plain(part, types, threads=False)
    if table is None:
        table = _read_quoted(part, list(types))
    return _read_lines(part, list(types)) if table is None else table


def _read_plain(block: bytes, types: Mapping[str, ColumnType], *, threads: bool) -> pa.Table | None:
    """The rows, if all values are written as usual."""
    tidy = _tidy(block)
    kinds = {name: _plain_type(kind) for name, kind in types.items()}
    table = None if tidy is None else _parse(*tidy, kinds, threads=threads)
    if table is None:
        return None
    for place, (name, kind) in enumerate(types.items()):
        column = table.column(name)
        if isinstance(kind, FloatType) and not all_finite(column):
            return None
        if isinstance(kind, DecimalType):
            try:
                table = table.set_column(place, name, column.cast(arrow_type(kind)))
            except pa.ArrowInvalid:
                return None
    return table


def _read_quoted(part: bytes, wanted: Sequence[str]) -> pa.Table | None:
    """The rows as text, if all lines are valid."""
    tidy = _tidy(part)
    if tidy is None or _parse(*tidy, {}, threads=False) is None:
        return None
    block, rows = tidy
    kinds = dict.fromkeys(wanted, pa.string())
    return _parse(quote_values(block), rows, kinds, threads=False)


def _read_lines(part: bytes, wanted: Sequence[str]) -> pa.Table:
    """The rows as text, line by line."""
    names = frozenset(wanted)
    cells: dict[str, list[str | None]] = {n: [] for n in (*wanted, CORRUPT)}
    for line in part.split(b"\n"):
        if not line.strip(b" \t").removeprefix(BYTE_ORDER_MARK).strip(b" \t"):
            continue
        _refuse_far(line)
        row = parse_line(line, names)
        for name in wanted:
            cells[name].append(None if row is None else row.get(name))
        cells[CORRUPT].append(line.decode("utf-8", "replace") if row is None else None)
    return pa.table({n: pa.array(held, pa.string()) for n, held in cells.items()})


def _refuse_far(line: bytes) -> None:
    """
    Raises:
        NotPlain: it may be beyond the limits of Spark's parser.
    """
    if len(line) > _FAR and (_LONG_NUMBER.search(line) or _is_deep(line)):
        raise NotPlain


def _tidy(block: bytes) -> tuple[bytes, int] | None:
    """Lines without blanks around them, and none that are blank, and how many (None: one does not
    begin and end like an object, or has what Arrow and Spark read in two ways)."""
    ends = _find_ends(block)
    if not _is_even(block, ends):
        block = _ROOM.sub(b"\n", block.strip(b" \t\n"))
        ends = _find_ends(block)
        if block and not _is_even(block, ends):
            return None
    named = (b"I" in block and b"Inf" in block) or (b"N" in block and b"NaN" in block)
    far = len(ends) > 1 and int(np.diff(ends).max()) > _FAR
    if (named or far) and _ODD_NUMBER.search(block):
        return None
    if far and any(map(_is_deep, block.split(b"\n"))):
        return None
    return (block, len(ends) - 1) if block.isascii() or _is_utf8(block) else None


def _find_ends(block: bytes) -> Array:
    """The places of all ends of lines, of one before the first and one after the last."""
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    return np.concatenate([[-1], ends])


def _is_even(block: bytes, ends: Array) -> bool:
    """Whether every line begins with { and ends with }. No object is then over two lines: nowhere
    in JSON does { come after }, and strings have no ends of lines."""
    if not block.startswith(b"{"):
        return False
    codes = np.frombuffer(block, np.uint8)
    return bool(
        (codes[ends[1:] - 1] == ord("}")).all() and (codes[ends[:-1] + 1] == ord("{")).all()
    )


def _is_deep(line: bytes) -> bool:
    return len(line) > _FAR and line.count(b"[") + line.count(b"{") > _FAR


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parse(
    block: bytes, rows: int, kinds: Mapping[str, pa.DataType], *, threads: bool
) -> pa.Table | None:
    """Lines by Arrow's reader, each a row (None: it does not take them)."""
    if not block:
        return pa.schema(kinds).empty_table()
    try:
        table = pjson.read_json(
            pa.BufferReader(block),
            read_options=pjson.ReadOptions(use_threads=threads, block_size=_AT_ONCE),
            parse_options=pjson.ParseOptions(
                explicit_schema=pa.schema(kinds), unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowInvalid:
        return None
    return table if table.num_rows == rows else None
