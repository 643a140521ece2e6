"""A column of what the rows before each row say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa

from ontoweir.errors import RunError
from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import (
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    TimestampType,
)
from ontoweir.mappings.model.preceding import Counted
from ontoweir.runtime.columnar.exact_decimals import decode_decimals
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.preceding.fold_frames import (
    PLACES,
    Runs,
    add_doubles,
    add_whole,
    cut_doubles,
    find_extremes,
    list_digits,
    name_digits,
)
from ontoweir.runtime.preceding.places import Places
from ontoweir.runtime.preceding.vary_frames import SUMS, vary, vary_on
from ontoweir.runtime.results.divide_exactly import divide
from ontoweir.runtime.results.exact_sums import round_digits

DIGITS = pa.list_(pa.int64(), len(PLACES))


@dataclass(frozen=True, slots=True)
class Given:
    """What a column is computed of, at all places: `values` of the argument (None: there is none);
    of what runs from the first row on, what was kept of it, at the places of heads (`kept`)."""

    places: Places
    values: "pa.Array | None"
    kept: "Sequence[pa.Array]"


def kept_types(column: Counted, kind: ColumnType | None) -> tuple[pa.DataType, ...]:
    """What is kept of a column that runs from the first row on; `kind`: of its argument."""
    if not column.runs:
        return ()
    match column.function:
        case "first" | "known" | "min" | "max":
            assert kind is not None
            return (value_type(kind),)
        case "count":
            return (pa.int64(),)
        case "sum" | "avg":
            return (pa.int64(), DIGITS if isinstance(kind, FloatType) else pa.int64())
        case "var_pop" | "var_samp":
            return (pa.int64(), pa.list_(pa.int64(), SUMS))
        case "rank" | "dense" | "number" | "percent" | "share" | "part":
            raise AssertionError("they have an order")
        case _:
            assert_never(column.function)


def count_column(
    column: Counted, kind: ColumnType | None, given: Given, runs: Runs
) -> "tuple[pa.Array, ...]":
    """The column of some runs of rows; and beside it what is kept of such a run (kept_types), if it
    runs from the first row on.

    Args:
        column: what is computed.
        kind: the type of its argument.
        given: of all places.
        runs: the runs.

    Raises:
        RunError: a sum does not fit 64 bits.
    """
    runs_on = column.runs
    heads = np.flatnonzero(given.places.head) if runs_on else np.zeros(0, dtype=np.int64)
    match column.function:
        case "first" | "known":
            assert given.values is not None
            values = _put(given.values, heads, given.kept)
            there, index = runs.there, runs.first
            if column.function == "known":
                valid = values.is_valid().to_numpy(zero_copy_only=False)
                last = np.maximum.accumulate(np.where(valid, np.arange(len(values)), -1))
                index = last[np.where(there, runs.last, 0)]
                there = there & (index >= runs.first)
            made = values.take(pa.array(index, mask=~there))
            return (made, made) if runs_on else (made,)
        case "min" | "max":
            assert given.values is not None
            assert kind is not None
            values = _put(given.values, heads, given.kept)
            made = _find_best(column, kind, values, runs)
            return (made, made) if runs_on else (made,)
        case "count" | "sum" | "avg":
            return _add(column, kind, given, runs, heads)
        case "var_pop" | "var_samp":
            assert given.values is not None
            assert kind is not None
            less = int(column.function == "var_samp")
            if runs_on:
                numbers = read_numbers(given.values, kind)
                return vary_on(numbers, kind, runs, less, (heads, given.kept))
            return (vary(*read_numbers(given.values, kind), kind, runs, less),)
        case "rank" | "dense" | "number" | "percent" | "share" | "part":
            raise AssertionError("rank_rows finds it")
        case _:
            assert_never(column.function)


def _put(values: "pa.Array", heads: Array, kept: "Sequence[pa.Array]") -> "pa.Array":
    """The values, with others at some places."""
    if not len(heads):
        return values
    index = np.arange(len(values))
    index[heads] = len(values) + np.arange(len(heads))
    return pa.concat_arrays([values, kept[0]]).take(pa.array(index))


def _find_best(column: Counted, kind: ColumnType, values: "pa.Array", runs: Runs) -> "pa.Array":
    valid, numbers = read_numbers(values, kind)
    if numbers.dtype == np.float64:
        worst = np.inf if column.function == "min" else -np.inf
    else:
        limits = np.iinfo(np.int64)
        worst = limits.max if column.function == "min" else limits.min
    numbers = np.where(valid, numbers, worst)
    assert column.function in ("min", "max")
    found = find_extremes(numbers, runs, "min" if column.function == "min" else "max")
    return _show(found, runs.add(np.cumsum(valid)) > 0, kind)


def _add(
    column: Counted, kind: ColumnType | None, given: Given, runs: Runs, heads: Array
) -> "tuple[pa.Array, ...]":
    rows = len(given.places.order)
    valid = np.ones(rows, dtype=np.bool_)
    if given.values is not None:
        valid = given.values.is_valid().to_numpy(zero_copy_only=False)
        if isinstance(kind, FloatType):  # NaN is no value
            valid, _ = read_numbers(given.values, kind)
    counts = valid.astype(np.int64)
    if len(heads):
        counts[heads] = given.kept[0].to_numpy()
    many = runs.add(np.cumsum(counts))
    runs_on = column.runs
    if column.function == "count":
        made = pa.array(many)
        return (made, made) if runs_on else (made,)
    assert given.values is not None
    assert kind is not None
    there = many > 0
    valid, numbers = read_numbers(given.values, kind)
    average = column.function == "avg"
    if numbers.dtype == np.float64:
        kept = {}
        if len(heads):
            flat = given.kept[1].flatten().to_numpy()
            kept = name_digits(flat.reshape(-1, len(PLACES)))
        digits = add_doubles(cut_doubles(np.where(valid, numbers, 0.0), heads, kept), runs)
        divisor = np.where(there & average, many, 1)
        shown = pa.array(round_digits(digits, divisor), mask=~there)
        if not runs_on:
            return (shown,)
        flat = pa.array(list_digits(digits, len(many)).reshape(-1))
        return shown, pa.array(many), pa.FixedSizeListArray.from_arrays(flat, len(PLACES))
    numbers = np.where(valid, numbers, 0)
    if len(heads):
        numbers[heads] = given.kept[1].to_numpy()
    total = add_whole(numbers, runs)
    if average:
        unit = 10**kind.scale if isinstance(kind, DecimalType) else 1
        mean = divide(np.where(there, total, 0), np.where(there, many, 1), unit)
        shown = pa.array(mean, mask=~there)
    else:
        shown = _show(total, there, kind)
    return (shown, pa.array(many), pa.array(total)) if runs_on else (shown,)


def read_numbers(values: "pa.Array", kind: ColumnType) -> tuple[Array, Array]:
    """Which values are not NULL, and all as numbers: doubles, or whole numbers of a type's units
    (anything where NULL)."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    if isinstance(kind, FloatType):
        doubles = values.to_numpy(zero_copy_only=False)
        return valid & ~np.isnan(doubles), doubles
    if isinstance(kind, DecimalType):
        words = np.frombuffer(values.buffers()[1] or b"", dtype="<i8").reshape(-1, 2)
        words = words[values.offset : values.offset + len(values)]
        low, high = (np.where(valid, words[:, n], 0) for n in (0, 1))
        if not bool((high == low >> 63).all()):
            raise RunError(
                "a decimal that is aggregated does not fit 64 bits, in units of its last place",
                why="whole numbers are kept in 64 bits (decimals in units of their last place)",
                fix="CAST it to fewer decimal places, or to DOUBLE",
            )
        return valid, low
    whole = values.cast(pa.int32()) if isinstance(kind, DateType) else values
    numbers = whole.cast(pa.int64()).fill_null(0).to_numpy()
    return valid, numbers


def _show(numbers: Array, there: Array, kind: ColumnType) -> "pa.Array":
    match kind:
        case FloatType() | IntType():
            return pa.array(numbers, mask=~there)
        case DecimalType(scale=scale):
            return decode_decimals(numbers, pa.decimal128(38, scale), there)
        case DateType():
            return pa.array(numbers.astype(np.int32), mask=~there).cast(pa.date32())
        case TimestampType():
            return pa.array(numbers, mask=~there).cast(pa.timestamp("us"))
        case _:
            raise AssertionError("read_counted saw to it")
