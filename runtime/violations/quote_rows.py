"""Rows of a local file as they are written there, before anything is made of them."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.csv_dialect import CsvDialect, name_columns, read_dialect
from ontoweir.runtime.text.open_packed import open_packed
from ontoweir.runtime.text.read_nested import MISSING, find_member

Row: TypeAlias = dict[str, object]
Quoted: TypeAlias = tuple[int, Row]
"""Of a row the line where it begins, and its values; of what has no lines its number."""
_Held: TypeAlias = tuple[int, int, Callable[[], Row]]
"""Its number, its line, and its values when they are wanted."""


def quote_rows(data: DataSource, file: str, numbers: Sequence[int]) -> Iterator[Quoted] | None:
    """Some rows of a file, with their values by column: of text as it is written.

    Args:
        data: format and options.
        file: as messages name it.
        numbers: of the rows, ascending, each once: from 1; a CSV's header is a row.

    Returns:
        None: the file is not one that can be looked at here.
    """
    if data.envelope is not None or not Path(file).is_file():
        return None
    if data.unnest is not None:
        lines = data.format == "json"
        return _quote(_read_elements(file, data.unnest), numbers) if lines else None
    match data.format:
        case "csv":
            try:
                return _quote(_read_csv(data, file), numbers)
            except NotPlain:
                return None
        case "json":
            return _quote(_read_json(file), numbers)
        case "parquet":
            return _read_parquet(file, numbers)
        case _:
            return None


def list_lines(data: DataSource, file: str) -> list[int]:
    """The line in which each row of a local file of CSV or of lines of JSON begins; none, where
    they cannot be found here.

    Raises:
        OSError: it cannot be read.
    """
    try:
        rows = _read_json(file) if data.format == "json" else _read_csv(data, file)
        return [line for _, line, _ in rows]
    except (NotPlain, csv.Error):
        return []


def _quote(rows: Iterator[_Held], numbers: Sequence[int]) -> Iterator[Quoted]:
    wanted = iter(numbers)
    number = next(wanted, None)
    for place, line, make in rows:
        if number is None:
            return
        if place == number:
            yield line, make()
            number = next(wanted, None)


def _read_csv(data: DataSource, file: str) -> Iterator[_Held]:
    """
    Raises:
        NotPlain: options say more than is known here.
    """
    dialect = read_dialect(data)
    return _list_csv(file, dialect)


def _list_csv(file: str, dialect: CsvDialect) -> Iterator[_Held]:
    encoding = "utf-8-sig" if dialect.codec == "utf-8" else dialect.codec
    with open_packed(file) as opened:
        text = TextIOWrapper(opened, encoding=encoding, errors="replace", newline="")
        read: list[int] = []
        reader = csv.reader(
            _leave_lines(text, dialect, read),
            delimiter=dialect.separator.decode(),
            quotechar=dialect.quote.decode(),
            doublequote=dialect.doubled,
            escapechar=None if dialect.doubled else "\\",
        )
        names: Sequence[str] | None = None
        number = dialect.skip
        for row in reader:
            line = read[0]
            read.clear()
            if not row:  # an empty line is no row
                continue
            number += 1
            if names is None:
                names = name_columns(row, dialect)
                if dialect.header:
                    continue
            yield number + dialect.below, line, partial(_pair, names, row)


def _leave_lines(text: Iterable[str], dialect: CsvDialect, read: list[int]) -> Iterator[str]:
    """The lines of a file without those that are neither its header nor rows; `read` gets the
    numbers of those that are read."""
    mark, below = dialect.comment.decode(), -1 if dialect.header else 0
    for number, line in islice(enumerate(text, 1), dialect.skip, None):
        if below > 0:
            below -= 1
        elif not (mark and line.startswith(mark)):
            read.append(number)
            yield line
            below = dialect.below if below < 0 else 0


def _read_json(file: str) -> Iterator[_Held]:
    with open_packed(file) as opened:
        text = TextIOWrapper(opened, encoding="utf-8-sig", errors="replace")
        lines = ((place, line) for place, line in enumerate(text, 1) if line.strip())
        for number, (place, line) in enumerate(lines, 1):
            yield number, place, partial(_parse, line)


def _pair(names: Sequence[str], row: Sequence[str]) -> Row:
    return dict(zip(names, row, strict=False))


def _read_elements(file: str, unnest: str) -> Iterator[_Held]:
    """The rows of arrays, as read_nested.py has them."""
    number = 0
    for _, place, make in _read_json(file):
        row = make()
        found = find_member(row, unnest)
        if "" in row or (not isinstance(found, list | None) and found is not MISSING):
            number += 1  # a line that is not read
            yield number, place, make
        elif isinstance(found, list):
            for element in found:
                number += 1
                yield number, place, partial(_put, row, unnest, element)


def _put(row: Row, path: str, element: object) -> Row:
    """A line with an element in the place of its array."""
    first = path if path in row else path.partition(".")[0]
    return {name: value for name, value in row.items() if name != first} | {path: element}


def _parse(line: str) -> Row:
    try:
        held = json.loads(line)
    except ValueError:
        held = None
    return held if isinstance(held, dict) else {"": line.strip()}


def _read_parquet(file: str, numbers: Sequence[int]) -> Iterator[Quoted]:
    first, wanted = 1, list(numbers)
    with pq.ParquetFile(file) as opened:
        for index in range(opened.num_row_groups):
            stop = first + opened.metadata.row_group(index).num_rows
            mine = [n - first for n in wanted if first <= n < stop]
            if mine:
                rows = opened.read_row_group(index).take(pa.array(mine))
                yield from zip((first + n for n in mine), _plain_rows(rows), strict=True)
            first = stop


def _plain_rows(rows: pa.Table) -> Iterator[Row]:
    """Rows as Python's values; what Python has none for, as text."""
    columns = {}
    for name in rows.column_names:
        try:
            columns[name] = rows.column(name).to_pylist()
        except (ValueError, OverflowError):
            columns[name] = rows.column(name).cast(pa.string()).to_pylist()
    for place in range(rows.num_rows):
        yield {name: cells[place] for name, cells in columns.items()}
