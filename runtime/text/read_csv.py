"""Read local CSV as Spark reads it, without Spark: block by block, in bounded memory.

The rule is that of Spark's reader: cells are between separators, or quoted; a row with fewer cells
than the first has NULL in the others, one with more loses them; empty cells are NULL, quoted or
not; lines of blanks are none; what is not UTF-8 is U+FFFD. Files with anything else (quotes within
a cell, unknown options) are left to Spark (NotPlain): what univocity, its parser, makes of them
follows no rule that could be stated.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import (
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
)
from ontoweir.runtime.text.convert_text import NotPlain, all_finite
from ontoweir.runtime.text.csv_dialect import CsvDialect, name_columns, read_dialect
from ontoweir.runtime.text.level_rows import BLANKS, level_rows
from ontoweir.runtime.text.open_packed import (
    BYTE_ORDER_MARK,
    LONGEST,
    cut_blocks,
    cut_parts,
    open_packed,
)
from ontoweir.runtime.text.plain_quotes import find_escaping, find_quotes, plain_quotes

_HEADER = 1 << 20
"""Bytes of the longest header that is read."""
_AT_ONCE = 4 << 20
"""Bytes that a thread of Arrow's parses."""
_BLANK_LINE = re.compile(rb"^[\x00-\x20]+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file: its path, the names of its columns, how it is written, and whether its lines end
    with CR and LF."""

    path: str
    names: tuple[str, ...]
    dialect: CsvDialect
    carriage_returns: bool


def open_csv(data: DataSource, path: str) -> CsvFile:
    """A file whose header is read.

    Raises:
        DataError: no header or row is where the options say.
        NotPlain: Spark has to read it.
        OSError: it cannot be read.
    """
    dialect = read_dialect(data)
    with open_packed(path) as source:
        line, end, _ = skip_lines(source.read(_HEADER), dialect).partition(b"\n")
    if not line.strip(BLANKS) and dialect.skip:
        raise DataError(
            f"after {dialect.skip} lines comes an empty one, or none",
            why=f'skip = "{dialect.skip}" says that the header or the first row comes there',
            fix="write how many lines are before it, empty ones too, or leave skip out",
            source=Source(path, dialect.skip + 1),
        )
    if not line.strip(BLANKS) or (len(line) == _HEADER and not end):
        raise NotPlain
    if line.startswith(BYTE_ORDER_MARK):  # of a file in another encoding
        raise NotPlain
    returns = line.endswith(b"\r")
    line = line.removesuffix(b"\r")
    if b"\r" in line or b"\0" in line:
        raise NotPlain
    try:
        text = line.decode(dialect.codec)
    except UnicodeDecodeError:
        raise NotPlain from None
    names = name_columns(_split(text, dialect), dialect)
    said = dialect.header and not dialect.names
    if (said and any("\\" in n for n in names)) or len({n.lower() for n in names}) < len(names):
        raise NotPlain
    return CsvFile(path, names, dialect, returns)


def _split(line: str, dialect: CsvDialect) -> list[str]:
    """The cells of the first line.

    Raises:
        NotPlain: something is quoted that is not a whole cell.
    """
    block, rows = plain_quotes(line.encode(), dialect)
    table = pcsv.read_csv(
        pa.BufferReader(block + b"\n"),
        read_options=pcsv.ReadOptions(autogenerate_column_names=True),
        parse_options=_parse_options(dialect),
        convert_options=pcsv.ConvertOptions(
            column_types={f"f{n}": pa.string() for n in range(block.count(dialect.separator) + 1)}
        ),
    )
    if rows != table.num_rows:
        raise NotPlain
    return [str(column[0]) for column in table.columns]


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
    with open_packed(file.path) as source:
        for block in _leave_head(_cut_rows(source, file.dialect), file.dialect):
            if file.dialect.comment:
                block = _leave_comments(block, file.dialect)
            if block:
                tables = _read_block(file, block, wanted, types)
                dialect = file.dialect
                plain = not (dialect.comma or dialect.thousands or dialect.units)
                yield from tables if plain else (plain_numbers(t, types, dialect) for t in tables)


def _leave_head(blocks: Iterator[bytes], dialect: CsvDialect) -> Iterator[bytes]:
    """Blocks without what is before the rows, which may end in any of them: a last line without an
    end is a block of its own."""
    skip, header, below = dialect.skip, dialect.header, dialect.below
    fresh = bool(dialect.comment)
    for number, block in enumerate(blocks):
        if not number and dialect.codec == "utf-8":
            block = block.removeprefix(BYTE_ORDER_MARK)
        while block and skip:
            block, skip = _leave_lines(block, 1), skip - 1
        while block and fresh and (fresh := block.startswith(dialect.comment)):
            block = _leave_lines(block, 1)
        if block and header:
            block, header = _leave_lines(block, 1), False
        while block and not header and below:
            block, below = _leave_lines(block, 1), below - 1
        if block:
            yield block


def skip_lines(head: bytes, dialect: CsvDialect) -> bytes:
    """The beginning of a file from its header, or its first row, on."""
    return next(_leave_head(iter([head]), replace(dialect, header=False, below=0)), b"")


def _leave_lines(block: bytes, count: int) -> bytes:
    """What follows so many lines."""
    place = 0
    for _ in range(count):
        place = block.find(b"\n", place) + 1
        if not place:
            return b""
    return block[place:]


def _leave_comments(block: bytes, dialect: CsvDialect) -> bytes:
    """The rows of a block without lines of comments between them.

    Raises:
        NotPlain: lines may be within cells.
    """
    mark = dialect.comment
    if not block.startswith(mark) and b"\n" + mark not in block:
        return block
    if dialect.multiline:
        raise NotPlain
    return re.sub(rb"^" + re.escape(mark) + rb"[^\n]*(?:\n|\Z)", b"", block, flags=re.MULTILINE)


def plain_numbers(
    table: pa.Table, types: Mapping[str, ColumnType], dialect: CsvDialect
) -> pa.Table:
    """Texts of numbers without units behind them, without marks between thousands, and with a
    point before their fraction in the place of a comma; what has a point already is no number
    then, as 1.5 is none with a decimal comma, nor is what has marks elsewhere than between groups
    of three digits."""
    for place, name in enumerate(table.column_names):
        cells, kind = table.column(place), types.get(name)
        if not isinstance(kind, IntType | FloatType | DecimalType):
            continue
        if not pa.types.is_string(cells.type):
            continue
        if dialect.units:
            cells = _leave_units(cells, dialect)
        if dialect.thousands:
            cells = _leave_thousands(cells, dialect)
        if dialect.comma and not isinstance(kind, IntType):
            odd = pc.match_substring(cells, ".")
            cells = pc.if_else(odd, cells, pc.replace_substring(cells, ",", "."))
            cells = pc.if_else(odd, pc.binary_join_element_wise(cells, "", "'"), cells)
        table = table.set_column(place, name, cells)
    return table


def _leave_units(cells: pa.ChunkedArray, dialect: CsvDialect) -> pa.ChunkedArray:
    """The number alone, where a unit is behind it."""
    units = "|".join(map(re.escape, sorted(dialect.units, key=len, reverse=True)))
    return pc.replace_substring_regex(cells, rf"^(.*[0-9][.,]?)\s*(?:{units})\s*$", r"\1")


def _leave_thousands(cells: pa.ChunkedArray, dialect: CsvDialect) -> pa.ChunkedArray:
    mark, point = re.escape(dialect.thousands), "," if dialect.comma else r"\."
    grouped = pc.match_substring_regex(
        cells, rf"^\s*[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+({point}[0-9]*)?\s*$"
    )
    return pc.if_else(grouped, pc.replace_substring(cells, dialect.thousands, ""), cells)


def _cut_rows(source: IO[bytes], dialect: CsvDialect) -> Iterator[bytes]:
    """Whole rows, many at once.

    Raises:
        NotPlain: a row is too long.
    """
    rest = b""
    for block in cut_blocks(source):
        if not dialect.multiline:
            yield block
            continue
        block = rest + block
        end = _find_row_end(block, dialect)
        if len(block) - end > LONGEST:
            raise NotPlain
        if end:
            yield block[:end]
        rest = block[end:]
    if rest:
        yield rest


def _find_row_end(block: bytes, dialect: CsvDialect) -> int:
    """Where the last row that is whole ends: after an end of line with no quote open."""
    codes = np.frombuffer(block, np.uint8)
    slashes = np.zeros(0, np.int64) if dialect.doubled else find_escaping(codes)
    quotes = find_quotes(codes, dialect, slashes)
    ends = np.flatnonzero(codes == ord("\n"))
    closed = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return int(closed[-1]) + 1 if len(closed) else 0


def _read_block(
    file: CsvFile, block: bytes, wanted: Sequence[str], types: Mapping[str, ColumnType]
) -> Iterator[pa.Table]:
    dialect = file.dialect
    _refuse_odd(block, file)
    if not block.endswith(b"\n"):
        block += b"\n"  # else Arrow takes an empty last cell as quoted if the one before it is
    if dialect.multiline and file.carriage_returns:
        block = block.replace(b"\r\n", b"\n")  # in cells too
    if dialect.codec != "utf-8" and not block.isascii():
        block = block.decode(dialect.codec, "replace").encode()
    if (len(file.names) == 1 or dialect.separator <= b" ") and _BLANK_LINE.search(block):
        if dialect.multiline:
            raise NotPlain
        block = _BLANK_LINE.sub(b"", block)
    block, rows = plain_quotes(block, dialect)
    whole = _read_plain(file, block, rows, wanted, types)
    if whole is not None:
        yield whole
        return
    parts = [block] if dialect.multiline else cut_parts(block)
    tables = (_read_part(file, part, wanted, types) for part in parts)
    for _, alike in groupby(tables, key=lambda t: t.schema):
        yield pa.concat_tables(alike)


def _refuse_odd(block: bytes, file: CsvFile) -> None:
    """
    Raises:
        NotPlain: there are odd bytes.
    """
    if b"\0" in block:
        raise NotPlain
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        raise NotPlain
    if file.dialect.multiline and not file.dialect.comma:  # which Spark does not read at all
        # which ends of lines count, and become what, its parser guesses from the first ones
        returns, ends = block.count(b"\r"), block.count(b"\n")
        if returns != (ends if file.carriage_returns else 0):
            raise NotPlain


def _read_plain(
    file: CsvFile, block: bytes, rows: int, wanted: Sequence[str], types: Mapping[str, ColumnType]
) -> pa.Table | None:
    """The rows, if all have as many cells as the first, and all numbers are written as usual."""
    kinds = {n: pa.string() for n in wanted}
    # Arrow would read hexadecimal ones; one byte is found much faster than two
    hexadecimal = (b"x" in block and b"0x" in block) or (b"X" in block and b"0X" in block)
    if not hexadecimal and not file.dialect.thousands and not file.dialect.units:
        kinds |= {n: pa.int64() for n in wanted if isinstance(types.get(n), IntType)}
        kinds |= {n: pa.float64() for n in wanted if isinstance(types.get(n), FloatType)}
    try:
        table = _parse(file, block, kinds)
    except ValueError:  # a row with another number of cells, or what is not a number or UTF-8
        return None
    doubles = [n for n, kind in kinds.items() if pa.types.is_floating(kind)]
    if table.num_rows != rows or not all(all_finite(table.column(n)) for n in doubles):
        return None
    return table


def _read_part(
    file: CsvFile, part: bytes, wanted: Sequence[str], types: Mapping[str, ColumnType]
) -> pa.Table:
    part = part.decode("utf-8", "replace").encode()
    rows = part.count(b"\n") + (not part.endswith(b"\n"))
    table = None if file.dialect.multiline else _read_plain(file, part, rows, wanted, types)
    if table is not None:
        return table
    part, rows = level_rows(part, file.dialect, len(file.names))
    try:
        table = _parse(file, part, dict.fromkeys(wanted, pa.string()))
    except ValueError:
        raise NotPlain from None
    if table.num_rows != rows:
        raise NotPlain
    return table


def _parse(file: CsvFile, block: bytes, kinds: Mapping[str, pa.DataType]) -> pa.Table:
    """A block by Arrow's reader; it refuses a row with another number of cells."""
    if block[:1] in (b"", b"\r", b"\n") and not block.strip(b"\r\n"):
        return pa.schema(kinds).empty_table()
    null = file.dialect.null
    table = pcsv.read_csv(
        pa.BufferReader(block),
        read_options=pcsv.ReadOptions(column_names=list(file.names), block_size=_AT_ONCE),
        parse_options=_parse_options(file.dialect),
        convert_options=pcsv.ConvertOptions(
            include_columns=list(kinds),
            column_types=dict(kinds),
            decimal_point="," if file.dialect.comma else ".",
            null_values=["", null, *file.dialect.nulls],
            strings_can_be_null=True,
            quoted_strings_can_be_null=not null,
        ),
    )
    ours = pa.array(file.dialect.nulls, pa.string())
    if null or len(ours):  # so is it between quotes, but there an empty text is none
        for place, name in enumerate(table.column_names):
            cells = table.column(place)
            if pa.types.is_string(cells.type):
                none = pc.equal(cells, null)
                if len(ours):
                    none = pc.or_(none, pc.is_in(pc.utf8_trim(cells, " "), ours))
                cells = pc.if_else(none, pa.scalar(None, pa.string()), cells)
                table = table.set_column(place, name, cells)
    return table


def _parse_options(dialect: CsvDialect) -> pcsv.ParseOptions:
    return pcsv.ParseOptions(
        delimiter=dialect.separator.decode(),
        quote_char=dialect.quote.decode(),
        newlines_in_values=dialect.multiline,
    )
