"""Measure the history of a stream."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import FloatType
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.columnar.find_repeated_keys import find_repeated_keys
from ontoweir.runtime.columnar.frame import Array, starts_of_runs
from ontoweir.runtime.lateness.find_disorder import find_disorder
from ontoweir.runtime.measure.count_lateness import Arrivals, count_lateness
from ontoweir.runtime.measure.count_rates import RateCounter
from ontoweir.runtime.measure.count_values import ValueCounter
from ontoweir.runtime.measure.find_dependencies import DependencyFinder
from ontoweir.runtime.measure.find_keys import KeyFinder
from ontoweir.runtime.measure.measured import MeasuredLateness, MeasuredStream
from ontoweir.runtime.sources.coded_texts import concat_rows
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_ordered import decode_piece
from ontoweir.runtime.sources.read_source import BAD

MOST_OPEN = 2_000_000
"""About so many rows may wait to be put into the order of time."""


def measure_stream(
    history: History,
    statics: "Mapping[tuple[str, str], pa.Array]",
    on_rows: Callable[[int], None] = lambda rows: None,
    joined: Collection[str] = (),
) -> MeasuredStream:
    """What holds of a history.

    Args:
        history: with all the columns that its files have, in the order in which its rows came.
        statics: by relation and column, the values of keys of static relations.
        on_rows: is called with the number of rows that were looked at since it was called.
        joined: the columns of whose values it is told where their rows lie.

    Raises:
        DataError: a file cannot be read.
    """
    arrivals = count_lateness(history)
    ordered, left_out = _put_in_order(history, arrivals)
    there = [c for c in history.stream.columns if c.name in history.columns]
    counters = {c.name: ValueCounter(c) for c in there}
    keys, rates = KeyFinder(there), RateCounter()
    exact = [c.name for c in there if not isinstance(c.type, FloatType)]
    dependencies = DependencyFinder(exact)
    rate, repeats, gap, step, last = 0, 0, None, 0, None
    mistyped, nan = Counter[str](), Counter[str]()
    for table, times in _read(ordered, mistyped):
        on_rows(table.num_rows)
        if not len(times):
            continue
        _count_nan(table, nan)
        for name, counter in counters.items():
            counter.add(table.column(name), times)
        keys.add(table, times)
        dependencies.add(counters)
        first = np.flatnonzero(starts_of_runs(times))
        rates.add(times, first)
        again = _find_repeats(history, table, times)
        repeats += int(again.sum())
        rate = max(rate, int(np.add.reduceat(~again, first, dtype=np.int64).max()))
        distinct = times[first] if last is None else np.append(last, times[first])
        apart = np.diff(distinct)
        if len(apart):
            gap = max(gap or 0, int(apart.max()))
        step = int(np.gcd.reduce(distinct, initial=step))
        last = int(times[-1])
    rows = history.rows
    columns = {name: counter.finish() for name, counter in counters.items()}
    timed = rows - arrivals.untimed - left_out
    whole = (n for n in exact if columns[n].distinct == timed > 0 and not columns[n].nulls)
    return MeasuredStream(
        rows,
        arrivals.untimed,
        arrivals.first_us,
        arrivals.last_us,
        step or None,
        arrivals.lateness,
        rate,
        gap,
        columns,
        keys.finish() if timed else (),
        tuple(whole),
        {name: found for name, c in counters.items() if (found := _refer(c, statics))},
        repeats,
        left_out,
        {n: spans for n, c in counters.items() if n in joined and (spans := c.spans()) is not None},
        dependencies.finish(counters),
        dependencies.whole,
        rates.finish(),
        mistyped,
        nan,
    )


def _count_nan(table: pa.Table, nan: "Counter[str]") -> None:
    """Count by column the rows whose number is none."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_floating(column.type):
            nan[name] += pc.sum(pc.is_nan(column.cast(pa.float64()))).as_py() or 0


def _find_repeats(history: History, table: pa.Table, times: Array) -> Array:
    """Which rows repeat a declared key of a row of their timestamp."""
    again = np.zeros(len(times), dtype=np.bool_)
    for key in history.stream.keys:
        names = [n for n in key if n != history.stream.timestamp]
        if all(n in table.column_names for n in names):
            again |= find_repeated_keys(times, [table.column(n) for n in names])
    return again


def _put_in_order(history: History, arrivals: Arrivals) -> tuple[History, int]:
    """The history in the order of time, and how many rows that lacks: those that come so late that
    too many would have to wait for them."""
    lateness = arrivals.lateness
    if not lateness.greatest_us:
        return history, 0
    chosen = _choose_lateness(lateness, arrivals, history.rows)
    stream = replace(history.stream, lateness_us=chosen)
    pieces, disorder, late = find_disorder(
        stream, history.pieces, (None, None), staged=history.staged
    )
    made = replace(history, stream=stream, pieces=pieces, disorder=disorder, late=late)
    return made, late.rows


def _choose_lateness(lateness: MeasuredLateness, arrivals: Arrivals, rows: int) -> int:
    assert arrivals.first_us is not None
    assert arrivals.last_us is not None
    span = max(1, arrivals.last_us - arrivals.first_us)
    for share in (1.0, 0.9999, 0.999, 0.99):
        chosen = lateness.quantile(share)
        if rows * chosen // span <= MOST_OPEN:
            return chosen
    return lateness.quantile(0.9)


def _read(history: History, mistyped: "Counter[str]") -> Iterator[tuple[pa.Table, Array]]:
    """Whole timestamps in order, with their times in µs; rows without a time are left out. Counts
    by column the rows whose first value that is not of its type is there."""
    waiting: tuple[pa.Table, Array] | None = None
    with closing(RowGroups()) as reader:
        for index, piece in enumerate(history.pieces):
            table = reader.read(history, index, 2 * piece.rows, None)
            times, timed = decode_piece(table, history.stream, piece)
            if BAD in table.column_names:
                bad = pc.value_counts(table.column(BAD).drop_null()).to_pylist()
                mistyped.update({one["values"]: one["counts"] for one in bad})
            table = table.select(history.columns)
            if not timed.all():
                table, times = table.filter(pa.array(timed)), times[timed]
            if waiting is not None:
                table = concat_rows([waiting[0], table])
                times = np.concatenate([waiting[1], times])
            count = int(np.searchsorted(times, times[-1])) if len(times) else 0
            yield table.slice(0, count), times[:count]
            waiting = table.slice(count), times[count:]
    if waiting is not None:
        yield waiting


def _refer(
    counter: ValueCounter, statics: "Mapping[tuple[str, str], pa.Array]"
) -> tuple[tuple[str, str], ...]:
    """The static columns that have all values of a column."""
    values = counter.found
    if values is None or not len(values):
        return ()
    return tuple(
        place
        for place, known in statics.items()
        if (alike := _as_type(values, known.type)) is not None
        and bool(pc.all(pc.is_in(alike, value_set=known)).as_py())
    )


def _as_type(values: "pa.Array", kind: pa.DataType) -> "pa.Array | None":
    """Values in a type that they can be compared in; None: they are of another kind."""
    if values.type == kind:
        return values
    both = pa.types.is_integer(values.type) and pa.types.is_integer(kind)
    return values.cast(kind) if both else None
