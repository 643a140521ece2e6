"""Read local CSV as Spark reads it, without Spark: block by block, in bounded memory.

The rule is that of Spark's reader with a header: cells are between separators, or quoted; a row
with fewer cells than the header has NULL in the others, one with more loses them; empty cells are
NULL, quoted or not; lines of blanks are none; no cell goes over the end of a line; what is not
UTF-8 is U+FFFD. Files with anything else (escapes, quotes within a cell, other options) are left to
Spark (NotPlain): what univocity, its parser, makes of them follows no rule that could be stated.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pcsv

from ontoweir.mappings.model.catalog import ColumnType, DataSource, FloatType, IntType
from ontoweir.runtime.text.convert_text import NotPlain, all_finite
from ontoweir.runtime.text.open_packed import BYTE_ORDER_MARK, cut_blocks, open_packed

_HEADER = 1 << 20
"""Bytes of the longest header that is read."""
_HEADER_CELL = re.compile(r'"([^"\\]+)"|([^"]+)')
_BLANK_LINE = re.compile(rb"^[\x00-\x20]+$", re.MULTILINE)
_BLANKS = bytes(range(33))


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file: its path, the names in its header, and what parts its cells."""

    path: str
    names: tuple[str, ...]
    separator: bytes


def open_csv(data: DataSource, path: str) -> CsvFile:
    """A file whose header is read.

    Raises:
        NotPlain: Spark has to read it.
        OSError: it cannot be read.
    """
    separator = _find_separator(data)
    with open_packed(path) as source:
        line, end, _ = source.read(_HEADER).partition(b"\n")
    if not line.strip(_BLANKS) or (len(line) == _HEADER and not end):
        raise NotPlain
    line = line.removeprefix(BYTE_ORDER_MARK).removesuffix(b"\r")
    if b"\r" in line or b"\0" in line:
        raise NotPlain
    try:
        cells = line.decode().split(separator.decode())
    except UnicodeDecodeError:
        raise NotPlain from None
    matches = [_HEADER_CELL.fullmatch(c) for c in cells]
    names = tuple(m[1] or m[2] for m in matches if m is not None)
    if len(names) < len(cells) or len({n.lower() for n in names}) < len(names):
        raise NotPlain
    return CsvFile(path, names, separator)


def _find_separator(data: DataSource) -> bytes:
    """What parts cells.

    Raises:
        NotPlain: an option says more than that, and that there is a header.
    """
    options = {name.lower(): text for name, text in data.options}
    given = [options.pop(n) for n in ("sep", "delimiter") if n in options]
    if options.pop("header", "").lower() != "true" or options or len(given) > 1:
        raise NotPlain
    mark = given[0] if given else ","
    mark = "\t" if mark == "\\t" else mark
    if len(mark) != 1 or not mark.isascii() or mark in '"\\\r\n\0' or mark.isalnum():
        raise NotPlain
    return mark.encode()


def read_csv(
    file: CsvFile, wanted: Sequence[str], types: Mapping[str, ColumnType]
) -> Iterator[pa.Table]:
    """The columns wanted, block by block: whole numbers and doubles as such where all of a block
    are written as usual, everything else as text.

    Args:
        file: opened.
        wanted: names in its header.
        types: what columns are declared to be.

    Raises:
        NotPlain: Spark has to read it.
        OSError: it cannot be read.
    """
    first = True
    with open_packed(file.path) as source:
        for block in cut_blocks(source):
            if first:
                block = block[block.index(b"\n") + 1 :] if b"\n" in block else b""
                first = False
            if block:
                yield _read_block(file, block, wanted, types)


def _read_block(
    file: CsvFile, block: bytes, wanted: Sequence[str], types: Mapping[str, ColumnType]
) -> pa.Table:
    _refuse_odd(block, file.separator)
    if len(file.names) == 1 or file.separator <= b" ":
        block = _BLANK_LINE.sub(b"", block)
    # Arrow would read them; one byte is found much faster than two
    hexadecimal = (b"x" in block and b"0x" in block) or (b"X" in block and b"0X" in block)
    kinds = {n: pa.string() for n in wanted}
    if not hexadecimal:
        kinds |= {n: pa.int64() for n in wanted if isinstance(types.get(n), IntType)}
        kinds |= {n: pa.float64() for n in wanted if isinstance(types.get(n), FloatType)}
    rows = _count_lines(block)
    try:
        table = _parse(file, block, wanted, kinds)
        doubles = [n for n, kind in kinds.items() if pa.types.is_floating(kind)]
        if table.num_rows == rows and all(all_finite(table.column(n)) for n in doubles):
            return table
    except ValueError:  # a row with too many cells, or what is not a number
        pass
    block = block.decode("utf-8", "replace").encode()
    block = _level(block, file.separator, len(file.names))
    try:
        table = _parse(file, block, wanted, {n: pa.string() for n in wanted})
    except ValueError:
        raise NotPlain from None
    if table.num_rows != _count_lines(block):
        raise NotPlain
    return table


def _count_lines(block: bytes) -> int:
    return block.count(b"\n") + (bool(block) and not block.endswith(b"\n"))


def _refuse_odd(block: bytes, separator: bytes) -> None:
    """
    Raises:
        NotPlain: a quote is not one of two around a cell, or there are other odd bytes.
    """
    if b"\0" in block:
        raise NotPlain
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        raise NotPlain
    if b'"' not in block:
        return
    quotes = block.count(b'"')
    mark = re.escape(separator)
    cell = re.compile(rb'(?:^|(?<=[\n%b]))"[^"\\\r\n]*"(?=[\r\n%b]|$)' % (mark, mark))
    if sum(1 for _ in cell.finditer(block)) * 2 != quotes:
        raise NotPlain


def _parse(
    file: CsvFile,
    block: bytes,
    wanted: Sequence[str],
    kinds: Mapping[str, pa.DataType],
) -> pa.Table:
    """A block by Arrow's reader; it refuses a row with another number of cells."""
    if block[:1] in (b"", b"\r", b"\n") and not block.strip(b"\r\n"):
        return pa.table({n: pa.array([], kinds[n]) for n in wanted})
    return pcsv.read_csv(
        pa.BufferReader(block),
        read_options=pcsv.ReadOptions(column_names=list(file.names), block_size=1 << 20),
        parse_options=pcsv.ParseOptions(delimiter=file.separator.decode()),
        convert_options=pcsv.ConvertOptions(
            include_columns=list(wanted),
            column_types=dict(kinds),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def _level(block: bytes, separator: bytes, cells: int) -> bytes:
    """Every row with as many cells as the header has; without lines of blanks."""
    lines = []
    for line in block.split(b"\n"):
        line = line.removesuffix(b"\r")
        if not line.strip(_BLANKS):
            continue
        held = line.count(separator) + 1
        if held != cells or b'"' in line:
            line = _fit_line(line, separator, cells)
        lines.append(line)
    return b"".join(line + b"\n" for line in lines)


def _fit_line(line: bytes, separator: bytes, cells: int) -> bytes:
    fields, at = [], 0
    while at <= len(line):
        if line[at : at + 1] == b'"':
            end = line.index(b'"', at + 1) + 1
        else:
            end = line.find(separator, at)
            end = len(line) if end < 0 else end
        fields.append(line[at:end])
        at = end + 1
    return separator.join((fields + [b""] * cells)[:cells])
