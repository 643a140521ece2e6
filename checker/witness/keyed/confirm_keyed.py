"""Confirm a witness against a query of which what is told of a key is made of its rows alone.

Every optional tuple has a key of its own, and so has its suffix: what a suffix changes depends on
this tuple, and on no other. Suffixes come so long after all else that no time of the query reaches
from one to the other, and nothing but equality is asked of keys: what is true of a few tuples is so
of as many as there are keys (checker/citations.md, 29).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontoweir.checker.witness.evaluate_naively import RepeatedError
from ontoweir.checker.witness.is_legal import is_legal
from ontoweir.checker.witness.keyed.compute import UnknownAnswerError, compute
from ontoweir.checker.witness.keyed.drop_counts import drop_counts, drop_numbers
from ontoweir.checker.witness.keyed.far_us import LAST_US, MOST_ROWS, far_us
from ontoweir.checker.witness.keyed.find_keys import Keys, find_keys
from ontoweir.checker.witness.keyed.hold_naively import hold_naively
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import (
    Catalog,
    Stream,
)
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.windows.choose_emit import CHANGING, default_emit


def confirm_keyed(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether what the suffixes change proves that all subsets of the optional tuples must be told
    apart: of every key by itself.

    Args:
        union: the query.
        catalog: the tables that it is written over, in the steps of the witness.
        witness: whose rows of streams have the keys of its optional tuples.

    Raises:
        TooLongError: there are too many matches to look at.
    """
    gap = far_us(union, catalog)
    if gap is None or not is_legal(witness, catalog):
        return False
    for way in list_ways(union, catalog):
        shares = _shares(witness, catalog, way.keys, gap)
        if shares and tells_apart(union, catalog, witness, way):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Way:
    """The keys by which something of a query is told of each value by itself. `columns`: which
    groups change, by these, is what is told so (None: all is). `mixed`: this may depend on how many
    others there are, which are all alike: a mean stays for one number of them at most, or for all;
    an extreme for none, for all, or for those between; `rows`: that are counted so, and of what
    there are extremes and means, which is alike of all values (None: of nothing). `first`: of all
    values, the rows with so many first numbers are told (0: all are): where none of the others is
    ever among them, these say nothing, however many there are, as all are alike."""

    keys: Keys
    columns: tuple[str, ...] | None = None
    mixed: bool = False
    rows: tuple[SpjUnion, tuple[str, ...]] | None = None
    first: int = 0


def list_ways(union: SpjUnion, catalog: Catalog) -> Iterator[Way]:
    """The ways in which what a query tells of a key is its own."""
    for keys in find_keys(union, catalog):
        yield Way(keys)
    if (counted := drop_counts(union)) is not None:
        for keys in find_keys(counted.rows, catalog):
            compared = (counted.rows, counted.compared) if counted.compared else None
            yield Way(keys, counted.columns, counted.mixed, compared)
    if (numbered := drop_numbers(union)) is not None:
        rows, first = numbered
        for keys in find_keys(rows, catalog):
            yield Way(keys, first=first)


def tells_apart(union: SpjUnion, catalog: Catalog, witness: Witness, way: Way) -> bool:
    """Whether each suffix changes something else where its optional tuple is there, whether all of
    the others are there or none; of the first and the last one, if it is mixed, for any number.

    Args:
        union: the query.
        catalog: as in `confirm_keyed`.
        witness: the rows.
        way: what is looked at.

    Raises: as `confirm_keyed`.
    """
    everything = set(range(witness.size))

    def change(number: int, there: set[int]) -> tuple[Counter[tuple[Any, ...]], ...]:
        names, before, changed = _change(union, catalog, witness, number, there)
        if way.columns is not None:
            place = [names.index(n) for n in way.columns]
            return (Counter({tuple(row[p] for p in place): 1 for row in changed}),)
        return (changed, before) if way.first else (changed,)

    try:
        if way.rows is not None and not _are_alike(*way.rows, catalog, witness):
            return False
        for i in everything:
            alone = [change(i, there) for there in (set(), {i})]
            if alone[0][0] == alone[1][0] or alone[0][1:] != alone[1][1:]:
                return False
            if len(everything) == 1:
                continue
            others = sorted(everything - {i})
            each = way.mixed and i in (0, len(others))
            for count in range(1, len(others) + 1) if each else (len(others),):
                there = {*others[:count]}
                if alone != [change(i, there), change(i, there | {i})]:
                    return False
    except (UnknownAnswerError, RepeatedError):
        return False
    return True


def _are_alike(
    rows: SpjUnion, columns: tuple[str, ...], catalog: Catalog, witness: Witness
) -> bool:
    """Whether each optional tuple, and its suffix with it and without, make rows of the same values
    of some columns."""
    made = set()
    for i in range(witness.size):
        found = []
        for there in (set[int](), {i}):
            names, before, changed = _change(rows, catalog, witness, i, there)
            place = [names.index(n) for n in columns if n in names]
            if len(place) < len(columns):
                return False
            for told in (before, changed):
                shown: Counter[tuple[Any, ...]] = Counter()
                for row, count in told.items():
                    shown[tuple(row[p] for p in place)] += count
                found.append(frozenset(shown.items()))
        made.add(tuple(found))
    return len(made) == 1


def _shares(witness: Witness, catalog: Catalog, keys: Keys, gap_us: int) -> bool:
    """Whether each optional tuple and its suffix have a key of their own, with MOST_ROWS rows at
    most, and suffixes are far from all else."""

    def key_of(row: WitnessRow) -> Any:
        values, column = dict(row.values), keys[row.table]
        made = column.expression
        return values[column.name] if made is None else compute(made, values)

    def time_of(row: WitnessRow) -> int:
        return (row.step or 0) * catalog.streams[row.table].step_us

    every = [*witness.fixed, *witness.optional, *(r for s in witness.suffixes for r in s)]
    timed = [r for r in every if r.step is not None]
    if not {r.table for r in timed} <= keys.keys() or max(map(time_of, timed)) > LAST_US:
        return False
    try:
        mine = [key_of(row) for row in witness.optional]
        theirs = [{key_of(row) for row in s if row.step is not None} for s in witness.suffixes]
        counted = Counter(map(key_of, timed))
    except UnknownAnswerError:
        return False
    if len({*mine}) < len(mine) or None in mine or max(counted.values()) > MOST_ROWS:
        return False
    for key, suffix, others in zip(mine, witness.suffixes, theirs, strict=True):
        if not suffix or any(r.step is None for r in suffix) or others != {key}:
            return False
        begin = min(map(time_of, suffix))
        before = [r for r in (*witness.fixed, *witness.optional) if r.step is not None]
        if any(begin - time_of(r) < gap_us for r in before):
            return False
    return True


def _change(
    union: SpjUnion, catalog: Catalog, witness: Witness, number: int, there: set[int]
) -> tuple[tuple[str, ...], Counter[tuple[Any, ...]], Counter[tuple[Any, ...]]]:
    """What holds before a suffix, and what it changes, where some of the optional tuples are there:
    how often more, or less, each answer holds; of groups that are told as they become, those that
    are told."""
    suffix = witness.suffixes[number]
    before = [*witness.fixed, *(witness.optional[n] for n in sorted(there))]
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for row in (*before, *suffix):
        table = catalog.table(row.table)
        step = table.step_us if isinstance(table, Stream) else 0
        rows.setdefault(row.table, []).append(((row.step or 0) * step, dict(row.values)))
    times = [(r.step or 0) * catalog.streams[r.table].step_us for r in suffix]
    names, first = hold_naively(union, catalog, rows, min(times) - 1)
    _, last = hold_naively(union, catalog, rows, max(times))
    changed = Counter(last)
    changed.subtract(first)
    told = default_emit(union) in CHANGING
    return names, first, Counter({row: n for row, n in changed.items() if n > 0 or (told and n)})
