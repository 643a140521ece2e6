"""What is wrong in the rows of a stream, with some of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pyarrow as pa

from ontoweir.mappings.model.catalog import DataSource, Lag, Reference, Stream, TimeFormat
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.runtime.ingest.admit_rows import ReferenceCheck
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.read_times import read_times
from ontoweir.runtime.times.suggest_format import suggest_format
from ontoweir.runtime.violations.first_times import FirstTimes
from ontoweir.runtime.violations.quote_rows import quote_rows
from ontoweir.runtime.violations.scan_stream import StreamScan
from ontoweir.runtime.violations.violation import (
    SHOWN,
    Example,
    Found,
    TableViolations,
    Violation,
)


def find_violations(
    history: History,
    checks: Sequence[ReferenceCheck],
    wide: "Sequence[tuple[Reference, pa.Table]]" = (),
    rules: "Sequence[tuple[Lag, FirstTimes]]" = (),
    *,
    most: int | None = None,
    on_rows: Callable[[int], None] = lambda rows: None,
) -> TableViolations:
    """Hold every row of a stream to what is declared.

    Args:
        history: with all the columns that are declared, as its rows came.
        checks: the declared references of one column.
        wide: those of several, with the rows that they refer to.
        rules: what is declared of the time between rows, each with the rows it counts from.
        most: look at so many rows only, the first (None: all).
        on_rows: is called with the number of rows that were looked at since it was called.

    Raises:
        DataError: a file cannot be read, or its timestamps are none.
    """
    scan = StreamScan(history, checks, wide, rules, most=most)
    kept, seen = ViolationKeeper(), 0
    for found in scan.find():
        kept.add(found)
        on_rows(scan.rows - seen)
        seen = scan.rows
    stream = history.stream
    named = quote_examples(kept.finish(), stream.data)
    mended = tuple(replace(v, fix=_suggest(v, stream, scan)) for v in named)
    return TableViolations(stream.name, scan.rows, scan.whole, mended)


class ViolationKeeper:
    """How many rows were wrong for which reason, and the first of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[Example]] = {}

    def add(self, found: Found) -> None:
        """Some more rows."""
        self._counts[found.reason] = self._counts.get(found.reason, 0) + len(found.numbers)
        first = self._first.setdefault(found.reason, [])
        room = SHOWN - len(first)
        numbers = found.numbers[:room].tolist()
        held: list[dict[str, Any]] = [{} for _ in numbers]  # of a table of times alone
        if found.rows.num_columns:
            held = found.rows.slice(0, room).to_pylist()
        first += [Example(found.file, n, v) for n, v in zip(numbers, held, strict=True)]

    def finish(self) -> tuple[Violation, ...]:
        """What was found, what concerns most rows first."""
        made = [Violation(r, n, tuple(self._first[r])) for r, n in self._counts.items()]
        return tuple(sorted(made, key=lambda v: -v.rows))


def quote_examples(violations: Sequence[Violation], data: DataSource) -> tuple[Violation, ...]:
    """Violations whose rows have the values that are written in their files."""
    places = sorted({(e.file, e.number) for v in violations for e in v.examples})
    written: dict[tuple[str, int], Example] = {}
    for file, group in groupby(places, key=lambda place: place[0]):
        numbers = [number for _, number in group]
        quoted = quote_rows(data, file, numbers)
        found = () if quoted is None else quoted
        for number, (line, values) in zip(numbers, found, strict=False):
            written[file, number] = Example(file, line, values)
    return tuple(
        replace(v, examples=tuple(written.get((e.file, e.number), e) for e in v.examples))
        for v in violations
    )


def _suggest(violation: Violation, stream: Stream, scan: StreamScan) -> str | None:
    if violation.reason == scan.late:
        needed = show_duration(scan.needed_us)
        return f'lateness = "{needed}" in the timestamp of [streams.{stream.name}] is true of all'
    if violation.reason != f"{stream.timestamp} is not of its type":
        return None
    if stream.written is not None:
        return _tell_left_out(violation, stream.written)
    texts = [str(e.values.get(stream.timestamp)) for e in violation.examples]
    form = suggest_format(texts)
    return None if form is None else f'format = "{form}" in the timestamp would read them'


def _tell_left_out(violation: Violation, written: TimeFormat) -> str | None:
    """That a zone's clocks leave these times out, which are written as is declared."""
    if written.zone is None or not violation.examples:
        return None
    cells = [[e.values.get(name) for e in violation.examples] for name in written.columns]
    parts = [pa.chunked_array([[None if c is None else str(c) for c in some]]) for some in cells]
    _, wrong = read_times(parts, replace(written, zone=None))
    if wrong is not None or any(None in some for some in cells):
        return None
    return (
        f"the clocks of {written.zone} leave these times out, when they are put forward; "
        "if these are not their times, correct the zone"
    )
