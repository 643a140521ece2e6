"""Arithmetic that does not leave 64 bits without a word."""

from fractions import Fraction
from math import floor
from typing import TypeAlias, assert_never

import numpy as np

from ontoweir.errors import RunError
from ontoweir.rewriter.model.spj import Op
from ontoweir.runtime.columnar.frame import Array

Ends: TypeAlias = tuple[int | Fraction | None, int | Fraction | None]
"""The least and the greatest number that there may be (None: there is no limit)."""
_MIN_INT64, _MAX_INT64 = -(1 << 63), (1 << 63) - 1


def add_exact(column: Array, number: int | Fraction) -> Array:
    """A column plus a number: whole numbers of 64 bits where all sums fit, otherwise Python's,
    which compare exactly with a column of either. Doubles stay doubles, and whole numbers become
    doubles where a fraction is added."""
    if column.dtype.kind == "f" or number != int(number):
        shifted: Array = column + (int(number) if number == int(number) else float(number))
        return shifted
    if number == 0 or len(column) == 0:
        return column
    whole, low, high = int(number), int(column.min()), int(column.max())
    if (
        low + whole >= _MIN_INT64
        and high + whole <= _MAX_INT64
        and _MIN_INT64 <= whole <= _MAX_INT64
    ):
        moved: Array = column + whole
        return moved
    wide: Array = column.astype(object) + whole
    return wide


def lies_below(left: Array, right: Array, limit: int | Fraction, *, strict: bool) -> Array:
    """Where `left <= right + limit` (`<` where strict)."""
    if limit != int(limit) and left.dtype.kind != "f" and right.dtype.kind != "f":
        limit, strict = floor(limit), False
    other = add_exact(right, limit)
    holds: Array = (left < other) if strict else (left <= other)
    return holds


def lies_beside(column: Array, op: Op, below: Array | int) -> Array:
    """Whole numbers compared with what lies between `below` and the next whole number."""
    good: Array
    match op:
        case Op.LT | Op.LE:
            good = column <= below
        case Op.GT | Op.GE:
            good = column > below
        case Op.EQ | Op.NE:
            good = np.full(len(column), op is Op.NE)
        case _:
            assert_never(op)
    return good


def differs(left: Array, right: Array, shift: int | Fraction) -> Array:
    """Where `left != right + shift`."""
    if shift != int(shift) and left.dtype.kind != "f" and right.dtype.kind != "f":
        return np.ones(len(left), dtype=np.bool_)
    unequal: Array = left != add_exact(right, shift)
    return unequal


def fits(column: Array) -> Array:
    """Which numbers are 64-bit whole numbers; doubles are taken as they are."""
    if column.dtype != object:
        return np.ones(len(column), dtype=np.bool_)
    inside: Array = (column == column // 1) & (column >= _MIN_INT64) & (column <= _MAX_INT64)
    good: Array = inside.astype(np.bool_)
    return good


def narrow(column: Array, what: str) -> Array:
    """The column as 64-bit whole numbers, or doubles.

    Raises:
        RunError: a number is none.
    """
    if column.dtype != object:
        return column
    good = fits(column)
    if not good.all():
        raise RunError(
            f"{what} does not fit 64 bits: {column[int(np.flatnonzero(~good)[0])]}",
            why="whole numbers are kept in 64 bits (decimals in units of the query's last place)",
            fix="compare with less great a number, or correct the data",
        )
    return column.astype(np.int64)


def clamp(number: int | Fraction) -> int | float:
    """A limit of values that are whole numbers of 64 bits, or doubles, as numpy takes it."""
    if number != int(number):
        return float(number)
    return min(max(int(number), _MIN_INT64), _MAX_INT64)


def widen_limit(number: int | Fraction, column: Array, side: int) -> int | float:
    """A limit as a number; of doubles one a little further out, as those in units are rounded
    (what they are compared with decides)."""
    plain = _plain(number)
    if column.dtype.kind != "f" or isinstance(plain, int):
        return plain
    return plain + side * 4 * float(np.spacing(abs(plain)))


def lie_within(column: Array, limits: Ends, known: Ends | None = None) -> Array | None:
    """Which numbers lie within limits (None: all of them, as often); `known`: other limits, which
    all keep."""
    good: Array | None = None
    (low, high), (least, most) = limits, known or (None, None)
    if low is not None and len(column) and (least is None or least < low):
        edge = widen_limit(low, column, -1)
        if not column.min() >= edge:
            good = column >= edge
    if high is not None and len(column) and (most is None or most > high):
        edge = widen_limit(high, column, 1)
        if not column.max() <= edge:
            good = column <= edge if good is None else good & (column <= edge)
    return good


def _plain(number: int | Fraction) -> int | float:
    return int(number) if number == int(number) else float(number)
