"""How far apart rows have to be so that no time of a query reaches from one to the other."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from math import ceil, isfinite, lcm
from typing import Any

from ontoweir.checker.witness.keyed.compute import read_time
from ontoweir.checker.witness.keyed.find_keys import read_tables
from ontoweir.checker.witness.keyed.find_width import find_width
from ontoweir.errors import Source
from ontoweir.mappings.expressions.functions import DATE_PARTS, TIMES
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DateType,
    Meeting,
    Relation,
    Stream,
    TimestampType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Field,
    Function,
    Value,
)
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.mappings.model.time_bucket import (
    ALL_TIME,
    Moments,
    TimeBucket,
)
from ontoweir.mappings.sql_expressions.read_sorted_text import FAR_US
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import (
    Compare,
    Constant,
    OneOf,
    SpjUnion,
    View,
    column_attributes,
    output_attributes,
)

_OF_CLOCKS = {*DATE_PARTS, *TIMES, Function.CAST, Function.TRY_CAST} - {Function.ADD_US}
"""What may be another one at another time."""

_OF_CURVES = {
    Function.MODULO,
    Function.POWER,
    Function.SQRT,
    Function.CBRT,
    Function.EXP,
    Function.LN,
    Function.LOG10,
    Function.LOG2,
    Function.SIN,
    Function.COS,
    Function.TAN,
    Function.ASIN,
    Function.ACOS,
    Function.ATAN,
    Function.ATAN2,
}
"""What may bring numbers near each other, however far they are apart, or farther than products."""

_COMPARING = {
    Function.EQUAL,
    Function.UNEQUAL,
    Function.LESS,
    Function.AT_MOST,
    Function.GREATER,
    Function.AT_LEAST,
}

DAYS = "2000-01-01", "2000-01-02"
"""The dates that rows of a witness have, with those that are declared: all of its times are later,
so that it says the same however many tuples it has."""

LAST_US = 8_000 * 365 * 86_400 * 10**6
"""The times of a witness are not later (µs since 1970)."""

LATE = "9999-01-01"
"""A date that is later than all times of a witness, by more than the gap between them, if that is
not longer than MOST_LATE_US."""

MOST_LATE_US = 32 * 365 * 86_400 * 10**6

MOST_ROWS = 100
"""A key has so many rows at most in a witness."""

_LONGEST_US = 200 * 365 * 86_400 * 10**6
"""Longer times are not laid out."""


def far_us(union: SpjUnion, catalog: Catalog) -> int | None:
    """So long after a row no time of a query says anything of it that a longer one does not (µs, a
    whole number of all units of time; None: it depends on the clock, or on what is declared of
    later rows).

    Args:
        union: the query.
        catalog: the tables that it is written over.
    """
    names = read_tables(union)
    streams = [catalog.streams[n] for n in names if n in catalog.streams]
    if any(s.lags or s.closing for s in streams) or not streams:
        return None
    if any(lag.behind in names for s in catalog.streams.values() for lag in s.lags):
        return None
    parts = [*list_parts(union), *(p for s in streams for p in list_parts(s))]
    if not all(map(_is_even, parts)):
        return None
    step = max(s.step_us for s in streams)
    longest = max((t for part in parts for t in _list_times(part, step)), default=0)
    statics = (catalog.relations[n] for n in names if n in catalog.relations)
    tables: list[Stream | Relation] = [*streams, *statics]
    read = list_read(union)
    for column in (c for table in tables for c in table.columns if c.name in read):
        if isinstance(column.type, DateType | TimestampType):
            days = (*DAYS, column.minimum, column.maximum, *(column.enum or ()))
            longest = max(longest, *(_read_time(str(d)) for d in days))
    if any(map(_is_difference, parts)):  # whatever unit it is brought to
        longest += _stretch(parts)
    if longest > _LONGEST_US:
        return None
    unit = lcm(*(s.grid_us for s in streams), *(w for p in parts if (w := find_width(p))))
    return (longest // unit + 4) * unit


def list_days(union: SpjUnion, gap_us: int) -> tuple[str, ...]:
    """The dates that rows may have which are before all times of a witness, or after all: where how
    long it is from one time to another is not asked.

    Args:
        union: the query.
        gap_us: between rows, of `far_us`.
    """
    late = gap_us <= MOST_LATE_US and not any(map(_is_difference, list_parts(union)))
    return (*DAYS, LATE) if late else DAYS


def list_read(union: SpjUnion) -> set[str]:
    """The names of the columns that a query compares, or computes something of, or calls by other
    names in its parts."""
    read: set[str] = set()
    renamed: list[tuple[str, str]] = []
    for part in list_parts(union):
        match part:
            case Call(function=Function.IS_NULL, arguments=(Field(),)):
                pass
            case Compare() | OneOf():
                read |= {a.column for a in condition_attributes(part)}
            case Call(arguments=arguments):
                read |= {a.column for a in arguments if isinstance(a, Field)}
            case Case(branches=branches, otherwise=otherwise):
                values = (otherwise, *(e for branch in branches for e in branch))
                read |= {e.column for e in values if isinstance(e, Field)}
            case Preceding():
                read |= {*part.key}
                read |= {c.argument.column for c in part.columns if isinstance(c.argument, Field)}
            case Meeting():
                read |= {column for _, column in part.key}
                renamed += part.columns
            case View():
                names = [c.name for c in part.table.columns]
                for branch in part.branches:
                    columns = zip(branch.columns, names, strict=True)
                    renamed += [(a.column, n) for of, n in columns for a in column_attributes(of)]
            case SpjUnion() if part is not union or union.joined is not None:
                shown = (o for query in part.disjuncts for _, o in query.outputs)
                read |= {a.column for o in shown for a in output_attributes(o)}
            case _:
                pass
    before = -1
    while len(read) > before:
        before = len(read)
        read |= {column for column, name in renamed if name in read}
    return read


def _is_even(part: object) -> bool:
    """Whether a part of a query says the same at all times."""
    match part:
        case TimeBucket(buckets=buckets):
            return isinstance(buckets, Moments) or buckets == ALL_TIME or bool(find_width(part))
        case _ if _is_difference(part):
            return True
        case _ if find_width(part) is not None:
            return True
        case Call(function=function, arguments=arguments) if function in _OF_CLOCKS:
            return not any(isinstance(e.type, TimestampType | DateType) for e in (part, *arguments))
        case _:
            return True


def _read_time(text: str) -> int:
    """A text as a time, if it is one (µs since 1970; 0: it is none)."""
    try:
        return abs(read_time(text))
    except (ValueError, TypeError):
        return 0


def _is_difference(part: object) -> bool:
    """Whether a part is what is between two times (µs)."""
    match part:
        case Call(
            function=Function.SUBTRACT,
            arguments=(Call(function=Function.EPOCH_US), Call(function=Function.EPOCH_US)),
        ):
            return True
        case _:
            return False


def _stretch(parts: Sequence[object]) -> int:
    """More than any difference of times that sums and products with the numbers of a query, or a
    mean of as many as a key has rows, can be compared with (endless, where more is computed of
    numbers)."""
    product, compared, endless = 1.0, 1.0, 10 * _LONGEST_US
    for part in parts:
        match part:
            case Call(function=function) if function in _OF_CURVES:
                return endless
            case Call(function=function, arguments=arguments) if function in _COMPARING:
                compared += sum(map(_size, arguments))
            case Call(arguments=arguments):
                for factor in filter(None, map(_size, arguments)):
                    product *= factor
            case Case(branches=branches, otherwise=otherwise):
                for factor in filter(None, map(_size, (otherwise, *(v for _, v in branches)))):
                    product *= factor
            case Compare(right=Constant()):
                compared += _size(part.right)
            case _:
                pass
        if MOST_ROWS * product * compared > endless:
            return endless
    return ceil(MOST_ROWS * product * compared)


def _size(part: object) -> float:
    """Not less than a number, and one divided by it, and more where it is not 1 (0: it is no
    number, or 0)."""
    number = part.value if isinstance(part, Value | Constant) else None
    if not isinstance(number, int | float | Decimal) or not isfinite(number) or not number:
        return 0.0
    size = max(abs(float(number)), 1 / abs(float(number)))
    return size if size == 1 else 2 * size


def _list_times(part: object, step_us: int) -> Iterator[int]:
    """The numbers that a part of a query is, as times in µs; those of conditions are in steps."""
    match part:
        case Compare(offset=offset, right=Constant(value=value)):
            yield from (n * step_us for n in _list_times(offset, 1))
            scale = 1 if isinstance(value, str) else step_us
            yield from (n * scale for n in _list_times(value, 1))
        case Compare(offset=offset):
            yield from (n * step_us for n in _list_times(offset, 1))
        case TimeBucket(buckets=Moments(after_us=after), behind_us=behind):
            yield abs(after) + abs(behind)
        case TimeBucket(behind_us=behind):
            yield (find_width(part) or 0) + abs(behind)
        case Call() if width := find_width(part):
            yield width
        case str():
            yield _read_time(part)
        case int() | float() | Decimal():
            yield ceil(abs(float(part))) if isfinite(part) else 0
        case _:
            pass


def list_parts(part: Any) -> Iterator[object]:
    """A part of a query, and all that it is made of, but for what is declared of tables; what is
    between two times as it is, and the order of times in texts not at all."""
    match part:
        case _ if _is_difference(part):
            yield part
        case Call(
            function=Function.TRY_CAST,
            arguments=(
                Call(
                    function=Function.ADD,
                    arguments=(Call(function=Function.EPOCH_US), Value(value=value)),
                ),
            ),
        ) if value == FAR_US:
            return
        case Compare() | TimeBucket():
            yield part
        case tuple():
            for one in part:
                yield from list_parts(one)
        case Stream():
            yield from list_parts(part.columns)
        case Column():
            yield from list_parts((part.bucket, part.expression))
        case Relation() | Field() | Source():
            return
        case _:
            yield part
            if is_dataclass(part):
                for field in fields(part):
                    yield from list_parts(getattr(part, field.name))
