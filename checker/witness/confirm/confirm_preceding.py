"""Confirm a witness against a query of rows with what the rows before them say.

A row's columns are made of the rows of its own key that came before it. So where no other optional
tuple has the key of suffix i, what the suffix brings says whether optional tuple i is there,
whichever of the others are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

from ontoweir.checker.witness.evaluate_naively import Instance, evaluate_naively
from ontoweir.checker.witness.witness import Witness, WitnessRow, content_of, instance_of
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Catalog, ColumnType, FloatType, IntType, Stream
from ontoweir.mappings.model.expression import Expression, fields_of, has_user_calls
from ontoweir.mappings.model.preceding import Counted, Preceding
from ontoweir.rewriter.model.spj import SpjUnion

_FUNCTIONS = ("first", "known", "count", "sum", "avg", "min", "max")

_Row: TypeAlias = Mapping[str, Any]


def find_preceding(union: SpjUnion) -> Preceding | None:
    """How rows meet those before them, of a query that witnesses can be confirmed against here: it
    shows such rows, each by itself, perhaps with static data (None: it is another one)."""
    if len(union.blocks) != 1 or union.aggregation is not None or union.standing is not None:
        return None
    if union.ends or union.begins or union.statics or union.views:
        return None
    block = union.blocks[0]
    meeting = block.meeting
    if not isinstance(meeting, Preceding) or meeting.after or meeting.ties or not meeting.key:
        return None
    if any(c.order or c.function not in _FUNCTIONS or c.last < 0 for c in meeting.columns):
        return None
    # after their span, or bucket, of time rows say nothing
    if meeting.within or any(c.span_us is not None for c in meeting.columns):
        return None
    made = [e for _, e in union.derived]
    made += [c.argument for c in meeting.columns if c.argument is not None]
    made += [] if meeting.only is None else [meeting.only]
    if any(map(has_user_calls, made)):
        return None
    name = block.stream.name
    alone = (sum(o.table == name for o in q.occurrences) == 1 for q in union.disjuncts)
    return meeting if all(alone) else None


def confirm_preceding(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether what the suffixes bring proves that all subsets of the optional tuples must be told
    apart.

    Args:
        union: the query, of which there is a `find_preceding`.
        catalog: with its block as a stream, and the columns that are derived.
        witness: legal, with suffixes later than all else.

    Raises:
        TooLongError: there are too many matches to look at.
    """
    meeting = find_preceding(union)
    assert meeting is not None

    def read_key(row: WitnessRow) -> tuple[Any, ...] | None:
        content = content_of(catalog, row)
        return tuple(content.get(n) for n in meeting.key) if row.table == meeting.base else None

    keys = [
        {read_key(row) for row in (optional, *suffix)} - {None}
        for optional, suffix in zip(witness.optional, witness.suffixes, strict=True)
    ]
    if any(one & other for one, other in combinations(keys, 2)):
        return False
    for i, suffix in enumerate(witness.suffixes):
        mine = [witness.optional[i]]
        rest = [o for n, o in enumerate(witness.optional) if n != i]
        brought = []
        for optional in ([], rest, mine, [*mine, *rest]):
            rows = [*witness.fixed, *optional]
            before = _answer(union, meeting, catalog, rows)
            after = _answer(union, meeting, catalog, [*rows, *suffix])
            if before is None or after is None or before - after:
                return False
            brought.append(after - before)
        without, crowded, alone, whole = brought
        if without != crowded or alone != whole or without == alone:
            return False
    return True


def _answer(
    union: SpjUnion, meeting: Preceding, catalog: Catalog, rows: Sequence[WitnessRow]
) -> Counter[tuple[Any, ...]] | None:
    """All answers over some rows (None: it is not known what they are)."""
    name = union.blocks[0].stream.name
    made = catalog.streams[name]
    instance: dict[str, Sequence[_Row]] = dict(instance_of(catalog, rows))
    try:
        instance[name] = _precede(meeting, catalog.streams[meeting.base], made, instance)
    except (DataError, ValueError, TypeError, OverflowError, ArithmeticError):
        return None
    return evaluate_naively(replace(union, blocks=()), instance)


def _precede(
    meeting: Preceding, base: Stream, made: Stream, instance: Instance
) -> list[dict[str, Any]]:
    """The rows of the block.

    Raises:
        ValueError: two rows of a key have one time, so that their order is not known.
    """
    rows = sorted(instance.get(base.name, ()), key=lambda row: row[base.timestamp])
    if meeting.only is not None:
        rows = [row for row in rows if _compute(meeting.only, row, base) is True]
    earlier: dict[tuple[Any, ...], list[_Row]] = {}
    found = []
    for row in rows:
        mine = earlier.setdefault(tuple(row.get(n) for n in meeting.key), [])
        if mine and mine[-1][base.timestamp] == row[base.timestamp]:
            raise ValueError
        mine.append(row)
        content = dict(row)
        for counted in meeting.columns:
            content[counted.name] = _count(counted, mine, base)
        for column in made.columns:
            if column.bucket is not None:
                at_us = column.bucket.of(row[base.timestamp] * base.step_us)
                content[column.name] = _write_time(at_us)
        for column in made.columns:
            if column.expression is not None:
                content[column.name] = _compute(column.expression, content, base)
        found.append(content)
    return found


def _count(counted: Counted, rows: Sequence[_Row], base: Stream) -> Any:
    """A column of the last of some rows of one key, each of another time."""
    last = len(rows) - 1
    end = last - counted.last
    begin = 0 if counted.first is None else max(0, last - counted.first)
    now = rows[last][base.timestamp]
    frame = [
        row
        for place, row in enumerate(rows)
        if begin <= place <= end and (now - row[base.timestamp]) * base.step_us >= counted.until_us
    ]
    argument = counted.argument
    values = [1 if argument is None else _compute(argument, row, base) for row in frame]
    known = [v for v in values if v is not None]
    match counted.function:
        case "first":
            return values[0] if values else None
        case "known":
            return known[-1] if known else None
        case "count":
            return len(known)
        case "sum":
            return _as_type(sum(map(Fraction, known)), counted.type) if known else None
        case "avg":
            mean = sum(map(Fraction, known)) / len(known) if known else None
            return None if mean is None else _as_type(mean, counted.type)
        case "min":
            return min(known, default=None)
        case "max":
            return max(known, default=None)
        case _:
            raise ValueError(counted.function)


def _as_type(number: Any, kind: ColumnType) -> Any:
    if isinstance(kind, FloatType):
        return float(number)
    return int(number) if isinstance(kind, IntType) else number


def _write_time(time_us: int) -> str:
    """A time as constants are written."""
    moment = datetime(1970, 1, 1) + timedelta(microseconds=time_us)
    return moment.isoformat(" ", timespec="microseconds")


def _compute(expression: Expression, row: _Row, base: Stream) -> Any:
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array, to_scalars

    content = {**row, base.timestamp: _write_time(row[base.timestamp] * base.step_us)}
    columns = {n: to_array([content.get(n)], f.type) for n, f in fields_of(expression).items()}
    made = to_scalars(evaluate(expression, columns, 1), expression.type)
    return made[0] if made else None
