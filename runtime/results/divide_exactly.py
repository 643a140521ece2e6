"""Quotients of whole numbers as the nearest doubles."""

from fractions import Fraction

import numpy as np

from ontoweir.runtime.columnar.frame import Array

_FAR = float(1 << 61)
"""The sum of two numbers of so much is looked at by itself: whether it fits 64 bits."""


def halve(low: Array, high: Array, unit: int) -> Array:
    """(low + high) / (2 · unit) as the nearest doubles."""
    if low.dtype == np.float64:
        between: Array = low / 2 + high / 2  # as the sum of the greatest doubles is infinite
        small = np.abs(low) + np.abs(high) < 1.0
        return np.where(small, (low + high) / 2, between)
    one = np.ones(len(low), dtype=np.int64)
    far = (np.abs(low.astype(np.float64)) > _FAR) | (np.abs(high.astype(np.float64)) > _FAR)
    quotient = divide(np.where(far, 0, low) + np.where(far, 0, high), one, 2 * unit)
    for i in np.flatnonzero(far):
        quotient[i] = float(Fraction(int(low[i]) + int(high[i]), 2 * unit))
    return quotient


def divide(above: Array, below: Array, unit: int) -> Array:
    """above / (below · unit) as the nearest doubles."""
    exact = 1 << 53
    quotient: Array = above / (below.astype(np.float64) * unit)
    large = (above > exact) | (above < -exact) | (below > exact // unit)
    for i in np.flatnonzero(large):
        quotient[i] = float(Fraction(int(above[i]), int(below[i]) * unit))
    return quotient
