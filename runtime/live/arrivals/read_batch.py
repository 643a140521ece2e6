"""The rows of a micro-batch that Spark hands over, by stream: of Kafka, and of views."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.open_changes import VALUE, decode_frames, open_changes
from ontoweir.runtime.live.arrivals.read_stream import STREAM
from ontoweir.runtime.live.model.live_job import PARTITION_OF
from ontoweir.runtime.live.model.row_places import FILE, PARTITION
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.history import History

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def read_batch(
    histories: Sequence[History], frame: "DataFrame | None", *, observed: bool
) -> dict[str, pa.Table]:
    """The rows of some streams.

    Args:
        histories: the streams.
        frame: the rows of all streams that Spark reads (None: it reads none).
        observed: whether Spark is to count also those that it is not asked for, for its listeners.
    """
    if frame is None:
        return {}
    names = [h.stream.name for h in histories]
    if observed and not names:
        frame.write.format("noop").mode("overwrite").save()
    if not names:
        return {}
    whole = frame.toArrow()
    parts = {}
    for history in histories:
        rows = _part(whole, history.stream)
        if VALUE in rows.column_names:
            rows = open_changes(history, decode_frames(history.stream, rows))
        parts[history.stream.name] = rows
    return parts


def _part(whole: pa.Table, stream: Stream) -> pa.Table:
    """The rows of one stream, under its own column names."""
    mine = whole.filter(pc.equal(whole.column(STREAM), stream.name))
    return name_marks(take_columns(mine, f"{stream.name}."), stream)


def take_columns(rows: pa.Table, prefix: str) -> pa.Table:
    """The columns whose names begin with a prefix, without it."""
    names = [n for n in rows.column_names if n.startswith(prefix)]
    return rows.select(names).rename_columns([n[len(prefix) :] for n in names])


def name_marks(rows: pa.Table, stream: Stream) -> pa.Table:
    """Rows with their partitions and files called as states of runs call them."""
    for mark in (PARTITION, FILE):
        if mark in rows.column_names and rows.num_rows:
            coded = rows.column(mark).combine_chunks().dictionary_encode()
            if isinstance(coded, pa.ChunkedArray):
                coded = coded.unify_dictionaries().combine_chunks()
            texts = coded.dictionary.to_pylist()
            named = (
                [f"{stream.name}{PARTITION_OF}{t}" for t in texts]
                if mark == PARTITION
                else [local_path(t) for t in texts]
            )
            column = pa.DictionaryArray.from_arrays(coded.indices, pa.array(named, pa.string()))
            rows = rows.set_column(rows.column_names.index(mark), mark, column)
    return rows
