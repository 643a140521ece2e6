"""Measure the data of streams, as it is, whatever is declared of it."""

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, DateType, Stream, TimestampType

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from ontoweir.progress.replay_progress import ProgressListener
    from ontoweir.runtime.engine.configure_run import StreamColumns
    from ontoweir.runtime.measure.measured import MeasuredRatio, MeasuredStream
    from ontoweir.runtime.sources.history import Piece


def measure_streams(
    catalog: Catalog,
    streams: Sequence[Stream],
    spark: "Callable[[], SparkSession]",
    progress: "ProgressListener | None",
    joined: Collection[tuple[str, str]] = (),
    most: int | None = None,
) -> "dict[str, MeasuredStream]":
    """What holds of the data of streams.

    Args:
        catalog: the tables.
        streams: some of them.
        spark: gives the session where a source needs it.
        progress: is called while rows are read.
        joined: streams and columns of whose values it is told where their rows lie.
        most: of each stream the first rows are enough, so many and what is read with them.

    Raises:
        DataError: data is missing, or cannot be read.
    """
    from ontoweir.progress.replay_progress import count_prepared
    from ontoweir.runtime.located.hold_archive import read_archives
    from ontoweir.runtime.measure.measure_stream import measure_stream
    from ontoweir.runtime.replay.open_history import StagingArea, open_history

    statics = _load_keys(catalog, spark)
    raw = [_undeclared(s) for s in streams]
    catalog = replace(catalog, streams={s.name: s for s in raw})
    measured = {}
    with (
        tempfile.TemporaryDirectory(prefix="ontoweir-measure-") as folder,
        read_archives(s.data for s in raw),
    ):
        area = StagingArea(spark, Path(folder), (None, None), True, progress)
        for stream in raw:
            history = open_history(catalog, _all_columns(stream), area)
            if most is not None:
                history = replace(history, pieces=_first_pieces(history.pieces, most))
            seen = count_prepared(progress, stream.name)
            wanted = {column for name, column in joined if name == stream.name}
            measured[stream.name] = measure_stream(history, statics, seen, wanted)
    return measured


def _first_pieces(pieces: "Sequence[Piece]", most: int) -> "tuple[Piece, ...]":
    """As many pieces as have so many rows."""
    before = accumulate((p.rows for p in pieces), initial=0)
    return tuple(p for p, rows in zip(pieces, before, strict=False) if rows < most)


def compare_streams(
    measured: "Mapping[str, MeasuredStream]",
) -> "dict[tuple[str, str], MeasuredRatio]":
    """How many rows of a stream there are for each of another, in the time that both have."""
    from ontoweir.runtime.measure.count_rates import compare_rates

    found = {}
    for one, other in combinations(measured, 2):
        mine, theirs = measured[one].rates, measured[other].rates
        ratio = None if mine is None or theirs is None else compare_rates(mine, theirs)
        if ratio is not None:
            found[one, other] = ratio
    return found


def _undeclared(stream: Stream) -> Stream:
    """A stream as its rows came, not sorted, and none of them late; nothing is said of values."""
    columns = tuple(replace(c, minimum=None, maximum=None, enum=None) for c in stream.columns)
    return replace(
        stream, lateness_us=0, data=replace(stream.data, sort=False), columns=columns, start_us=None
    )


def _all_columns(stream: Stream) -> "StreamColumns":
    """All columns; those that the data lacks are NULL, but for dates and times, which it has."""
    from ontoweir.runtime.engine.configure_run import StreamColumns

    dated = {c.name for c in stream.columns if isinstance(c.type, DateType | TimestampType)}
    others = tuple(c for c in stream.columns if c.name not in dated)
    return StreamColumns(stream, frozenset(dated), others)


def _load_keys(
    catalog: Catalog, spark: "Callable[[], SparkSession]"
) -> "dict[tuple[str, str], pa.Array]":
    """The values of the keys of one column that static relations have."""
    from ontoweir.runtime.statics.load_statics import load_statics

    keyed = {
        (r.name, key[0]) for r in catalog.relations.values() for key in r.keys if len(key) == 1
    }
    loaded = load_statics(spark, catalog, {name for name, _ in keyed})
    return {(n, c): loaded[n].column(c).combine_chunks() for n, c in sorted(keyed)}
