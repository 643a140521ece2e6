"""Read the rows of a micro-batch, by stream."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import RunError
from ontoweir.mappings.catalog import Stream
from ontoweir.runtime.history import History
from ontoweir.runtime.list_arrivals import ArrivedFile, list_arrivals
from ontoweir.runtime.live_job import LANE_OF
from ontoweir.runtime.open_sources import LiveSources
from ontoweir.runtime.read_arrivals import read_arrivals
from ontoweir.runtime.read_stream import STREAM, local_path
from ontoweir.runtime.read_view import VIEW
from ontoweir.runtime.take_arrivals import FILE, LANE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_batch(
    histories: Sequence[History],
    sources: LiveSources,
    spark: "SparkSession | None",
    offsets: Path,
    frame: "DataFrame | None",
    batch: int,
) -> dict[str, pa.Table]:
    """The rows of a micro-batch by stream; Spark is only asked for those that it reads.

    Args:
        histories: the streams.
        sources: where each comes from.
        spark: the run's session (None: without Spark's own log of the files).
        offsets: Spark's folder in the checkpoint.
        frame: the rows of all streams (None: Spark reads none of them).
        batch: its number.

    Raises:
        DataError: a file cannot be read.
        RunError: Spark would read a file more than once.
    """
    whole = None
    if len(sources.direct) < len(histories):
        assert frame is not None
        whole = frame.toArrow()
    arrived = {}
    logged: dict[int, tuple[ArrivedFile, ...]] = {}
    for history in histories:
        name = history.stream.name
        number = sources.numbers.get(name, 0)
        if (direct := sources.direct.get(name)) is not None:
            assert spark is not None
            if number not in logged:
                logged[number] = list_arrivals(offsets, number, batch)
            folder = sources.folders.get(name)
            files = [f for f in logged[number] if folder is None or f.path.startswith(folder)]
            arrived[name] = read_arrivals(direct, files, spark)
        else:
            assert whole is not None
            if spark is not None and history.stream.data.format not in ("kafka", VIEW):
                _refuse_patterns(history.stream, offsets, number, batch)
            arrived[name] = _part(whole, history.stream)
    return arrived


def _refuse_patterns(stream: Stream, offsets: Path, number: int, batch: int) -> None:
    """Of several files whose names have *?[]{}, Spark reads rows more than once."""
    files = list_arrivals(offsets, number, batch)
    named = [f.path for f in files if any(c in f.path for c in "*?[]{}\\")]
    if named and len(files) > 1:
        raise RunError(
            f"the file {named[0]} of {stream.name} has a name that Spark takes for a pattern",
            why="it would read rows of this micro-batch more than once",
            fix="keep *?[]{} out of the names of files and folders, and start with a new "
            "checkpoint (and replay what has passed)",
        )


def _part(whole: pa.Table, stream: Stream) -> pa.Table:
    """The rows of one stream, under its own column names."""
    mine = whole.filter(pc.equal(whole.column(STREAM), stream.name))
    prefix = f"{stream.name}."
    names = [n for n in whole.column_names if n.startswith(prefix)]
    rows = mine.select(names).rename_columns([n[len(prefix) :] for n in names])
    for mark in (LANE, FILE):
        if mark in rows.column_names and rows.num_rows:
            coded = rows.column(mark).combine_chunks().dictionary_encode()
            if isinstance(coded, pa.ChunkedArray):
                coded = coded.unify_dictionaries().combine_chunks()
            texts = coded.dictionary.to_pylist()
            named = (
                [f"{stream.name}{LANE_OF}{t}" for t in texts]
                if mark == LANE
                else [local_path(t) for t in texts]
            )
            column = pa.array(named, pa.string()).take(coded.indices)
            rows = rows.set_column(rows.column_names.index(mark), mark, column)
    return rows
