"""Open the files that a stream brings in a micro-batch: the rows of each, by the reader of replays.

Local Parquet, CSV and JSON lines, and Avro where fastavro is installed, are read in this process,
row group by row group. Everything else is read by Spark, with its columns found by their names, and
staged. A file that cannot be read is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.errors import DataError, OntoweirError, RunError
from ontoweir.mappings.model.catalog import DataSource, Stream
from ontoweir.runtime.live.arrivals.ingest import FAULT, MODIFIED
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.open_columnar import (
    Portion,
    not_kept,
    open_packed,
    open_parquet,
    reading_options,
    stream_is_packed,
)
from ontoweir.runtime.live.model.row_places import FILE, NUMBER, encode_places, name_place
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.convert_table import list_faults
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.list_pieces import (
    find_leaf,
    read_size,
    read_time_span,
)
from ontoweir.runtime.sources.read_source import (
    BAD,
    WantedColumns,
    drop_empty,
    read_source,
    refuse_written,
    unreadable,
)
from ontoweir.runtime.spark.explain_java import suggest_package
from ontoweir.runtime.spark.write_parquet import write_parquet
from ontoweir.runtime.staging.spool_stream import write_rows
from ontoweir.runtime.staging.stage_stream import list_alike, with_folders
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.open_packed import PACKED
from ontoweir.runtime.text.read_json import CORRUPT
from ontoweir.runtime.text.read_text import read_text_rows
from ontoweir.runtime.violations.number_rows import number_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLLECTED = 4 << 20
"""Bytes of files up to which Spark hands their rows over; of more, it writes them."""
_HELD = 64 << 20
"""Bytes of rows of text files that are held at once; the files after those are written, too."""
_NO_OBJECT = "is not a JSON object"


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that cannot be read, and why."""

    file: str
    error: DataError


def open_arrivals(
    history: History, files: Sequence[ArrivedFile], spark: "SparkSession", folder: Path
) -> tuple[list[Portion], list[BadFile]]:
    """The rows of a stream's files, and the files that have none because they cannot be read.

    Args:
        history: the stream.
        files: what arrived.
        spark: reads what is not read in this process.
        folder: a place for what Spark has read.

    Raises:
        RunError: Spark fails, of no fault of a file.
    """
    portions: list[Portion] = []
    bad: list[BadFile] = []
    if history.stream.data.format == "parquet" and not any("://" in f.path for f in files):
        for file in files:
            try:
                portions += open_parquet(history, file)
            except DataError as error:
                bad.append(BadFile(file.path, error))
        return portions, bad
    left: list[ArrivedFile] = []
    held = 0
    packed = stream_is_packed(history.stream)
    for number, file in enumerate(files):
        try:
            if packed and "://" not in file.path:
                portions += open_packed(history, file, folder / f"packed-{number}.parquet")
                continue
            spool = folder / f"text-{number}.parquet"
            opened = _open_text(history, file, spool, _HELD - held)
            held += sum(portion.size for portion in opened if not spool.exists())
            portions += opened
        except NotPlain:
            left.append(file)
        except DataError as error:
            bad.append(BadFile(file.path, error))
    for number, group in enumerate(_group(history, left, bad)):
        try:
            portions += _stage(history, group, spark, folder / str(number))
        except DataError as error:
            if len(group) == 1:
                bad.append(BadFile(group[0].path, error))
                continue
            for place, file in enumerate(group):
                alone = folder / f"{number}-{place}"
                try:
                    portions += _stage(history, [file], spark, alone)
                except DataError as mine:
                    bad.append(BadFile(file.path, mine))
    return portions, bad


def _open_text(history: History, file: ArrivedFile, spool: Path, most: int) -> list[Portion]:
    """The rows of a local text file: of a large one, or one of more than `most` bytes, row groups
    of what is written to `spool`.

    Raises:
        NotPlain: Spark has to read it.
        DataError: it cannot be read.
    """
    stream = history.stream
    if "://" in file.path or stream.data.format not in ("csv", "json"):
        raise NotPlain
    data = replace(stream.data, options=reading_options(stream))
    try:
        if not drop_empty(data, [file.place]):
            return []
        size = Path(file.place).stat().st_size
    except OSError as error:
        raise unreadable(file.place, error) from error
    wanted = [c for c in stream.columns if c.name in history.columns]
    rows_of = read_text_rows(
        data, file.place, wanted, stream.timestamp, history.spare, stream.written
    )
    tables = (_mark_faults(rows, stream) for rows in rows_of)
    times = {file.path: file}
    if size <= min(_COLLECTED, most) and not _is_packed([file.place]):
        held = list(tables)
        if not held:
            return []
        whole = _name_file(pa.concat_tables(held), file.path)
        numbers = _number(data, file.place, whole.num_rows)
        return [_hold(file.path, _mark(whole.append_column(NUMBER, numbers), times))]
    try:
        spool.parent.mkdir(parents=True, exist_ok=True)
        marks = (FAULT, RAW) if data.format == "json" else ()
        write_rows(stream, wanted, tables, spool, marks=marks)
    except OSError as error:
        raise not_kept(spool, "text", error) from error
    with pq.ParquetFile(spool) as opened:
        numbers = _number(data, file.place, opened.metadata.num_rows)
    return list(_portions(history, [spool], file.path, times, numbers))


def _number(data: DataSource, path: str, count: int) -> pa.Array:
    """
    Raises:
        DataError: the file cannot be read.
    """
    try:
        return number_rows(data, path, count)
    except OSError as error:
        raise unreadable(path, error) from error


def _mark_faults(rows: pa.Table, stream: Stream) -> pa.Table:
    """Rows with what is wrong with lines of JSON, and their text."""
    if CORRUPT not in rows.column_names:
        return rows
    raw = rows.column(CORRUPT)
    if stream.data.envelope is not None:
        fault = list_faults(rows.column(BAD), stream.name)
    else:
        fault = pc.if_else(pc.is_valid(raw), _NO_OBJECT, pa.scalar(None, pa.string()))
    return rows.drop_columns([CORRUPT]).append_column(FAULT, fault).append_column(RAW, raw)


def _hold(path: str, rows: pa.Table) -> Portion:
    return Portion(path, None, None, rows.num_rows, rows.nbytes, lambda: rows)


def _name_file(rows: pa.Table, path: str) -> pa.Table:
    if FILE in rows.column_names:
        return rows
    return rows.append_column(FILE, name_place(path, rows.num_rows))


def _group(
    history: History, files: Sequence[ArrivedFile], bad: list[BadFile]
) -> list[list[ArrivedFile]]:
    """Files that Spark reads together: local ones with the same columns."""
    data = history.stream.data
    remote = [[f] for f in files if "://" in f.path]
    local = {}
    for file in files:
        if "://" in file.path:
            continue
        try:
            if drop_empty(data, [file.place]):
                with open(file.place, "rb"):
                    local[file.place] = file
        except OSError as error:
            bad.append(BadFile(file.path, unreadable(file.place, error)))
        except DataError as error:
            bad.append(BadFile(file.path, error))
    return [*([local[p] for p in group] for group in list_alike(data, list(local))), *remote]


def _stage(
    history: History, files: Sequence[ArrivedFile], spark: "SparkSession", folder: Path
) -> list[Portion]:
    """The rows of files with the same columns, by Spark's reader.

    Raises:
        DataError: one cannot be read.
    """
    from pyspark.errors import AnalysisException

    path = files[0].place
    try:
        frame = _frame(history, [f.place for f in files], spark)
    except DataError as error:
        if error.__cause__ is None or suggest_package(path, error.__cause__) is None:
            raise
        raise RunError(  # of no fault of the file's
            f"{history.stream.name} cannot be read: {error.what}", why=error.why, fix=error.fix
        ) from error
    times = {f.place: f for f in files}
    local = [f.place for f in files if "://" not in f.path]
    size = sum(Path(p).stat().st_size for p in local)
    small = len(local) == len(files) and size <= _COLLECTED and not _is_packed(local)
    try:
        if small:
            rows = _mark(frame.toArrow(), times)
            return [_hold(files[0].path, rows)]
        write_parquet(frame, str(folder), replace=True)
    except OntoweirError:
        raise
    except Exception as error:  # py4j's own too
        if "FAILED_READ_FILE" in str(error) or isinstance(error, AnalysisException):
            raise unreadable(path, _first_cause(error)) from error
        raise RunError(
            f"Spark failed to read {path}: {_first_cause(error)}",
            why=f"{history.stream.name} is read by Spark's {history.stream.data.format} reader",
            fix="see Spark's log for the cause, and start again: what was committed is intact",
        ) from error
    return list(_portions(history, sorted(folder.glob("part-*.parquet")), files[0].path, times))


def _frame(history: History, files: Sequence[str], spark: "SparkSession") -> "DataFrame":
    from pyspark.sql import functions as fn

    stream = history.stream
    refuse_written(stream)
    data = with_folders(stream.data, files[0])
    data = replace(data, options=reading_options(replace(stream, data=data)))
    wanted = [c for c in stream.columns if c.name in history.columns]
    marks = [fn.col("_metadata.file_path").alias(FILE)]
    if data.format == "json":
        fault = fn.when(fn.col(CORRUPT).isNotNull(), fn.lit(_NO_OBJECT))
        marks += [fault.alias(FAULT), fn.col(CORRUPT).alias(RAW)]
    if data.format == "parquet":  # which alone knows
        marks.append((fn.col("_metadata.row_index") + 1).alias(NUMBER))
    together = files if len(files) > 1 else ()
    columns = WantedColumns(wanted, stream.timestamp, history.spare, marks, CORRUPT)
    return read_source(spark, data, files[0], columns, together)


def _mark(rows: pa.Table, times: Mapping[str, ArrivedFile]) -> pa.Table:
    """Paths as they were listed, and when each file was modified."""
    rows = encode_places(rows)
    place = rows.column_names.index(FILE)
    coded = rows.column(FILE).combine_chunks()
    known = [local_path(uri) for uri in coded.dictionary.to_pylist()]
    of = [times.get(file, ArrivedFile("", file, 0)) for file in known]
    files = pa.DictionaryArray.from_arrays(
        coded.indices, pa.array([f.path for f in of], pa.string())
    )
    modified = pa.array([f.modified for f in of], pa.int64()).take(coded.indices)
    return rows.set_column(place, FILE, files).append_column(MODIFIED, modified)


def _portions(
    history: History,
    parts: Sequence[Path],
    shown: str,
    times: Mapping[str, ArrivedFile],
    numbers: pa.Array | None = None,
) -> Iterator[Portion]:
    """The row groups of what was written of files, or of the one that is shown, of whose rows the
    `numbers` are known."""
    first = 0
    for part in parts:
        with pq.ParquetFile(part) as opened:
            metadata = opened.metadata
        place = find_leaf(metadata, history.stream.timestamp)
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            low, high = read_time_span(group, place, history.stream)
            names = (*history.columns, history.stream.timestamp)

            mine = None if numbers is None else numbers.slice(first, group.num_rows)
            first += group.num_rows

            def load(
                part: Path = part, number: int = number, mine: pa.Array | None = mine
            ) -> pa.Table:
                with pq.ParquetFile(part) as opened:
                    rows = _mark(_name_file(opened.read_row_group(number), shown), times)
                return rows if mine is None else rows.append_column(NUMBER, mine)

            size = read_size(group, names)
            yield Portion(shown, low, high, group.num_rows, size, load)


def _is_packed(files: Sequence[str]) -> bool:
    """Whether files may hold far more than their size."""
    return any(f.endswith(PACKED) for f in files)


def _first_cause(error: Exception) -> Exception:
    """What Java says at the bottom, in one line."""
    lines = [x.strip() for x in str(error).splitlines() if x.strip()]
    causes = [x.removeprefix("Caused by: ") for x in lines if x.startswith("Caused by: ")]
    return ValueError((causes or lines or [type(error).__name__])[-1 if causes else 0][:300])


def cut_rows(
    rows: pa.Table, time: str, low: int | None, high: int | None, *, untimed: bool
) -> pa.Table:
    """The rows from a time on and before another (µs); and, if asked for, those without any."""
    if low is None and high is None:
        return rows
    times = rows.column(time)
    keep = pc.is_valid(times)
    if low is not None:
        keep = pc.and_(keep, pc.fill_null(pc.greater_equal(times, low), False))
    if high is not None:
        keep = pc.and_(keep, pc.fill_null(pc.less(times, high), False))
    return rows.filter(pc.or_(keep, pc.is_null(times)) if untimed else keep)
