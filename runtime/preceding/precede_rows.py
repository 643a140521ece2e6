"""Gives rows what the rows before them say, and keeps what later ones ask for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError
from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import ColumnType, Stream
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.model.preceding import Counted, OrderBy, Preceding
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.ingest.find_buckets import find_buckets
from ontoweir.runtime.kept.kept_rows import are_few
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.preceding.count_column import Given, count_column, kept_types
from ontoweir.runtime.preceding.fold_frames import Runs
from ontoweir.runtime.preceding.places import Places, TimesAt, place_rows
from ontoweir.runtime.preceding.rank_rows import (
    Ordered,
    first_in_order,
    rank_rows,
    rank_values,
)
from ontoweir.runtime.sources.derive_values import derive_values
from ontoweir.runtime.times.steps import Steps

TIME = "time"
"""The timestamp of a row that is kept (µs)."""
_BUCKET = "bucket"
"""Before the numbers of the buckets of time in which a row lies."""
_RUN = "run"
"""Before those of the values of its run."""
PLACE = "place"
"""Its place among those of its time, where several may be kept of one key."""


class PrecedingStreams(NamedTuple):
    """The stream of rows, and that of the rows with what those before them say."""

    base: Stream
    made: Stream


def precede_rows(
    preceding: Preceding, streams: PrecedingStreams, rows: Admitted, held: pa.Table | KeptTable
) -> tuple[Admitted, pa.Table | KeptTable]:
    """The rows of a chunk with what the rows before them say, and what is kept after it.

    Args:
        preceding: what that is.
        streams: those of the rows.
        rows: of the chunk.
        held: what was kept before it (without columns: nothing yet).

    Raises:
        RunError: a sum does not fit 64 bits.
        DataError: an expression has no value for a row.
    """
    work = _Work(preceding, streams)
    rows = work.select(rows)
    new = work.describe(rows)
    if not isinstance(held, KeptTable) and held.num_columns == 0:
        held = new.schema.empty_table()
    if preceding.within or preceding.run or not are_few(new.num_rows, held.num_rows):
        return work.advance(rows, new, whole_table(held))
    keys = work.keys
    ends = preceding.span_us and not preceding.after
    when = work.find_due if ends else None
    if not isinstance(held, KeptTable):
        held = KeptTable(held, keys, when)
    touched = held.find(new.select(keys))
    now = None
    if ends and len(rows.times):
        now = int(rows.times[-1])
        touched = np.union1d(touched, held.due(now))
    made, left = work.advance(rows, new, held.take(touched))
    return made, held.replace(touched, left, now)


class _Work:
    """One chunk. The columns that are kept: the key, the time, of what is given later all columns,
    the arguments, and of what runs from the first row on the sums until there."""

    def __init__(self, preceding: Preceding, streams: PrecedingStreams) -> None:
        self.preceding, self.streams = preceding, streams
        self.keys = [f"key {name}" for name in preceding.key]
        self.within = [f"{_BUCKET} {n}" for n in range(len(preceding.within))]
        self.run = [f"{_RUN} {n}" for n in range(len(preceding.run))]
        arguments = [c.argument for c in preceding.columns if c.argument is not None]
        self.arguments: list[Expression] = list(dict.fromkeys(arguments))
        runs = any(c.runs for c in preceding.columns)
        self.tied = bool(preceding.ties) or (preceding.span_us > 0 and runs)

    def find_due(self, rows: pa.Table) -> Array:
        """When rows are too old for any span."""
        due: Array = rows.column(TIME).to_numpy() + self.preceding.span_us
        return due

    def select(self, rows: Admitted) -> Admitted:
        """The rows that count."""
        only = self.preceding.only
        if only is not None:
            true = derive_values(only, self.streams.base, rows.steps.all(), rows.table)
            good = pc.fill_null(true, False).to_numpy()
            if not good.all():
                rows = rows.take(np.flatnonzero(good))
        if self.preceding.ties:
            ranks = [rank_values(*key) for key in self._order(self.preceding.ties, rows)]
            rows = rows.take(np.lexsort([*reversed(ranks), rows.times]))
        return rows

    def _order(self, order: Sequence[OrderBy], rows: Admitted) -> list[Ordered]:
        """The keys of an order, of rows."""
        base, steps = self.streams.base, rows.steps.all()
        made = [_whole(derive_values(key.by, base, steps, rows.table)) for key in order]
        return [Ordered(v, k.down, k.nulls_first) for v, k in zip(made, order, strict=True)]

    def describe(self, rows: Admitted) -> pa.Table:
        """The columns of rows as they are kept; of sums, nothing yet."""
        base, steps = self.streams.base, rows.steps.all()
        columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        for name, key in zip(self.keys, self.preceding.key, strict=True):
            columns[name] = _plain(rows.table.column(key), _type(base, key))
        columns[TIME] = pa.array(rows.times)
        for name, bucket in zip(self.within, self.preceding.within, strict=True):
            columns[name] = find_buckets(bucket, rows.times)
        for name, value in zip(self.run, self.preceding.run, strict=True):
            made = derive_values(value, base, steps, rows.table)
            columns[name] = _plain(made, value_type(value.type))
        if self.tied:
            columns[PLACE] = pa.array(np.arange(len(rows.times)))
        if self.preceding.after:
            for name in rows.table.column_names:
                column = rows.table.column(name)
                kind = column.type if base.column(name) is None else _type(base, name)
                columns[f"row {name}"] = _plain(column, kind)
        for number, argument in enumerate(self.arguments):
            made = derive_values(argument, base, steps, rows.table)
            columns[f"value {number}"] = _plain(made, value_type(argument.type))
        for place, counted in enumerate(self.preceding.columns):
            for number, kind in enumerate(kept_types(counted, self._kind(counted))):
                columns[f"sum {place} {number}"] = pa.nulls(len(rows.times), kind)
        return pa.table(columns)

    def _kind(self, counted: Counted) -> ColumnType | None:
        return None if counted.argument is None else counted.argument.type

    def advance(self, rows: Admitted, new: pa.Table, held: pa.Table) -> tuple[Admitted, pa.Table]:
        """The rows with their columns, and what is kept of them and of what was kept."""
        if held.num_rows:
            by = [(TIME, "ascending"), (PLACE, "ascending")]
            held = held.sort_by(by if self.tied else TIME)
        together = pa.concat_tables([held, new]).combine_chunks()
        codes, count = code_rows(together, [*self.keys, *self.within, *self.run])
        places = place_rows(codes, count, held.num_rows)
        at = np.empty(len(places.order), dtype=np.int64)
        at[places.order] = np.arange(len(places.order))
        mine = at[held.num_rows :]
        after = self.preceding.after
        row = mine - after
        given = np.flatnonzero(row >= places.start[mine]) if after else np.arange(len(mine))
        made = self._give(rows, given, together, places, row[given], mine[given])
        left = places.last_ones(self.preceding.kept)
        if self.preceding.span_us:
            times = together.column(TIME).to_numpy()[places.order]
            left = np.union1d(left, self._find_young(places, times))
        left = self._drop_closed(left, together, places, mine)
        if self.run:
            left = left[self._is_of_last_run(together, codes)[places.order[left]]]
        kept = together.take(pa.array(places.order[left]))
        for place, counted in enumerate(self.preceding.columns):
            if counted.runs:
                sums = self._count(counted, together, places, Runs(places.start[left], left))[1:]
                for number, column in enumerate(sums):
                    name = f"sum {place} {number}"
                    field = kept.schema.field(name)
                    index = kept.schema.get_field_index(name)
                    kept = kept.set_column(index, field, column.cast(field.type))
        return made, kept.combine_chunks()

    def _drop_closed(self, left: Array, together: pa.Table, places: Places, mine: Array) -> Array:
        """Of some places those whose buckets of time are not over with the last row."""
        for name in self.within if len(mine) else ():
            buckets = together.column(name).cast(pa.int64()).to_numpy()
            left = left[buckets[places.order[left]] >= buckets[-1]]
        return left

    def _is_of_last_run(self, together: pa.Table, codes: Array) -> Array:
        """Of each row, whether it is of the run that the last row of its key is of."""
        keys, count = code_rows(together, self.keys)
        newest = np.empty(count, dtype=np.int64)
        newest[keys] = codes  # the last one stays: rows are in the order of time
        made: Array = newest[keys] == codes
        return made

    def _find_young(self, places: Places, times: Array) -> Array:
        """The places of rows that are not too old for the span of a row that is not given yet."""
        span_us = self.preceding.span_us
        if not self.preceding.after:
            return np.flatnonzero(times > times.max() - span_us) if len(times) else places.order
        next_one = np.maximum(places.end - self.preceding.after + 1, places.start)
        return np.flatnonzero(times >= times[next_one] - span_us)

    def _give(
        self,
        rows: Admitted,
        given: Array,
        together: pa.Table,
        places: Places,
        row: Array,
        mine: Array,
    ) -> Admitted:
        """The rows at some places, that are given with the rows at others."""
        base, made = self.streams
        times, table, steps = rows.times, rows.table, rows.steps
        coded, marks = rows.coded, rows.marks
        if self.preceding.after:
            index = pa.array(places.order[row])
            names = [n for n in together.column_names if n.startswith("row ")]
            chosen = together.select([*names, TIME]).take(index)
            times = times[given]
            columns = {n.removeprefix("row "): chosen.column(n) for n in names}
            stamp = chosen.column(TIME).cast(arrow_type(made.column(base.timestamp).type))  # type: ignore[union-attr]
            table = pa.table({**columns, base.timestamp: stamp})
            coded, marks, steps = {}, None, Steps(times, rows.steps.step_us)
        times_at = TimesAt(places, together.column(TIME).to_numpy())
        for counted in self.preceding.columns:
            if counted.order:
                ranked = self._rank(counted, rows, together)
                table = table.append_column(counted.name, ranked)
                continue
            runs = _find_runs(counted, places, times_at, row, mine)
            column, *_ = self._count(counted, together, places, runs)
            table = table.append_column(counted.name, column.cast(arrow_type(counted.type)))
        filled = frozenset() if self.preceding.after else rows.filled
        return Admitted(steps, times, table, 0, {}, (), marks, coded, filled)

    def _rank(self, counted: Counted, rows: Admitted, together: pa.Table) -> "pa.Array":
        """The places of rows among those of their key and time, or the first value of these."""
        new = together.slice(together.num_rows - len(rows.times))
        codes, _ = code_rows(new, self.keys)
        order = self._order(counted.order, rows)
        groups = [codes, rows.times]
        match counted.function:
            case "rank" | "dense" | "number" | "percent" | "share" | "part":
                return rank_rows(counted.function, groups, order, counted.parts)
            case "first":
                assert counted.argument is not None
                base, steps = self.streams.base, rows.steps.all()
                values = _whole(derive_values(counted.argument, base, steps, rows.table))
                return first_in_order(values, groups, order).cast(arrow_type(counted.type))
            case _:
                raise AssertionError(counted.function)

    def _count(
        self, counted: Counted, together: pa.Table, places: Places, runs: Runs
    ) -> "tuple[pa.Array, ...]":
        kind = self._kind(counted)
        values = None
        if counted.argument is not None:
            number = self.arguments.index(counted.argument)
            values = _whole(together.column(f"value {number}").take(pa.array(places.order)))
        kept = []
        if counted.runs:
            heads = pa.array(places.order[places.head])
            place = self.preceding.columns.index(counted)
            names = [f"sum {place} {n}" for n in range(len(kept_types(counted, kind)))]
            kept = [_whole(together.column(name).take(heads)) for name in names]
        made = count_column(counted, kind, Given(places, values, kept), runs)
        if pa.types.is_floating(made[0].type) and pc.any(pc.is_nan(made[0])).as_py():
            raise DataError(
                f"{counted.name} has no value in {self.streams.base.name}",
                why="it is not a number (NaN) for a row, as of infinity less infinity",
                fix="declare min and max of the columns that it reads, so that such rows are "
                "rejected",
            )
        return made


def _find_runs(
    counted: Counted, places: Places, times_at: TimesAt, row: Array, mine: Array
) -> Runs:
    """The rows that a column of the rows at some places is of; it is known when others have come
    (`mine`)."""
    start = places.start[mine]
    first = start
    if counted.span_us is not None:
        first = times_at.first_since(row, counted.span_us)
    elif counted.first is not None:
        first = np.maximum(start, row - counted.first)
    last = np.minimum(row - counted.last, mine)
    if counted.peers:
        last = times_at.last_until(row, counted.until_us)
    if counted.function == "first" and counted.first == counted.last:  # that row, or none
        last = np.where(row - counted.last < start, start - 1, last)
        first = np.maximum(row - counted.last, 0)
    return Runs(first, np.where(last < start, first - 1, last))


def _type(base: Stream, name: str) -> pa.DataType:
    column = base.column(name)
    assert column is not None
    return arrow_type(column.type)


def _plain(column: "pa.Array | pa.ChunkedArray", kind: pa.DataType) -> "pa.Array":
    return _whole(column if column.type == kind else column.cast(kind))


def _whole(column: "pa.Array | pa.ChunkedArray") -> "pa.Array":
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
