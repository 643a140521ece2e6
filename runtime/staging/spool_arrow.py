"""Write the rows of a stream to a file of Arrow's, which is mapped to memory when it is read."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.times.align_times import align_time


def spool_arrow(
    stream: Stream,
    rows: Iterable[pa.Table],
    schema: pa.Schema,
    place: tuple[Path, str, int],
    on_rows: Callable[[int], None] = lambda rows: None,
) -> list[Piece]:
    """Write rows that are read once, soon: nothing is packed, or found in dictionaries.

    Args:
        stream: whose they are.
        rows: its rows, some at a time, with the columns of the schema.
        schema: of the file, the timestamp in microseconds.
        place: the file, the file that messages name, and the number there of the first row.
        on_rows: is told of rows that are written.

    Returns:
        Each of the tables as a row group.

    Raises:
        OSError: the disk does not take it.
    """
    part, shown, first = str(place[0]), *place[1:]
    pieces: list[Piece] = []
    number = 0
    with pa.OSFile(part, "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for table in rows:
            for batch in table.select(schema.names).combine_chunks().to_batches():
                writer.write_batch(batch)
                ends = pc.min_max(batch.column(stream.timestamp)).as_py()
                low, high = (align_time(ends[side], stream) for side in ("min", "max"))
                if batch.num_rows:
                    size = max(8 * batch.num_columns * batch.num_rows, batch.nbytes)
                    count = batch.num_rows
                    pieces.append(Piece(part, number, count, shown, first, {}, low, high, size))
                first += batch.num_rows
                number += 1
            on_rows(table.num_rows)
    return pieces
