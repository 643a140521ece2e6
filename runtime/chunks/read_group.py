"""The columns of a row group of a Parquet file, portion by portion, each in the fastest way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.chunks.watch_times import RowSource
from ontoweir.runtime.parquet.filled_column import FilledColumn, FilledLeaf
from ontoweir.runtime.parquet.open_filled import FilledColumns, open_filled
from ontoweir.runtime.parquet.read_decimals import read_decimals
from ontoweir.runtime.sources.history import Piece

_WIDE = 40
"""Columns that take so many bytes a row are decoded by several threads: of others the threads cost
more than they save."""
_BUFFERED = 8
"""Bytes of a column's pages that are read at once, for each row of a portion."""


@dataclass(frozen=True, slots=True)
class GroupFooter:
    """What a file says of itself; the columns that are read with their dictionaries; the places of
    those that may be read by `read_decimals`; of other texts that `TextPages` may pick; and those
    that may be read by `open_filled`."""

    metadata: "pq.FileMetaData"
    coded: tuple[str, ...]
    decimals: Mapping[str, int]
    texts: Mapping[str, int]
    filled: Mapping[str, FilledLeaf]


def open_columns(
    source: "pa.NativeFile", footer: GroupFooter, piece: Piece, wanted: Sequence[str]
) -> dict[str, FilledColumn | FilledColumns]:
    """The columns wanted of a piece that `open_filled` reads, by name."""
    filled: dict[str, FilledColumn | FilledColumns] = {}
    for name in wanted:
        if name in footer.filled:
            leaf, read = footer.filled[name], partial(_read_whole, source, footer, name)
            column = open_filled(source, footer.metadata, piece.all_groups, leaf, read)
            if column is not None:
                filled[name] = column
    return filled


def read_group(
    source: "pa.NativeFile",
    footer: GroupFooter,
    piece: Piece,
    wanted: Sequence[str],
    rows: int | None,
    filled: Mapping[str, RowSource] = MappingProxyType({}),
) -> Iterator[pa.Table]:
    """Those of the columns wanted that a file has, of a row group; in portions of at most so many
    rows (None: in one); `filled`: those that were opened."""
    buffer = 0 if rows is None else _BUFFERED * rows
    file = pq.ParquetFile(
        source,
        metadata=footer.metadata,
        pre_buffer=False,
        buffer_size=buffer,
        read_dictionary=footer.coded,
    )
    there = set(file.schema_arrow.names)
    names = [n for n in wanted if n in there]
    apart: dict[str, pa.ChunkedArray] = {}
    for name in names:
        if name in footer.decimals and name not in filled and piece.groups == 1:
            found = read_decimals(source, footer.metadata, piece.group, footer.decimals[name])
            if found is not None:
                apart[name] = found
    plain = [n for n in names if n not in apart and n not in filled]
    threads = piece.size >= _WIDE * piece.rows
    if rows is None:
        table = file.read_row_groups(piece.all_groups, columns=plain, use_threads=threads)
        yield _put_beside(table, apart, names)
        return
    first = 0
    for batch in _list_batches(file, piece, rows, plain, threads):
        part = {n: values.slice(first, batch.num_rows) for n, values in apart.items()}
        part |= {n: column.take(batch.num_rows) for n, column in filled.items()}
        first += batch.num_rows
        yield _put_beside(batch, part, names)


def _read_whole(
    source: "pa.NativeFile", footer: GroupFooter, name: str, group: int
) -> "pa.ChunkedArray":
    """A column of a row group."""
    coded, metadata = footer.coded, footer.metadata
    file = pq.ParquetFile(source, metadata=metadata, pre_buffer=False, read_dictionary=coded)
    return file.read_row_group(group, columns=[name], use_threads=False).column(name)


def _list_batches(
    file: "pq.ParquetFile", piece: Piece, rows: int, plain: Sequence[str], threads: bool
) -> Iterator[pa.Table]:
    """Some columns of a row group, in portions; without columns, the rows of these."""
    if plain:
        for batch in file.iter_batches(rows, piece.all_groups, plain, use_threads=threads):
            yield pa.Table.from_batches([batch])
        return
    for first in range(0, piece.rows, rows):
        yield pa.table({"": pa.nulls(min(rows, piece.rows - first))}).select([])


def _put_beside(
    table: pa.Table, apart: Mapping[str, pa.ChunkedArray], names: Sequence[str]
) -> pa.Table:
    """Rows with columns that were read apart."""
    for name, values in apart.items():
        table = table.append_column(name, values)
    return table.select(names) if apart else table
