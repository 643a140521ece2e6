"""Hold the rows of a stream to its declarations, in the order in which they came."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import Lag, Reference
from ontoweir.runtime.chunks.read_chunk import BEGINNING, Slice
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck, admit_rows
from ontoweir.runtime.sources.coded_texts import concat_rows
from ontoweir.runtime.sources.convert_table import describe_bad
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_ordered import decode_piece, find_late
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.times.late_rows import late_reason
from ontoweir.runtime.violations.closed_values import ClosedValues
from ontoweir.runtime.violations.find_strays import find_strays
from ontoweir.runtime.violations.first_times import FirstTimes
from ontoweir.runtime.violations.value_rows import ValueRows
from ontoweir.runtime.violations.violation import Found

_FILE, _NUMBER = "__file", "__number"
_ALWAYS = 1 << 62
"""The lateness of what is sorted before it is read."""


class StreamScan:
    """One look at a stream's rows.

    A row is wrong for the first reason for which a replay rejects it, or ends: its timestamp is
    missing or cannot be read; it comes later than is declared; a value is not of its type, outside
    its domain, or not in the relation it refers to; it lies before the declared start or between
    two steps; it repeats a key of its timestamp; its timestamp has more rows than is declared; it
    comes after its value was closed, or after as many rows of its value as there may be.

    `on_admitted`: is called with rows that are right, in the order of time, and their timestamps;
    `rows`: how many were looked at; `late`: the reason why late rows are wrong; `needed_us`: the
    lateness that all of them keep; `whole`: whether they are all.
    """

    def __init__(
        self,
        history: History,
        checks: Sequence[ReferenceCheck],
        wide: "Sequence[tuple[Reference, pa.Table]]" = (),
        rules: "Sequence[tuple[Lag, FirstTimes]]" = (),
        *,
        span: tuple[int | None, int | None] = (None, None),
        most: int | None = None,
        closed: bool = True,
    ) -> None:
        """
        Args:
            history: its pieces are in the order in which the rows came, none of them sorted.
            checks: the declared references of one column.
            wide: those of several, with the rows that they refer to.
            rules: what is declared of the time between rows, each with the rows it counts from.
            span: [start, stop) in µs: others are not looked at.
            most: look at so many rows only (None: all).
            closed: rows that come after their value was closed are wrong, too.
        """
        self.history, self.checks, self.wide = history, checks, wide
        self.rules, self.span, self.most = rules, span, most
        self.on_admitted: Callable[[pa.Table, Array], None] = lambda rows, times: None
        ones = [ClosedValues(lag) for lag in history.stream.lags if lag.one]
        closing_rules = history.stream.closing
        few = [ValueRows(r, r.most_rows) for r in closing_rules if r.most_rows is not None]
        rules_of: list[ClosedValues | ValueRows] = [*map(ClosedValues, closing_rules), *ones, *few]
        self._closing = rules_of if closed else []
        self.rows = self.needed_us = 0
        self.whole = True
        self._files = list(dict.fromkeys(p.shown for p in history.pieces))
        stream = history.stream
        self._lateness = _ALWAYS if stream.data.sort else stream.lateness_us
        self.late = late_reason(stream)
        if not self._lateness:
            self.late = f"{stream.name}.{stream.timestamp} goes backwards"

    def find(self) -> Iterator[Found]:
        """What is wrong, as it is found.

        Raises:
            DataError: a file cannot be read, or its timestamps are none.
        """
        codes = {file: code for code, file in enumerate(self._files)}
        reach, waiting = BEGINNING, None
        with closing(RowGroups()) as reader:
            for index, piece in enumerate(self.history.pieces):
                table = reader.read(self.history, index, 2 * piece.rows, None)
                if self.most is not None and self.rows + table.num_rows > self.most:
                    table, self.whole = table.slice(0, self.most - self.rows), False
                self.rows += table.num_rows
                times, timed = decode_piece(table, self.history.stream, piece)
                table = _number(table, codes[piece.shown], piece.first)
                yield from self._find_untimed(table, times, timed, reach)
                late, behind = find_late(times, timed, reach, self._lateness)
                self.needed_us = max(self.needed_us, int(behind.max(initial=0)))
                yield from self._group(self.late, table, times, timed, late & self._inside(times))
                if timed.any():
                    reach = max(reach, int(times[timed].max()))
                kept = np.flatnonzero(timed & ~late)
                fresh = table.take(pa.array(kept)), times[kept]
                waiting = fresh if waiting is None else _join(waiting, fresh)
                ready = waiting[1] < reach - self._lateness
                yield from self._admit(*_take(waiting, ready))
                waiting = _take(waiting, ~ready)
                if not self.whole:
                    break
        if waiting is not None:
            yield from self._admit(*waiting)

    def _inside(self, times: Array) -> Array:
        start, stop = self.span
        inside = np.ones(len(times), dtype=np.bool_)
        if start is not None:
            inside &= times >= start
        if stop is not None:
            inside &= times < stop
        return inside

    def _find_untimed(
        self, table: pa.Table, times: Array, timed: Array, reach: int
    ) -> Iterator[Found]:
        """Rows without a timestamp; they lie where the last timestamp before them does."""
        if timed.all():
            return
        seen = np.maximum(np.maximum.accumulate(np.where(timed, times, BEGINNING)), reach)
        stream = self.history.stream
        untimed = np.flatnonzero(~timed & self._inside(seen))
        entries = table.column(BAD).take(pa.array(untimed)).to_pylist()
        for entry in dict.fromkeys(entries):
            reason = f"{stream.name}.{stream.timestamp} is NULL"
            if entry is not None:
                reason = describe_bad(entry, stream.name)
            mask = np.zeros(len(times), dtype=np.bool_)
            mask[
                [place for place, e in zip(untimed.tolist(), entries, strict=True) if e == entry]
            ] = True
            yield from self._group(reason, table, times, timed, mask)

    def _admit(self, table: pa.Table, times: Array) -> Iterator[Found]:
        """Whole timestamps, held to the rules by which a run admits rows."""
        order = np.argsort(times, kind="stable")
        table, times = table.take(pa.array(order)), times[order]
        timed = np.ones(len(times), dtype=np.bool_)
        rows = Slice(times, timed, table)
        admitted = admit_rows(self.history, rows, Cursor(), self.checks, self.span, strict=False)
        for reason, index in admitted.rejects:
            mask = np.zeros(len(times), dtype=np.bool_)
            mask[index] = True
            yield from self._group(reason, table, times, timed, mask)
        good = np.ones(len(admitted.times), dtype=np.bool_)
        name, held = self.history.stream.name, admitted.table
        strayed = [s for r, to in self.wide if (s := find_strays(held, name, r, to)) is not None]
        strayed += [firsts.find_late(lag, held, admitted.times) for lag, firsts in self.rules]
        strayed += [(c.reason, c.find_late(held, admitted.times)) for c in self._closing]
        for reason, mask in strayed:
            mask = mask & good
            good &= ~mask
            every = good | ~good
            yield from self._group(reason, admitted.table, admitted.times, every, mask)
        self.on_admitted(admitted.table.filter(pa.array(good)), admitted.times[good])

    def _group(
        self, reason: str, table: pa.Table, times: Array, timed: Array, mask: Array
    ) -> Iterator[Found]:
        """Some rows, by file."""
        if not mask.any():
            return
        index = np.flatnonzero(mask)
        rows, times, timed = table.take(pa.array(index)), times[index], timed[index]
        files, numbers = (rows.column(name).to_numpy() for name in (_FILE, _NUMBER))
        shown = rows.select(self.history.columns)
        for code in np.unique(files).tolist():
            mine = np.flatnonzero(files == code)
            yield Found(
                reason,
                self._files[code],
                numbers[mine],
                times[mine],
                timed[mine],
                shown.take(pa.array(mine)),
            )


def _number(table: pa.Table, file: int, first: int) -> pa.Table:
    """Rows with their places, and BAD."""
    if BAD not in table.column_names:
        table = table.append_column(BAD, pa.nulls(table.num_rows, pa.string()))
    numbers = pa.array(np.arange(first, first + table.num_rows))
    table = table.append_column(_FILE, pa.array(np.full(table.num_rows, file, dtype=np.int32)))
    return table.append_column(_NUMBER, numbers)


def _join(before: tuple[pa.Table, Array], after: tuple[pa.Table, Array]) -> tuple[pa.Table, Array]:
    return concat_rows([before[0], after[0]]), np.concatenate([before[1], after[1]])


def _take(held: tuple[pa.Table, Array], mask: Array) -> tuple[pa.Table, Array]:
    return held[0].filter(pa.array(mask)), held[1][mask]
