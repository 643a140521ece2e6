"""Admit the tuples that keep what the catalog declares; count the others by reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Column, ColumnType, IntType, Stream, StringType
from ontoweir.runtime.chunks.check_values import check_values
from ontoweir.runtime.chunks.read_chunk import Slice
from ontoweir.runtime.columnar.add_exact import Ends
from ontoweir.runtime.columnar.check_domain import find_held
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.encode import Encoded, as_texts
from ontoweir.runtime.columnar.find_repeated_keys import KeyColumn, find_repeated_keys, take_key
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.select_candidates import Limits, Selection
from ontoweir.runtime.pool.text_table import Codes, TextTable
from ontoweir.runtime.sources.coded_texts import pick_rows
from ontoweir.runtime.sources.convert_table import describe_bad
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.times.steps import Steps
from ontoweir.runtime.times.time_runs import (
    TimeRuns,
    Times,
    count_before,
    find_runs,
    pick_times,
    spell_times,
)


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    """A stream's column whose values must occur among `values`, or else the row is rejected."""

    column: str
    values: "pa.Array | TextTable"
    reason: str


@dataclass(frozen=True, slots=True)
class CodedTexts:
    """A column of strings as codes of a table; -1: NULL."""

    table: TextTable
    codes: Codes


@dataclass(frozen=True, slots=True)
class ColumnMemory:
    """What has been made of the columns of some rows, so that several queries make it once; of
    strings nothing, as queries have their own codes.

    `plain`: columns of whole numbers as they are, in the pieces that were read (None: it is none);
    `masks`: which rows lie within limits (None: all, or not known); `selected`: the numbers of the
    rows that keep all of several (None: all); `present`: where columns have a value; `encoded`:
    columns by name, type and unit; `some`: only the rows of a selection.
    """

    plain: dict[str, Sequence[Array] | None] = field(default_factory=dict)
    masks: dict[Limits, Array | None] = field(default_factory=dict)
    selected: dict[Selection, Array | None] = field(default_factory=dict)
    present: dict[str, Array] = field(default_factory=dict)
    encoded: dict[tuple[str, ColumnType, int], Encoded] = field(default_factory=dict)
    some: dict[tuple[Selection, str, ColumnType, int], Encoded] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Admitted:
    """Tuples admitted: their steps, and their columns; `read`: how many there were.

    `rejects`: rows of the slice that were not admitted, by reason (rows without a timestamp, whose
    place in time is not known, are only counted); `marks`: the distinct times, in order, also of
    rows that were left out as nothing wants them (None: not found yet); `coded`: columns that were
    looked up, by name; `filled`: columns that the table lacks, of which none is NULL; `among`: of
    columns of strings, the declared values, which hold of all rows; `memory`: what was made of the
    table's columns; `weights`: how often each row counts, of answers, or where it stands for others
    (None: once); `sums`: of decimals in units of their last place, and whole numbers, what those of
    these add up to, by column, where it is no multiple."""

    steps: Steps
    stamps: Times
    table: pa.Table
    read: int
    rejected: Mapping[str, int]
    rejects: tuple[tuple[str, Array], ...] = ()
    marks: Array | None = None
    coded: Mapping[str, CodedTexts] = field(default_factory=dict)
    filled: frozenset[str] = frozenset()
    among: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: Mapping[str, Ends] = field(default_factory=dict)
    memory: ColumnMemory = field(default_factory=ColumnMemory, compare=False, repr=False)
    index: Array | None = None
    weights: Array | None = None
    sums: Mapping[str, Array] = field(default_factory=dict)

    @property
    def times(self) -> Array:
        """The times, each by itself."""
        return spell_times(self.stamps)

    def take(self, index: Array) -> "Admitted":
        """Some of the rows, in order of time."""
        times = pick_times(self.stamps, index)
        return replace(
            self,
            steps=Steps(times, self.steps.step_us),
            stamps=times,
            table=pick_rows(self.table, index),
            marks=None,
            coded={n: CodedTexts(c.table, c.codes[index]) for n, c in self.coded.items()},
            memory=ColumnMemory(),  # which was made of all rows
            index=None if self.index is None else self.index[index],
            weights=None if self.weights is None else self.weights[index],
            sums={name: added[index] for name, added in self.sums.items()},
        )


def admit_rows(
    history: History,
    rows: Slice,
    before: Cursor,
    references: Sequence[ReferenceCheck],
    span: tuple[int | None, int | None],
    *,
    strict: bool = True,
) -> Admitted:
    """Cut rows to a span of time, reject what is undeclared, and count time in steps.

    Keys are enforced within a timestamp: of rows that repeat one, the first is admitted.

    Args:
        history: the stream.
        rows: its rows, in order of time.
        before: where they are in the history.
        references: declared references to enforce.
        span: [start, stop) in µs.
        strict: a timestamp between two steps, or too many tuples at one, is an error, as it is
            in a history; otherwise (live) such tuples are rejected too.

    Raises:
        DataError: (strict) a timestamp lies between two steps, or too many tuples share one.
    """
    stream = history.stream
    times, table = rows.stamps, rows.table
    # rows are in the order of time, so a span is one piece of them
    start, stop = (int(t) for t in count_before(times, _limits(span)))
    inside = np.zeros(len(times), dtype=np.bool_)
    inside[start:stop] = True
    gate = _Gate(inside.copy() if rows.timed is None else inside & rows.timed)
    if history.verified is None:
        coded = _reject_values(history, rows, inside, references, gate)
    else:
        coded = _reject_known(history, before, gate)
    runs = times if isinstance(times, TimeRuns) else find_runs(times)
    steps, off = Steps(times, stream.step_us, runs.first), _off_step(runs, stream.grid_us)
    if off is not None and (off & gate.good).any():
        if strict:
            where = int(np.flatnonzero(off & gate.good)[0])
            raise _between_steps(history, before, rows.times, where)
        gate.reject(f"{stream.name}.{stream.timestamp} lies between two steps", off)
    if history.verified is None:
        _reject_repeats(stream, steps, table, coded, runs.first if off is None else None, gate)
    if not strict:
        _reject_rate(stream, steps.all(), gate)
    late = None
    if not gate.good.all():
        index = np.flatnonzero(gate.good)
        late = None if rows.late is None else index
        times, table = pick_times(times, index), pick_rows(table, index)
        steps = Steps(times, stream.step_us)
        coded = {n: CodedTexts(c.table, c.codes[index]) for n, c in coded.items()}
        if strict:
            _check_rate(history, steps.all(), before, index)
        marks = None
    else:
        marks, limit = runs.marks, stream.max_per_timestamp
        most = int(runs.lengths.max()) if len(times) else 0
        if strict and limit is not None and most > limit:
            _check_rate(history, steps.all(), before, None)
    counts = {reason: n for reason, n in gate.counts.items() if n}
    texts = _list_read(history, StringType)
    return Admitted(
        steps,
        times,
        table,
        stop - start,
        counts,
        tuple(gate.rejects),
        marks,
        coded,
        history.filled,
        {c.name: frozenset(map(str, c.enum)) for c in texts if c.enum is not None},
        {c.name: _find_ends(c) for c in _list_read(history, IntType)},
        index=late,
    )


def _list_read(history: History, kind: type[ColumnType]) -> list[Column]:
    """The declared columns of a type among those that are read."""
    columns = [history.stream.column(name) for name in history.columns]
    return [c for c in columns if c is not None and isinstance(c.type, kind)]


def _find_ends(column: Column) -> Ends:
    """What is declared of a column of whole numbers."""
    low, high = column.minimum, column.maximum
    return (low if isinstance(low, int) else None, high if isinstance(high, int) else None)


class _Gate:
    """Which rows of a slice are good so far (`good`, changed in place), and why others are not."""

    def __init__(self, good: Array) -> None:
        self.good = good
        self.counts: Counter[str] = Counter()
        self.rejects: list[tuple[str, Array]] = []

    def reject(self, reason: str, bad: Array) -> None:
        """Reject those of the good rows that are bad."""
        index = np.flatnonzero(self.good & bad)
        if len(index):
            self.counts[reason] += len(index)
            self.rejects.append((reason, index))
            self.good[index] = False


def _reject_values(
    history: History,
    rows: Slice,
    inside: Array,
    references: Sequence[ReferenceCheck],
    gate: _Gate,
) -> dict[str, CodedTexts]:
    """Reject rows without a timestamp, and those whose values are not as declared; the columns of
    strings that were looked up."""
    stream, table = history.stream, rows.table
    timed = np.ones(len(inside), np.bool_) if rows.timed is None else rows.timed
    untimed = int((~timed & inside).sum())
    if BAD in table.column_names and len(inside):
        untimed -= _reject_types(stream.name, table, inside, timed, gate)
    if untimed:
        gate.counts[f"{stream.name}.{stream.timestamp} is NULL"] += untimed
    checks = check_values(history, table if rows.late is None else rows.late.table)
    if rows.late is not None:
        checks = [(reason, _spread(mask, rows.late.index, inside)) for reason, mask in checks]
    coded: dict[str, CodedTexts] = {}
    for reference in references:
        values = table.column(reference.column)
        if isinstance(reference.values, TextTable):
            texts = as_texts(values, f"{stream.name}.{reference.column}")
            found = CodedTexts(reference.values, reference.values.find(texts))
            coded.setdefault(reference.column, found)
            there: Array = found.codes >= 0
            if values.null_count:
                there |= values.is_null().to_numpy()
            held = None if there.all() else there
        else:
            held = find_held(values, reference.values)
        if held is not None:
            checks.append((reference.reason, held))
    for reason, mask in checks:
        gate.reject(reason, ~mask)
    if stream.start_us is not None:
        early = gate.good & (rows.times < stream.start_us)
        gate.reject(f"{stream.name}.{stream.timestamp} is before the declared start", early)
    return coded


def _reject_known(history: History, before: Cursor, gate: _Gate) -> dict[str, CodedTexts]:
    """Reject what was rejected before of the same rows; every row has a timestamp then."""
    for reason, index in history.rejected(before, len(gate.good)):
        bad = np.zeros(len(gate.good), dtype=np.bool_)
        bad[index] = True
        gate.reject(reason, bad)
    return {}


def _between_steps(history: History, before: Cursor, times: Array, row: int) -> DataError:
    """The error of a timestamp between two steps."""
    stream = history.stream
    return DataError(
        f"{stream.name}.{stream.timestamp} is {show_time(int(times[row]))}, "
        f"between two steps of {stream.grid_us / 1e6:g} s",
        why="one unit of the timestamp is one step of the flow of time",
        fix='declare a finer unit for the timestamp, or add align = "floor" or "round" to it',
        source=history.place(before, row),
    )


def _reject_repeats(
    stream: Stream,
    steps: Steps,
    table: pa.Table,
    coded: Mapping[str, CodedTexts],
    first: Array | None,
    gate: _Gate,
) -> None:
    """Reject rows that repeat a key of their step, or have a NULL in one of the whole stream."""
    for key in stream.keys:
        names = [n for n in key if n != stream.timestamp]
        if len(names) == len(key):  # of the whole stream: as a primary key it is never NULL
            for name in names:
                missing = table.column(name).is_null().to_numpy()
                reason = f"{stream.name}.{name} is NULL, in the key ({', '.join(key)})"
                gate.reject(reason, missing)
        columns = [coded[n].codes if n in coded else table.column(n) for n in names]
        again = _repeating(steps.all(), columns, gate.good, first)
        if again is not None:
            gate.reject(f"{stream.name} repeats the key ({', '.join(key)})", again)


def _limits(span: tuple[int | None, int | None]) -> Array:
    """A span's limits as numbers beyond all timestamps where it has none."""
    start, stop = span
    ends = np.iinfo(np.int64)
    limits = [ends.min if start is None else start, ends.max if stop is None else stop]
    return np.array(limits, dtype=np.int64)


def _off_step(runs: TimeRuns, grid_us: int) -> Array | None:
    """Which rows' times lie between two steps (None: none)."""
    off = runs.marks % grid_us != 0
    return np.repeat(off, runs.lengths) if off.any() else None


def _repeating(
    steps: Array, keys: Sequence[KeyColumn], good: Array, first: Array | None
) -> Array | None:
    """Which of the good rows repeat a key of their step (None: none)."""
    if good.all():
        again = find_repeated_keys(steps, keys, first)
        return again if again.any() else None
    index = np.flatnonzero(good)
    again = find_repeated_keys(steps[index], [take_key(column, index) for column in keys])
    if not again.any():
        return None
    repeated = np.zeros(len(good), dtype=np.bool_)
    repeated[index[again]] = True
    return repeated


def _reject_rate(stream: Stream, steps: Array, gate: _Gate) -> None:
    """Of more than max_per_timestamp tuples at a step, the first are admitted."""
    limit = stream.max_per_timestamp
    index = np.flatnonzero(gate.good)
    if limit is None or len(index) <= limit:
        return
    mine = steps[index]
    first = np.searchsorted(mine, mine, side="left")
    over = np.zeros(len(gate.good), dtype=np.bool_)
    over[index[np.arange(len(mine)) - first >= limit]] = True
    gate.reject(f"{stream.name} has more than {limit} tuples at a timestamp", over)


def _reject_types(stream: str, table: pa.Table, inside: Array, timed: Array, gate: _Gate) -> int:
    """Reject rows with a value that is not of its type; how many of them have no timestamp."""
    bad = table.column(BAD)
    if bad.null_count == len(bad):
        return 0
    untimed = 0
    for entry in pc.unique(bad.drop_null()).to_pylist():
        mask = pc.fill_null(pc.equal(bad, entry), False).to_numpy() & inside
        reason = describe_bad(entry, stream)
        gate.reject(reason, mask)
        if nowhere := int((mask & ~timed).sum()):
            gate.counts[reason] += nowhere
            untimed += nowhere
    return untimed


def _spread(good: Array, index: Array, rows: Array) -> Array:
    """What is good of all rows, if only those with some numbers may not be."""
    spread = np.ones(len(rows), dtype=np.bool_)
    spread[index] = good
    return spread


def _check_rate(history: History, steps: Array, before: Cursor, index: Array | None) -> None:
    """At most max_per_timestamp tuples share a step: their distance in the order says so."""
    limit = history.stream.max_per_timestamp
    if limit is None or len(steps) <= limit:
        return
    over = steps[limit:] == steps[: len(steps) - limit]
    if not over.any():
        return
    row = int(np.flatnonzero(over)[0]) + limit
    moment, name = show_time(int(steps[row]) * history.stream.step_us), history.stream.name
    raise DataError(
        f"{name} has {int((steps == steps[row]).sum())} tuples at {moment}",
        why=f"the catalog declares max_per_timestamp = {limit}, which verdicts rest on",
        fix="declare a greater max_per_timestamp, or mend the data",
        source=history.place(before, row if index is None else int(index[row])),
    )
