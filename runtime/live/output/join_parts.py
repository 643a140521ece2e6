"""The contents of several parts, in their order, as the content of one."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.live.output.write_parts import begin_parquet

_ROWS_OF_GROUP = 32 << 20
"""About so many bytes of rows are in a row group."""
_HEADER = re.compile(rb'(?:"(?:[^"]|"")*"|[^"\n])*\n')
"""The first line of CSV, whose names may have ends of lines."""
_MARK = 16
"""Bytes of Avro's mark, which the header of a file ends with, and each block of it."""


class UnlikeError(Exception):
    """Parts that have other columns than one another."""


def join_contents(contents: Iterator[bytes], target: Path, suffix: str) -> None:
    """Write the rows of files of JSON lines, N-Quads, CSV, Arrow or Avro to one.

    Args:
        contents: of the files, each as `write_parts` encodes it.
        target: the file.
        suffix: of their names, with the dot.

    Raises:
        UnlikeError: CSV, Arrow or Avro, whose files begin with their columns, and these are not
            the same.
        OSError: the disk does not take it.
    """
    match suffix:
        case ".csv" | ".avro":
            made = _join_headed([*contents], suffix)
        case ".arrow":
            _join_arrow([*contents], target)
            return
        case _:
            made = contents
    with open(target, "wb") as opened:
        opened.writelines(made)


def _join_headed(contents: Sequence[bytes], suffix: str) -> Iterator[bytes]:
    """What is to be written: the header, and what is after it in each."""
    ends = [_end_csv(c) if suffix == ".csv" else c.index(c[-_MARK:]) + _MARK for c in contents]
    header = contents[0][: ends[0]]
    if any(c[:end] != header for c, end in zip(contents, ends, strict=True)):
        raise UnlikeError
    return iter([header, *(c[end:] for c, end in zip(contents, ends, strict=True))])


def _end_csv(content: bytes) -> int:
    found = _HEADER.match(content)
    return len(content) if found is None else found.end()


def _join_arrow(contents: Sequence[bytes], target: Path) -> None:
    opened = [pa.ipc.open_file(pa.BufferReader(content)) for content in contents]
    schema = opened[0].schema
    if any(not file.schema.equals(schema, check_metadata=True) for file in opened):
        raise UnlikeError
    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, schema) as written:
        for file in opened:
            for number in range(file.num_record_batches):
                written.write_batch(file.get_batch(number))


def join_parquet(contents: Iterator[bytes], target: Path, run: str, batches: str) -> None:
    """Write the rows of Parquet files to one, with all columns that one of them has.

    Args:
        contents: of the files.
        target: the file.
        run: the id of the run that they are of.
        batches: the first and the last micro-batch.

    Raises:
        OSError, pa.ArrowException: one is none, or the disk does not take it.
    """
    opened = [pq.ParquetFile(pa.BufferReader(content)) for content in contents]
    schemas = [file.schema_arrow.remove_metadata() for file in opened]
    known = opened[0].schema_arrow.metadata
    schema = pa.unify_schemas(schemas)
    with begin_parquet(target, schema.with_metadata(known), run, batches) as written:
        held, size = list[pa.Table](), 0
        for file in opened:
            for number in range(file.num_row_groups):
                rows = file.read_row_group(number).replace_schema_metadata(None)
                held.append(rows)
                size += rows.nbytes
                if size >= _ROWS_OF_GROUP:
                    _write(held, written)
                    held, size = [], 0
        if held:
            _write(held, written)


def _write(held: Sequence[pa.Table], written: pq.ParquetWriter) -> None:
    rows = pa.concat_tables(held, promote_options="default")
    for name in written.schema.names:
        if name not in rows.schema.names:
            column = written.schema.field(name)
            rows = rows.append_column(column, pa.nulls(len(rows), column.type))
    rows = rows.select(written.schema.names).replace_schema_metadata(written.schema.metadata)
    written.write_table(rows)
