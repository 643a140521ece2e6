"""Replace each value by its bucket between breakpoints: what no join can tell apart is equal."""

from collections.abc import Sequence
from typing import assert_never

import numpy as np

from ontoweir.checker.model.plan import Break, Constants, Grid, Points, StaticValues
from ontoweir.runtime.columnar.frame import Array

_MIN_INT64, _MAX_INT64 = -(1 << 63), (1 << 63) - 1
NO_POINT = -2
"""Stands for all strings that are none of the breakpoints (no code is negative but NULL's)."""


def bucket_values(column: Array, breaks: Sequence[Break], *, text: bool) -> Array:
    """A breakpoint stands for itself; the next number after it for all up to the next breakpoint;
    the number before the first for all before it.

    Args:
        column: whole numbers, doubles, or codes of strings (`text`).
        breaks: resolved breakpoints.
    """
    if text:
        codes = np.concatenate([_points(at).numbers for at in breaks])
        return np.where(np.isin(column, codes), column, NO_POINT)
    dense = column.dtype.kind == "f"
    nowhere = -np.inf if dense else np.iinfo(np.int64).min
    below = np.full(len(column), nowhere, dtype=column.dtype)
    above = np.zeros(len(column), dtype=np.bool_)
    lowest = None
    for at in breaks:
        points, first = _floor(column, at, nowhere)
        below = np.maximum(below, points)
        if first is not None:
            above |= column >= first
            lowest = first if lowest is None else min(lowest, first)
    if lowest is None:  # no breakpoints: nothing is distinguished
        return np.zeros_like(column)
    before = np.nextafter(np.float64(lowest), -np.inf) if dense else max(lowest - 1, nowhere)
    after = np.nextafter(below, np.inf) if dense else below + 1
    ranked = np.where(below == column, column, after)
    return np.where(above, ranked, column.dtype.type(before))


def _points(at: Break) -> Points:
    match at:
        case Points():
            return at
        case Grid() | Constants() | StaticValues():
            raise AssertionError("breakpoints that are not looked up numbers")
        case _:
            assert_never(at)


def _floor(column: Array, at: Break, nowhere: float | int) -> tuple[Array, float | int | None]:
    """The greatest breakpoint up to each value (`nowhere`: none), and the least of all."""
    match at:
        case Grid(first=first, last=last, step=step):
            # where values are whole, the least whole number from a fraction on breaks as it does
            if last < first:
                return np.full(len(column), nowhere, dtype=column.dtype), None
            if column.dtype.kind != "f":
                low, count = int(-(-first // 1)), int((last - first) // step)
                # what lies beyond 64 bits distinguishes no numbers of 64 bits
                skipped = max(-(-(_MIN_INT64 - low) // step), 0)
                low, count = low + skipped * step, count - skipped
                count = min(count, (_MAX_INT64 - low) // step)
                if count < 0:
                    return np.full(len(column), nowhere, dtype=column.dtype), None
                near = np.clip(column, low, low + count * step)
                # without a sign, as differences may have 64 bits themselves
                start, unit = np.int64(low).astype(np.uint64), np.uint64(min(step, (1 << 64) - 1))
                place: Array = (near.astype(np.uint64) - start) // unit
                point: Array = (start + place * unit).astype(np.int64)
                return np.where(column >= low, point, nowhere), low
            begin, count = float(first), int((last - first) // step)

            def at_index(index: Array) -> Array:
                if first == int(first):
                    return (int(first) + index * step).astype(np.float64)
                return begin + index * np.float64(step)

            guess = np.clip(np.floor((column - begin) / step), 0, count).astype(np.int64)
            # division rounds: a step down or up where it went astray
            index = guess - (at_index(guess) > column)
            index += (index < count) & (at_index(index + 1) <= column)
            return np.where(column >= begin, at_index(np.maximum(index, 0)), nowhere), begin
        case Points(numbers=numbers):
            if len(numbers) == 0:
                return np.full(len(column), nowhere, dtype=column.dtype), None
            ordered = numbers
            if column.dtype.kind != "f" and numbers.dtype.kind == "f":
                # beyond 64 bits nothing is distinguished
                whole = np.ceil(numbers[np.abs(numbers) < 2.0**63])
                ordered = np.unique(whole.astype(np.int64))
                if len(ordered) == 0:
                    return np.full(len(column), nowhere, dtype=column.dtype), None
            place = np.searchsorted(ordered, column, side="right") - 1
            floors = np.where(place >= 0, ordered[np.maximum(place, 0)], nowhere)
            return floors.astype(column.dtype), ordered[0].item()
        case Constants() | StaticValues():
            raise AssertionError("breakpoints that were not looked up")
        case _:
            assert_never(at)
