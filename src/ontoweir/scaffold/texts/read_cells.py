"""Read the first rows of CSV, with the types that their cells seem to have."""

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader, BytesIO, StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from ontoweir.mappings.model.catalog import FloatType, TimestampType
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.csv_dialect import CsvDialect

if TYPE_CHECKING:
    from io import RawIOBase

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class CsvForm:
    """The names of columns, how cells are written, and how many rows are read at most: of all
    columns, fewer than that where rows are long; of some (`only`), as many."""

    names: tuple[str, ...]
    dialect: CsvDialect
    rows: int
    only: tuple[str, ...] = ()


def read_cells(file: Path, form: CsvForm) -> "pa.Table":
    """The first rows of a file. Texts are what would be a time of day, a number with a zero before
    it, or a time that is not read without a format.

    Raises:
        pyarrow.ArrowInvalid: it is no CSV.
        OSError: it cannot be read.
    """
    import pyarrow as pa

    rows = _read_csv(file, form, {})
    texts = [f.name for f in rows.schema if pa.types.is_time(f.type)]
    texts += _find_codes(file, form, rows)
    moments = [f.name for f in rows.schema if pa.types.is_timestamp(f.type)]
    written = _read_csv(file, form, dict.fromkeys(moments, pa.string())) if moments else rows
    texts += [n for n in moments if not is_plain(written.column(n))]
    return _read_csv(file, form, dict.fromkeys(texts, pa.string())) if texts else rows


def read_more(file: Path, form: CsvForm, types: "Mapping[str, pa.DataType]") -> "pa.Table | None":
    """Some columns of more rows, of given types (None: a later one is of another).

    Raises:
        OSError: it cannot be read.
    """
    import pyarrow as pa

    try:
        return _read_csv(file, replace(form, only=tuple(types)), types)
    except (pa.ArrowInvalid, NotPlain):
        return None


def is_plain(texts: "pa.ChunkedArray") -> bool:
    """Whether texts are times as they are read without a format."""
    from ontoweir.runtime.text.convert_text import convert_text

    try:
        return convert_text(texts, TimestampType())[1] is None
    except NotPlain:
        return False


def _find_codes(file: Path, form: CsvForm, rows: "pa.Table") -> Sequence[str]:
    """The columns of whole numbers some of which are written with a zero before them, as postal
    codes and article numbers are: as numbers they would be others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = [f.name for f in rows.schema if pa.types.is_integer(f.type)]
    texts = _read_csv(file, form, dict.fromkeys(whole, pa.string())) if whole else rows
    return [n for n in whole if pc.any(pc.match_substring_regex(texts[n], "^ *0[0-9]")).as_py()]


def _open_rows(file: Path, dialect: CsvDialect) -> "BufferedReader[RawIOBase]":
    """A file from its first row on."""
    from ontoweir.runtime.text.open_packed import BYTE_ORDER_MARK, open_packed

    opened = BufferedReader(cast("RawIOBase", open_packed(str(file))))
    if opened.peek(3).startswith(BYTE_ORDER_MARK):
        opened.read(len(BYTE_ORDER_MARK))
    for _ in range(dialect.skip):
        opened.readline()
    while dialect.comment and opened.peek(1).startswith(dialect.comment):
        opened.readline()
    for _ in range(1 + dialect.below if dialect.header else 0):
        opened.readline()
    return opened


def _read_csv(file: Path, form: CsvForm, types: "Mapping[str, pa.DataType]") -> "pa.Table":
    """The first rows; `types`: of columns whose values would seem to be of another."""
    import pyarrow as pa

    dialect = form.dialect
    with _open_rows(file, dialect) as opened:
        if not opened.peek(1):
            return pa.schema([(n, types.get(n, pa.null())) for n in form.names]).empty_table()
        rows = None if dialect.comment else _parse(opened, form, types)
    if rows is None:
        with _open_rows(file, dialect) as opened:
            level = replace(dialect, codec="utf-8", doubled=True, multiline=True)
            rows = _parse(_level(opened, form), replace(form, dialect=level), types)
    assert rows is not None  # all are level
    marked = dialect.thousands or dialect.units or dialect.nulls
    return _read_grouped(rows, dialect, types) if marked else rows


def _level(opened: BinaryIO, form: CsvForm) -> BytesIO:
    """The first rows, of which each has as many cells as there are names, as a run has it."""
    dialect, count = form.dialect, len(form.names)
    mark, quote = dialect.separator.decode(), dialect.quote.decode()
    text = TextIOWrapper(opened, encoding=dialect.codec, errors="replace", newline="")
    comment = dialect.comment.decode()
    reader = csv.reader(
        (line for line in text if not (comment and line.startswith(comment))),
        delimiter=mark,
        quotechar=quote,
        doublequote=dialect.doubled,
        escapechar=None if dialect.doubled else "\\",
    )
    written = StringIO(newline="")
    writer = csv.writer(written, delimiter=mark, quotechar=quote, lineterminator="\n")
    rows = islice((row for row in reader if row), form.rows)
    writer.writerows((row + [""] * count)[:count] for row in rows)
    text.detach()
    return BytesIO(written.getvalue().encode())


def _parse(
    source: BinaryIO, form: CsvForm, types: "Mapping[str, pa.DataType]"
) -> "pa.Table | None":
    """The first rows, of the types that their cells seem to have (None: some have another number
    of cells)."""
    import pyarrow as pa
    import pyarrow.csv as pcsv

    dialect, odd = form.dialect, []

    def leave(row: "pcsv.InvalidRow") -> str:
        odd.append(row.number)
        return "skip"

    with pcsv.open_csv(
        source,
        read_options=pcsv.ReadOptions(column_names=list(form.names), encoding=dialect.codec),
        parse_options=pcsv.ParseOptions(
            delimiter=dialect.separator.decode(),
            quote_char=dialect.quote.decode(),
            escape_char=False if dialect.doubled else "\\",
            newlines_in_values=dialect.multiline,
            invalid_row_handler=leave,
        ),
        convert_options=pcsv.ConvertOptions(
            null_values=list({"", dialect.null, *dialect.nulls}),
            strings_can_be_null=True,
            decimal_point="," if dialect.comma else ".",
            column_types=dict(types),
            include_columns=list(form.only) or None,
        ),
    ) as reader:
        read, count = [], 0
        for batch in reader:
            read.append(batch)
            count += batch.num_rows
            if not form.only or count >= form.rows:
                break
        if odd:
            return None
        return pa.Table.from_batches(read, reader.schema).slice(0, form.rows)


def _read_grouped(rows: "pa.Table", dialect: CsvDialect, known: Collection[str]) -> "pa.Table":
    """Texts with marks between thousands, units, or blanks around NULL, as the numbers that they
    are, but for columns whose type is known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ontoweir.runtime.text.read_csv import plain_numbers

    texts = [f.name for f in rows.schema if pa.types.is_string(f.type) and f.name not in known]
    none = pa.scalar(None, pa.string())
    for name in texts:
        cells = pc.utf8_trim(rows.column(name), " ")
        given = pa.array(dialect.nulls, pa.string())
        cells = pc.if_else(pc.is_in(cells, given), none, rows.column(name))
        rows = rows.set_column(rows.column_names.index(name), name, cells)
    numbers = plain_numbers(rows, dict.fromkeys(texts, FloatType()), dialect)
    for name in texts:
        for kind in (pa.int64(), pa.float64()):
            try:
                column = pc.utf8_trim(numbers.column(name), " ").cast(kind)
            except pa.ArrowInvalid:
                continue
            rows = rows.set_column(rows.column_names.index(name), name, column)
            break
    return rows
