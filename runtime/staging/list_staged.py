"""List the row groups of Parquet files that were made of a stream's files."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.list_pieces import find_leaf, read_size, read_time_span
from ontoweir.runtime.sources.read_source import unreadable
from ontoweir.runtime.text.csv_dialect import number_first


def list_staged(
    parts: Sequence[Path], stream: Stream, columns: Sequence[str], shown: str
) -> list[Piece]:
    """The row groups that have rows, in order.

    Args:
        parts: Parquet files, in order.
        stream: whose they are.
        columns: those in use, without the timestamp.
        shown: the file that messages name; a CSV's rows are counted with its header.

    Raises:
        DataError: a part cannot be read.
    """
    names = (*columns, stream.timestamp)
    pieces: list[Piece] = []
    first = number_first(stream.data)
    for part in parts:
        try:
            with pq.ParquetFile(part) as opened:
                metadata = opened.metadata
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(str(part), error) from error
        place = find_leaf(metadata, stream.timestamp)
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            low, high = read_time_span(group, place, stream)
            size = read_size(group, names)
            if group.num_rows:
                rows = group.num_rows
                pieces.append(Piece(str(part), index, rows, shown, first, {}, low, high, size))
            first += group.num_rows
    return pieces
