"""Rows that hold values open in a witness: none of a value comes later than its gap allows."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ontoweir.checker.witness.growth.compute_value import NoRowError
from ontoweir.checker.witness.layout.derive_rows import compute_derived
from ontoweir.checker.witness.layout.unused_columns import UnusedColumns
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, Stream

_MOST = 2_000
"""A witness that would take more rows is given up: it is left as it is, and breaks the rule."""


def hold_open(witness: Witness, catalog: Catalog) -> Witness:
    """The witness with further rows that are always there, of each stream whose values are closed
    by gaps: of each value that it has at several times, often enough, whatever is optional.

    They are rows like any others: whether the answers still tell the optional tuples apart is for
    `confirm_witness` to say, and whether all that is declared is kept for `is_legal`.
    """
    streams = {r.table for r in witness.optional} | {r.table for s in witness.suffixes for r in s}
    for name in sorted(streams | {r.table for r in witness.fixed if r.step is not None}):
        stream = catalog.streams[name]
        gaps = [rule.gap_us for rule in stream.closing if rule.gap_us is not None]
        if any(c.bucket is not None for c in stream.columns):
            continue
        # rows for a gap have one value for all other rules, and come often enough for longer ones
        for gap in sorted(set(gaps), reverse=True):
            for rule in (rule for rule in stream.closing if rule.gap_us == gap):
                try:
                    witness = _hold(witness, catalog, stream, rule.columns, gap // stream.step_us)
                except NoRowError:  # what is computed of a row's time
                    continue
    return witness


def _hold(
    witness: Witness, catalog: Catalog, stream: Stream, columns: Sequence[str], gap: int
) -> Witness:
    """`gap`: in steps, between rows that agree on the columns."""
    after = len(witness.fixed) + len(witness.optional) + sum(map(len, witness.suffixes))
    spare = UnusedColumns(catalog, stay_open=True, after=after)
    prefix = [r for r in (*witness.fixed, *witness.optional) if r.table == stream.name]
    sure = [r for r in witness.fixed if r.table == stream.name]
    taken = [r.step for r in prefix if r.step is not None]
    gap = gap // stream.spacing * stream.spacing
    if not taken or not gap:
        return witness
    last = max(r.step for r in (*witness.fixed, *witness.optional) if r.step is not None)
    fixed: list[WitnessRow] = []
    suffixes = [list(s) for s in witness.suffixes]
    for value in dict.fromkeys(_value(r, columns) for r in prefix):
        steps = [r.step for r in prefix if _value(r, columns) == value and r.step is not None]
        later = [_steps(s, stream, columns, value) for s in witness.suffixes]
        if None in value or (len(set(steps)) < 2 and not any(later)):
            continue
        there = [r.step for r in sure if _value(r, columns) == value and r.step is not None]
        wanted = _Wanted(min(steps), last - gap + 1 if any(later) else max(steps), last)
        made = _fill(sorted(there), wanted, gap, stream.spacing, set(taken))
        if made is None:
            return witness
        fixed += [_make(stream, columns, value, step, spare) for step in made]
        reached = max([*there, *made])
        for number, coming in enumerate(later):
            if coming:
                needed = _between([reached, *coming], gap)
                if len(needed) > _MOST:
                    return witness
                suffixes[number] += [_make(stream, columns, value, s, spare) for s in needed]
    made_suffixes = tuple(tuple(s) for s in suffixes)
    return replace(witness, fixed=(*witness.fixed, *fixed), suffixes=made_suffixes)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Steps that are held open: from the first on, at least to one, at most to the last."""

    first: int
    least: int
    last: int


def _fill(
    there: Sequence[int], wanted: _Wanted, gap: int, spacing: int, taken: Set[int]
) -> list[int] | None:
    """Steps for further rows, so that these and those there lie no further apart than the gap;
    beside no other rows, as far as that can be. None: they are too many.

    Args:
        there: steps of rows that are always there, in order.
        wanted: where.
        gap: in steps.
        spacing: all are multiples of it.
        taken: steps at which the stream has rows.
    """
    made = list[int]()
    reached = wanted.first
    if not there or there[0] > reached:
        before = range(reached, max(reached - gap - 1, -1), -spacing)
        reached = next((s for s in before if s not in taken), reached)
        made.append(reached)
    while reached < wanted.least:
        ahead = [s for s in there if reached < s <= reached + gap]
        if ahead:
            reached = max(ahead)
            continue
        most = min(reached + gap, wanted.last)
        after = range(most, reached, -spacing)
        reached = next((s for s in after if s not in taken), most)
        made.append(reached)
        if len(made) > _MOST:
            return None
    return made


def _between(steps: Sequence[int], gap: int) -> list[int]:
    """Steps between some, each at most a gap after the one before it."""
    return [
        step
        for a, b in pairwise(sorted(set(steps)))
        for step in range(a + gap, b, gap)[: _MOST + 1]
    ]


def _steps(
    rows: Sequence[WitnessRow], stream: Stream, columns: Sequence[str], value: tuple[Any, ...]
) -> list[int]:
    return [
        r.step
        for r in rows
        if r.table == stream.name and r.step is not None and _value(r, columns) == value
    ]


def _value(row: WitnessRow, columns: Sequence[str]) -> tuple[Any, ...]:
    content = dict(row.values)
    return tuple(content[name] for name in columns)


def _make(
    stream: Stream,
    columns: Sequence[str],
    value: tuple[Any, ...],
    step: int,
    spare: UnusedColumns,
) -> WitnessRow:
    """One more row.

    Raises:
        NoRowError: a derived column is computed of its time, or has no value.
    """
    content = dict(zip(columns, value, strict=True))
    plain = [c.name for c in stream.columns if c.expression is None and c.name not in content]
    content = compute_derived(stream, content | spare.fill(stream.name, plain))
    return WitnessRow(stream.name, step, tuple((c.name, content[c.name]) for c in stream.columns))
