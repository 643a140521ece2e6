"""The rows of a local text file in their declared types, as Spark gives them, without Spark."""

from collections.abc import Iterator, Mapping, Sequence, Set

import pyarrow as pa

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import (
    Column,
    ColumnType,
    DataSource,
    Envelope,
    StringType,
    TimeFormat,
    TimestampType,
)
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.convert_table import mark_faults, name_bad
from ontoweir.runtime.sources.list_pieces import folder_constants
from ontoweir.runtime.sources.read_source import BAD, missing_column, refuse_comma, unreadable
from ontoweir.runtime.text.convert_text import NotPlain, convert_text
from ontoweir.runtime.text.read_ahead import read_ahead
from ontoweir.runtime.text.read_csv import CsvFile, open_csv, read_csv
from ontoweir.runtime.text.read_envelope import FAULT, WantedMembers, read_envelope
from ontoweir.runtime.text.read_json import CORRUPT, check_options, read_json
from ontoweir.runtime.text.read_nested import read_nested
from ontoweir.runtime.times.read_times import read_times


def read_text_rows(
    data: DataSource,
    file: str,
    columns: Sequence[Column],
    timestamp: str | None,
    spare: Set[str] = frozenset(),
    written: TimeFormat | None = None,
) -> Iterator[pa.Table]:
    """The rows, some at a time: the declared columns (as arrow_type says), the timestamp, if any,
    in microseconds, and BAD, as read_source and Spark give them. Of JSON, CORRUPT too: the text of
    a line that is no object, whose columns are NULL.

    Args:
        data: format and options.
        file: a local file.
        columns: those wanted.
        timestamp: the column of that name too.
        spare: columns that are NULL where the file lacks them.
        written: how the timestamps are written.

    Raises:
        NotPlain: Spark has to read it. Rows given before are right all the same.
        DataError: a column is missing, or the file cannot be read.
    """
    types = _list_types(columns, timestamp, written)
    constants = folder_constants(file)
    paths = {c.name: c.path for c in columns if c.path is not None}
    try:
        match data.format:
            case "csv":
                tables = _read_csv(data, file, types, constants, spare, paths)
            case "json":
                if data.envelope is not None:
                    wanted = want_members(columns, written)
                    tables = _read_changes(data, data.envelope, file, wanted)
                else:
                    tables = _read_json(data, file, types, constants, paths)
            case _:
                raise NotPlain
        for table in read_ahead(tables):
            for name in types:
                if name not in table.column_names:
                    said = constants.get(paths.get(name, name))
                    cells = pa.repeat(pa.scalar(said, pa.string()), table.num_rows)
                    table = table.append_column(name, cells)
            yield convert_rows(table, columns, timestamp, written)
    except OSError as error:
        raise unreadable(file, error) from error
    except NotPlain:
        refuse_comma(data, Source(file))
        raise


def _read_csv(
    data: DataSource,
    file: str,
    types: Mapping[str, ColumnType],
    constants: Mapping[str, str | None],
    spare: Set[str],
    paths: Mapping[str, str],
) -> Iterator[pa.Table]:
    """`paths`: by column, its name in the header, where that is another."""
    opened = open_csv(data, file)
    if {n.lower() for n in constants} & {n.lower() for n in opened.names}:
        raise NotPlain
    there = (*opened.names, *constants)
    headers = {name: paths.get(name, name) for name in types}
    for name, header in headers.items():
        if header not in there and name not in spare:
            raise missing_column(header, there, file, data)
    given = {n: header for n, header in headers.items() if header in opened.names}
    if not given:
        raise NotPlain
    if all(name == header for name, header in given.items()):
        return read_csv(opened, list(given), types)
    return _rename(opened, given, types)


def _rename(
    opened: CsvFile, given: Mapping[str, str], types: Mapping[str, ColumnType]
) -> Iterator[pa.Table]:
    """The columns given, each from its header; one that several are from is read as text."""
    kinds: dict[str, ColumnType] = {}
    for name, header in given.items():
        kinds[header] = StringType() if header in kinds else types[name]
    for table in read_csv(opened, list(kinds), kinds):
        found = {name: table[header] for name, header in given.items()}
        rest = {n: table[n] for n in table.column_names if n not in kinds}
        yield pa.table(found | rest)


def _read_json(
    data: DataSource,
    file: str,
    types: Mapping[str, ColumnType],
    constants: Mapping[str, str | None],
    paths: Mapping[str, str],
) -> Iterator[pa.Table]:
    """What a folder's name says holds, whatever is in the file; `paths`: by column, where that is
    no member of its name."""
    check_options(data)
    if paths or data.unnest is not None:
        members = {n: paths.get(n, n) for n in types if n not in constants}
        return read_nested(file, members, data.unnest)
    return read_json(file, [n for n in types if n not in constants], types)


def _read_changes(
    data: DataSource, envelope: Envelope, file: str, wanted: WantedMembers
) -> Iterator[pa.Table]:
    check_options(data)
    return read_envelope(file, wanted, envelope)


def want_members(columns: Sequence[Column], written: TimeFormat | None) -> WantedMembers:
    """What is read of messages in an envelope for some columns and the timestamp."""
    times = () if written is None else written.columns
    return WantedMembers(
        {**{c.name: c.path for c in columns}, **{part: part for part in times}}, frozenset(times)
    )


def _list_types(
    columns: Sequence[Column], timestamp: str | None, written: TimeFormat | None
) -> dict[str, ColumnType]:
    """What the columns of a file are read as; those of timestamps that are written as text."""
    types: dict[str, ColumnType] = {c.name: c.type for c in columns}
    if written is not None:
        types |= dict.fromkeys(written.columns, StringType())
    elif timestamp is not None:
        types[timestamp] = TimestampType()
    return types


def convert_rows(
    table: pa.Table,
    columns: Sequence[Column],
    timestamp: str | None,
    written: TimeFormat | None,
) -> pa.Table:
    """Rows of text in their declared types, as read_text_rows gives them.

    Args:
        table: the columns, those of the timestamp, and CORRUPT and FAULT where there are such.
        columns: as they are declared.
        timestamp: the column of the timestamp (None: there is none).
        written: how the timestamps are written.
    """
    types = _list_types(columns, timestamp, written)
    made: dict[str, pa.ChunkedArray] = {}
    bad: list[tuple[str, Array]] = []
    for name, kind in types.items():
        made[name], wrong = _convert_column(table.column(name), kind)
        if wrong is not None:
            bad.append((name, wrong))
    if timestamp is not None and written is not None:
        times, wrong = read_times([made.pop(part) for part in written.columns], written)
        made[timestamp] = times
        if wrong is not None:
            bad.append((timestamp, wrong))
    elif timestamp is not None:
        made[timestamp] = made[timestamp].cast(pa.int64())
    made[BAD] = name_bad(bad, table.num_rows)
    if FAULT in table.column_names:
        made[BAD] = mark_faults(made[BAD], table.column(FAULT))
    if CORRUPT in table.column_names:
        made[CORRUPT] = table.column(CORRUPT)
    return pa.table(made)


def _convert_column(
    values: "pa.ChunkedArray", kind: ColumnType
) -> "tuple[pa.ChunkedArray, Array | None]":
    """Values of their type as they are, text by the rules of casts."""
    if pa.types.is_string(values.type):
        return convert_text(values, kind)
    return values, None
