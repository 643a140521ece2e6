"""Write staged rows anew, as files of Arrow's that are mapped to memory: nothing is unpacked when
they are read."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.chunks.row_groups import MAPPED
from ontoweir.runtime.sources.coded_texts import CODED, find_coded
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.list_pieces import find_leaf
from ontoweir.runtime.sources.read_source import unreadable
from ontoweir.runtime.staging.spool_arrow import spool_arrow

_MOST, _FEWEST = 524_288, 65_536
"""Rows of a piece: ranges of replays are cut between pieces, and each costs some time."""
_PIECES = 4
"""So many pieces at least are made of many rows."""


@dataclass(frozen=True, slots=True)
class MappedRows:
    """Pieces of mapped files, and the columns in which no row is NULL."""

    pieces: tuple[Piece, ...]
    filled: frozenset[str]


def map_rows(pieces: Sequence[Piece], stream: Stream) -> MappedRows:
    """Row groups of Parquet files that were made of a stream's as pieces of mapped files beside
    them, whose names end in `.arrow`; the Parquet files are removed. A row group, and a piece, are
    in memory at a time. Texts that Parquet holds by dictionaries stay so, with one for each file.

    Args:
        pieces: in order, those of a file one after the other.
        stream: whose they are.

    Raises:
        DataError: a file cannot be read.
        OSError: the disk does not take it.
    """
    whole = sum(p.rows for p in pieces)
    rows = max(_FEWEST, min(_MOST, whole // _PIECES))
    made: list[Piece] = []
    filled = {column.name for column in stream.columns}
    for file, held in groupby(pieces, key=lambda piece: piece.file):
        groups = list(held)
        place = Path(file).with_suffix(MAPPED), groups[0].shown, groups[0].first
        try:
            with pq.ParquetFile(file) as opened:
                coded = find_coded(opened.metadata, stream)
                schema = opened.schema_arrow
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(file, error) from error
        for name in coded:
            schema = schema.set(schema.get_field_index(name), pa.field(name, CODED))
        schema = _narrow(schema, opened.metadata, stream)
        texts = _unite_texts(groups, coded)
        parts = _read_rows(groups, texts, (stream.timestamp, rows))
        tables = (table.cast(schema) for table in parts)
        made += spool_arrow(stream, _note_filled(tables, filled), schema, place)
        os.unlink(file)
    return MappedRows(tuple(made), frozenset(filled))


def _note_filled(tables: Iterator[pa.Table], filled: set[str]) -> Iterator[pa.Table]:
    """The same tables; the columns in which something is NULL, or which are not there, go from the
    set."""
    for table in tables:
        filled &= {n for n in table.column_names if not table.column(n).null_count}
        yield table


def _narrow(schema: pa.Schema, footer: "pq.FileMetaData", stream: Stream) -> pa.Schema:
    """A schema in which whole numbers have the narrowest type that has room for all in a file, as
    its statistics say: the less is read, the faster."""
    for place, field in enumerate(schema):
        leaf = find_leaf(footer, field.name)
        if field.name == stream.timestamp or not pa.types.is_int64(field.type) or leaf is None:
            continue
        held = [footer.row_group(n).column(leaf) for n in range(footer.num_row_groups)]
        ends = [c.statistics for c in held if c.num_values]
        known = [e for e in ends if e is not None and e.has_min_max]
        if not known or len(known) < len(ends):
            continue
        low, high = min(e.min for e in known), max(e.max for e in known)
        for kind in (pa.int8(), pa.int16(), pa.int32()):
            edge = 1 << (kind.bit_width - 1)
            if -edge <= low and high < edge:
                schema = schema.set(place, pa.field(field.name, kind))
                break
    return schema


def _unite_texts(groups: Sequence[Piece], coded: Sequence[str]) -> dict[str, "pa.Array"]:
    """The dictionary of each coded column of a file."""
    texts = {name: pa.array([], pa.string()) for name in coded}
    for piece in groups if coded else ():
        table = _read_group(piece, coded, coded)
        for name in coded:
            found = [chunk.dictionary.cast(pa.string()) for chunk in table.column(name).chunks]
            texts[name] = pc.unique(pa.concat_arrays([texts[name], *found]))
    return texts


def _read_rows(
    groups: Sequence[Piece], texts: Mapping[str, "pa.Array"], cut: tuple[str, int]
) -> Iterator[pa.Table]:
    """The rows of a file with the dictionaries given, so many at a time at most, and cut between
    two timestamps; `cut`: the column of these, and how many rows."""
    held: list[pa.Table] = []
    count = 0
    for piece in groups:
        table = _read_group(piece, None, tuple(texts))
        for name, dictionary in texts.items():
            place = table.column_names.index(name)
            column = _recode(table.column(name), dictionary)
            table = table.set_column(place, pa.field(name, CODED), column)
        held.append(table)
        count += table.num_rows
        while count > cut[1]:
            whole = pa.concat_tables(held)
            rows = _find_cut(whole.column(cut[0]), cut[1])
            yield whole.slice(0, rows)
            held = [whole.slice(rows)]
            count -= rows
    if count:
        yield pa.concat_tables(held)


def _find_cut(times: "pa.ChunkedArray", rows: int) -> int:
    """The most rows, so many at most, after which another timestamp begins; so many, where less
    than half of them would be left."""
    first = int(pc.index(times.slice(0, rows + 1), times[rows]).as_py())
    return first if first > rows // 2 else rows


def _recode(values: "pa.ChunkedArray", dictionary: "pa.Array") -> "pa.ChunkedArray":
    """Texts by their places in another dictionary, which has them all."""
    chunks = [
        pa.DictionaryArray.from_arrays(
            pc.index_in(chunk.dictionary.cast(pa.string()), value_set=dictionary).take(
                chunk.indices
            ),
            dictionary,
        )
        for chunk in values.chunks
    ]
    return pa.chunked_array(chunks, CODED)


def _read_group(piece: Piece, names: Sequence[str] | None, coded: Sequence[str]) -> pa.Table:
    """
    Raises:
        DataError: it cannot be read.
    """
    try:
        with pq.ParquetFile(piece.file, read_dictionary=list(coded)) as opened:
            return opened.read_row_groups(
                piece.all_groups, columns=None if names is None else list(names)
            )
    except (OSError, pa.ArrowInvalid) as error:
        raise unreadable(piece.file, error) from error
