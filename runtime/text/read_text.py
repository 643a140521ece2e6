"""The rows of a local text file in their declared types, as Spark gives them, without Spark."""

import zlib
from collections.abc import Iterator, Sequence, Set

import pyarrow as pa

from ontoweir.mappings.model.catalog import (
    Column,
    ColumnType,
    DataSource,
    FloatType,
    IntType,
    TimestampType,
)
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.sources.convert_table import name_bad
from ontoweir.runtime.sources.list_pieces import folder_constants
from ontoweir.runtime.sources.read_source import BAD, missing_column, unreadable
from ontoweir.runtime.text.convert_text import NotPlain, convert_text
from ontoweir.runtime.text.read_csv import open_csv, read_csv


def read_text_rows(
    data: DataSource,
    file: str,
    columns: Sequence[Column],
    timestamp: str | None,
    spare: Set[str] = frozenset(),
) -> Iterator[pa.Table]:
    """The rows, some at a time: the declared columns (as arrow_type says), the timestamp, if any,
    in microseconds, and BAD, as read_source and Spark give them.

    Args:
        data: format and options.
        file: a local file.
        columns: those wanted.
        timestamp: the column of that name too.
        spare: columns that are NULL where the file lacks them.

    Raises:
        NotPlain: Spark has to read it. Rows given before are right all the same.
        DataError: a column is missing, or the file cannot be read.
    """
    if data.format != "csv":
        raise NotPlain
    types: dict[str, ColumnType] = {c.name: c.type for c in columns}
    if timestamp is not None:
        types[timestamp] = TimestampType()
    try:
        opened = open_csv(data, file)
        constants = folder_constants(file)
        if {n.lower() for n in constants} & {n.lower() for n in opened.names}:
            raise NotPlain
        there = (*opened.names, *constants)
        for name in types:
            if name not in there and name not in spare:
                raise missing_column(name, there, file, data)
        given = [n for n in types if n in opened.names]
        if not given:
            raise NotPlain
        for table in read_csv(opened, given, types):
            for name in types:
                if name not in given:
                    cells = pa.repeat(pa.scalar(constants.get(name), pa.string()), table.num_rows)
                    table = table.append_column(name, cells)
            yield _convert(table, types, timestamp)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(file, error) from error


def _convert(table: pa.Table, types: dict[str, ColumnType], timestamp: str | None) -> pa.Table:
    made: dict[str, pa.ChunkedArray] = {}
    bad: list[tuple[str, Array]] = []
    for name, kind in types.items():
        values = table.column(name)
        read = isinstance(kind, IntType | FloatType) and values.type == arrow_type(kind)
        made[name], wrong = (values, None) if read else convert_text(values, kind)
        if wrong is not None:
            bad.append((name, wrong))
    if timestamp is not None:
        made[timestamp] = made[timestamp].cast(pa.int64())
    return pa.table({**made, BAD: name_bad(bad, table.num_rows)})
