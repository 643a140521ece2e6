"""A micro-batch, opened: what it holds, cut by time into steps, bounded before they are read.

Spark says which files a micro-batch has, not how large they are. So its rows are taken in steps,
each with a commit of its own: all rows before a time, then those before the next. Where the row
groups of files are in the order of time, a step reads its own ones alone.
"""

import hashlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ontoweir.errors import DataError, RunError, Source
from ontoweir.runtime.live.arrivals.ingest import align_rows
from ontoweir.runtime.live.arrivals.list_arrivals import (
    ArrivedFile,
    add_archived,
    list_arrivals,
    place_files,
)
from ontoweir.runtime.live.arrivals.open_columnar import Portion
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.arrivals.read_arrivals import BadFile, cut_rows, open_arrivals
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.located.data_files import is_data
from ontoweir.runtime.sources.history import History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP_ROWS = 500_000
"""About how many rows a step takes in."""
STEP_BYTES = 64 << 20
"""About how many bytes of them."""
_ENDS = 4096
"""Bytes at both ends of a file that are hashed."""


@dataclass(slots=True)
class OpenBatch:
    """What the streams of files bring in a micro-batch.

    `files`: all of them, by stream; `portions`: what is to be read; `bad`: files that cannot be.
    """

    histories: Sequence[History]
    files: Mapping[str, Sequence[ArrivedFile]]
    portions: dict[str, list[Portion]]
    bad: dict[str, list[BadFile]]
    staged: Path

    def cuts(self, rows: int = STEP_ROWS, size: int = STEP_BYTES) -> list[int]:
        """The times (µs) that part the steps: none where one step has all."""
        return cut_times([p for held in self.portions.values() for p in held], rows, size)

    def read(self, low: int | None, high: int | None) -> dict[str, pa.Table]:
        """The rows from a time on and before another, by stream; a file that turns out not to be
        readable joins the bad ones."""
        tables = {}
        for history in self.histories:
            name, time = history.stream.name, history.stream.timestamp
            parts = []
            for portion in self.portions[name]:
                before = low is not None and portion.high is not None and portion.high < low
                behind = high is not None and portion.low is not None and portion.low >= high
                if before or behind or any(b.file == portion.file for b in self.bad[name]):
                    continue
                try:
                    rows = align_rows(portion.load(), history.stream)
                    # rows without a time come with the step in which their portion begins
                    begins = low is None or (portion.low is not None and portion.low >= low)
                    parts.append(cut_rows(rows, time, low, high, untimed=begins))
                except DataError as error:
                    self.bad[name].append(BadFile(portion.file, error))
            whole = [p for p in parts if p.num_rows]
            if whole:
                held = pa.concat_tables(whole, promote_options="permissive")
                tables[name] = held.unify_dictionaries()
        return tables

    def describe(self) -> dict[str, list[list[Any]]]:
        """What a commit says of the files: path, size, modification time, hash of both ends; of
        those in archives that Spark does not know, nothing, as they stay."""
        known = {n: [f for f in files if f.uri] for n, files in self.files.items()}
        return {n: [_describe(file) for file in files] for n, files in known.items() if files}

    def close(self) -> None:
        """Remove what was staged."""
        shutil.rmtree(self.staged, ignore_errors=True)


def open_batch(
    histories: Sequence[History],
    sources: LiveSources,
    spark: "SparkSession | None",
    folder: SparkFolder,
    batch: int,
    staged: Path,
    passed: Mapping[str, Collection[str]],
) -> OpenBatch:
    """Open what the streams of files bring in a micro-batch.

    Args:
        histories: the streams of files.
        sources: where each comes from.
        spark: the run's session (None: there are no such streams).
        folder: Spark's folder in the checkpoint.
        batch: Spark's number of the micro-batch.
        staged: a folder for what Spark reads.
        passed: by stream, files that are known not to be readable.

    Raises:
        RunError: Spark's log of files is not as expected.
    """
    files: dict[str, Sequence[ArrivedFile]] = {}
    logged: dict[int, tuple[ArrivedFile, ...]] = {}
    twice: dict[str, list[tuple[str, DataError]]] = {}
    for history in histories:
        number = sources.numbers[history.stream.name]
        if number not in logged:
            logged[number] = list_arrivals(folder, number, batch)
        mine = place_files(history.stream.data, select_files(history, sources, logged[number]))
        if batch == 0:
            mine, twice[history.stream.name] = add_archived(history.stream.data, mine)
        files[history.stream.name] = [
            f for f in mine if f.path not in passed.get(history.stream.name, ())
        ]
    opened = open_files(histories, files, spark, staged)
    for name, held in twice.items():
        known = passed.get(name, ())
        opened.bad[name] += [BadFile(path, error) for path, error in held if path not in known]
    return opened


def select_files(
    history: History, sources: LiveSources, logged: Sequence[ArrivedFile]
) -> list[ArrivedFile]:
    """Of the files that a source has logged, those of a stream that have data."""
    prefix = sources.folders.get(history.stream.name)
    return [
        f
        for f in logged
        if (prefix is None or f.path.startswith(prefix)) and is_data(history.stream.data, f.path)
    ]


def open_files(
    histories: Sequence[History],
    files: Mapping[str, Sequence[ArrivedFile]],
    spark: "SparkSession | None",
    staged: Path,
) -> OpenBatch:
    """Open files of streams.

    Args:
        histories: the streams.
        files: by stream, those to read.
        spark: the run's session (None: there are no files).
        staged: a folder for what Spark reads; what is there is removed.

    Raises:
        RunError: Spark fails, of no fault of a file.
    """
    opened = OpenBatch(histories, files, {}, {}, staged)
    shutil.rmtree(staged, ignore_errors=True)
    for place, history in enumerate(histories):
        name = history.stream.name
        arrivals: tuple[list[Portion], list[BadFile]] = ([], [])
        if files[name]:
            assert spark is not None
            arrivals = open_arrivals(history, files[name], spark, staged / str(place))
        opened.portions[name], opened.bad[name] = arrivals
    return opened


def cut_times(known: Sequence[Portion], rows: int, size: int) -> list[int]:
    """The times (µs) that part portions into steps of about so many rows and bytes each."""
    known = sorted(known, key=lambda p: -(1 << 63) if p.low is None else p.low)
    times: list[int] = []
    taken = bytes_taken = 0
    for portion in known:
        full = taken and (taken + portion.rows > rows or bytes_taken + portion.size > size)
        if full and portion.low is not None and (not times or portion.low > times[-1]):
            times.append(portion.low)
            taken = bytes_taken = 0
        taken += portion.rows
        bytes_taken += portion.size
    return times


def compare_files(
    then: Mapping[str, Sequence[Sequence[Any]]], now: Mapping[str, Sequence[Sequence[Any]]]
) -> None:
    """A micro-batch of which a part is committed goes on with the same files.

    Raises:
        RunError: a file has changed since, or is gone.
    """
    for stream, files in then.items():
        there = {tuple(f) for f in now.get(stream, ())}
        for file in files:
            if tuple(file) not in there:
                raise RunError(
                    f"{file[0]} is not what it was when its first rows were taken in",
                    why="rows would be lost, or come twice",
                    fix="restore the file as it was, and start again; or start with a new "
                    "checkpoint, and replay the history",
                    source=Source(str(file[0])),
                )


def _describe(file: ArrivedFile) -> list[Any]:
    if "://" in file.path:
        return [file.path, None, file.modified, None]
    try:
        with open(file.place, "rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            digest = hashlib.sha256(opened.read(_ENDS))
            opened.seek(max(0, size - _ENDS))
            digest.update(opened.read(_ENDS))
    except OSError:
        return [file.path, None, file.modified, None]
    return [file.path, size, file.modified, digest.hexdigest()]


def list_bad(opened: OpenBatch) -> Iterator[tuple[History, BadFile]]:
    """The files that cannot be read, with their streams."""
    for history in opened.histories:
        for bad in opened.bad[history.stream.name]:
            yield history, bad
