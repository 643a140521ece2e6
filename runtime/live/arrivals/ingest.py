"""Take in a stream's rows of one micro-batch: which can still take part, how far partitions are.

The source marks its rows with extra columns, where it has them: FAULT (why a message is not a row,
with RAW, its text), PARTITION and OFFSET (Kafka), FILE, NUMBER and MODIFIED (files). Where a row is
from stays with it.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.live.model.live_job import FileGroup, LiveState, Reject, partitions_of
from ontoweir.runtime.live.model.row_places import (
    FILE,
    OFFSET,
    PARTITION,
    encode_places,
    show_places,
)
from ontoweir.runtime.live.model.step_memory import StepMemory
from ontoweir.runtime.results.plain_json import plain_json
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.times.align_times import align_times

FAULT = "__fault"
MODIFIED = "__modified"
LATE = "late: its timestamp is finished"
AGAIN = "duplicate: its offset was delivered before"


@dataclass(frozen=True, slots=True)
class Taken:
    """Rows that can take part, those that cannot; by partition the last timestamp and offset; for
    each row that is late, the lateness that its stream would have needed (µs); and by how much a
    row came after one of its partition with a later timestamp, at most (µs)."""

    rows: pa.Table
    rejects: tuple[Reject, ...]
    max_event_time: Mapping[str, int]
    offsets: Mapping[str, int]
    files: FileGroup | None
    late: Array
    behind_us: int


def ingest(
    history: History, rows: pa.Table, state: LiveState, peers: Collection[str] = ()
) -> Taken:
    """Split a stream's rows, and say how far its partitions have come.

    Args:
        history: the stream.
        rows: the columns in use, the timestamp in µs (NULL: none), BAD, and the source's marks.
        state: after the micro-batch before.
        peers: all files there now that were modified when the latest of these rows' files was.

    Of files with one modification time, those count in the order of their paths: the stream has
    come as far as the files before the first that is there and not delivered.
    """
    time = history.stream.timestamp
    rows = encode_places(align_rows(rows, history.stream))
    rejects: list[Reject] = []

    def drop(bad: "pa.ChunkedArray", reason: str) -> None:
        nonlocal rows
        if pc.any(bad).as_py():
            rejects.extend(describe_rows(history, rows.filter(bad), reason))
            rows = rows.filter(pc.invert(bad))

    offsets = _last_by_partition(rows, OFFSET)
    if OFFSET in rows.column_names and state.offsets:
        coded = rows.column(PARTITION).combine_chunks()
        last = [state.offsets.get(name, -1) for name in coded.dictionary.to_pylist()]
        known = pc.fill_null(pa.array(last, pa.int64()).take(coded.indices), -1)
        drop(pc.less_equal(rows.column(OFFSET), known), AGAIN)
    if FAULT in rows.column_names:
        for fault in pc.unique(rows.column(FAULT)).drop_null().to_pylist():
            drop(pc.fill_null(pc.equal(rows.column(FAULT), fault), False), fault)
    untimed = pc.is_null(rows.column(time))
    if pc.any(untimed).as_py():
        wrong = pc.and_(untimed, pc.fill_null(pc.equal(rows.column(BAD), time), False))
        drop(wrong, f"{time} is not of its type")
        drop(pc.is_null(rows.column(time)), f"{history.stream.name}.{time} is NULL")
    max_event_time = _last_by_partition(rows, time)
    files = state.files.get(history.stream.name)
    if FILE in rows.column_names:
        files = _follow_files(rows, time, files)
        reached = None if files is None else _reached(files, peers)
        max_event_time = {} if reached is None else {history.stream.name: reached}
    elif PARTITION not in rows.column_names and rows.num_rows:
        max_event_time = {history.stream.name: pc.max(rows.column(time)).as_py()}
    behind = _measure_behind(rows, history.stream, state)
    late = np.zeros(0, dtype=np.int64)
    if state.finished_us is not None:
        over = pc.less_equal(rows.column(time), state.finished_us)
        first_open = state.finished_us + 1 + state.lateness_of(history.stream)
        late = first_open - rows.column(time).filter(over).to_numpy()
        drop(over, LATE)
    marks = {FAULT, MODIFIED}
    if RAW in rows.column_names and rows.column(RAW).null_count == rows.num_rows:
        marks.add(RAW)  # else it shows what a row held that is rejected later
    rows = rows.select([n for n in rows.column_names if n not in marks])
    return Taken(rows, tuple(rejects), max_event_time, offsets, files, late, behind)


def ingest_once(
    history: History,
    rows: pa.Table,
    state: LiveState,
    peers: Collection[str],
    memory: StepMemory,
) -> Taken:
    """`ingest`, once for all lanes of a step (`memory`) that are equally far with the stream."""
    name = history.stream.name
    facts = (
        state.finished_us,
        state.lateness_of(history.stream),
        state.files.get(name),
        {p: state.offsets[p] for p in partitions_of(name, state.offsets)},
        {p: state.max_event_time[p] for p in partitions_of(name, state.max_event_time)},
        frozenset(peers),
    )
    return memory.once("ingest", (rows,), facts, lambda: ingest(history, rows, state, peers))


def _measure_behind(rows: pa.Table, stream: Stream, state: LiveState) -> int:
    """By how much a row comes after one of its partition with a later timestamp, at most."""
    if not rows.num_rows:
        return 0
    times = rows.column(stream.timestamp).to_numpy()
    if PARTITION not in rows.column_names:
        return _behind(times, state.max_event_time.get(stream.name))
    coded = rows.column(PARTITION).combine_chunks()
    codes = coded.indices.to_numpy()
    parts = ((times[codes == code], name) for code, name in enumerate(coded.dictionary.to_pylist()))
    return max(_behind(mine, state.max_event_time.get(name)) for mine, name in parts if len(mine))


def _behind(times: Array, reach: int | None) -> int:
    before = np.maximum.accumulate(times)
    if reach is not None:
        before = np.maximum(before, reach)
    return int((before - times).max())


def align_rows(rows: pa.Table, stream: Stream) -> pa.Table:
    """Rows with their timestamps (µs; NULL: none) on the grid of the stream's steps."""
    if stream.align == "error":
        return rows
    column = rows.column(stream.timestamp)
    times = align_times(pc.fill_null(column, 0).to_numpy(), stream)
    held = pa.array(times, pa.int64(), mask=pc.is_null(column).to_numpy())
    return rows.set_column(rows.column_names.index(stream.timestamp), stream.timestamp, held)


def describe_rows(history: History, rows: pa.Table, reason: str) -> list[Reject]:
    """Rows as the rejects sink takes them: messages as they came, others as JSON, as replays have
    it, with what was read of them."""
    time = history.stream.timestamp
    raw = rows.column(RAW).to_pylist() if RAW in rows.column_names else [None] * rows.num_rows
    names = [n for n in rows.column_names if n != time and not n.startswith("__")]
    held = rows.select(names).to_pylist()
    shown = [json.dumps(row, default=plain_json, ensure_ascii=False) for row in held]
    files, numbers = show_places(rows, history.stream.name)
    return [
        Reject(history.stream.name, at, reason, row if text is None else text, file, number)
        for at, row, text, file, number in zip(
            rows.column(time).to_pylist(), shown, raw, files, numbers, strict=True
        )
    ]


def _last_by_partition(rows: pa.Table, column: str) -> dict[str, int]:
    if PARTITION not in rows.column_names or rows.num_rows == 0:
        return {}
    latest = rows.select([PARTITION, column]).group_by(PARTITION).aggregate([(column, "max")])
    pairs = zip(latest.column(PARTITION).to_pylist(), latest.column(f"{column}_max"), strict=True)
    return {partition: last.as_py() for partition, last in pairs if last.is_valid}


def _follow_files(rows: pa.Table, time: str, before: FileGroup | None) -> FileGroup | None:
    """The group of the files modified last, with what has been delivered of it."""
    group = before
    for modified, path, last in _list_files(rows, time):
        if group is None:
            group = FileGroup(modified, {path: last}, None)
        elif modified == group.modified:
            known = max(group.latest.get(path, last), last)
            group = FileGroup(modified, {**group.latest, path: known}, group.before_us)
        elif modified > group.modified:
            group = FileGroup(
                modified, {path: last}, _most(group.before_us, *group.latest.values())
            )
        else:
            group = FileGroup(group.modified, group.latest, _most(group.before_us, last))
    return group


def _list_files(rows: pa.Table, time: str) -> list[tuple[int, str, int]]:
    """Of every file that rows are from, in order: when it was modified, its path, the last
    timestamp. Often there is one."""
    if not rows.num_rows:
        return []
    marks = [rows.column(MODIFIED), rows.column(FILE)]
    first = [column[0].as_py() for column in marks]
    alike = pc.all(pc.equal(marks[0], first[0])).as_py()
    if alike and len(marks[1].chunk(0).dictionary) == 1:
        return [(first[0], first[1], pc.max(rows.column(time)).as_py())]
    latest = (
        rows.select([MODIFIED, FILE, time]).group_by([MODIFIED, FILE]).aggregate([(time, "max")])
    )
    names = (MODIFIED, FILE, f"{time}_max")
    return sorted(
        (entry[names[0]], entry[names[1]], entry[names[2]]) for entry in latest.to_pylist()
    )


def list_delivered(known: FileGroup | None, rows: "pa.Table | None") -> tuple[int | None, set[str]]:
    """When the files that a stream has delivered last were modified (ms since 1970; None: none
    has), and which of that time are delivered: by what is known of them, and rows of a step."""
    modified = None if known is None else known.modified
    delivered = set() if known is None else set(known.latest)
    if rows is None or not rows.num_rows or MODIFIED not in rows.column_names:
        return modified, delivered
    mine = set(pc.unique(rows.column(FILE)).to_pylist())
    latest = pc.max(rows.column(MODIFIED)).as_py()
    if modified is None or latest > modified:
        return latest, mine
    return modified, mine | delivered


def _reached(group: FileGroup, peers: Collection[str]) -> int | None:
    missing = [path for path in peers if path not in group.latest]
    first = min(missing, default=None)
    counted = [last for path, last in group.latest.items() if first is None or path < first]
    return _most(group.before_us, *counted)


def _most(*values: int | None) -> int | None:
    return max((v for v in values if v is not None), default=None)
