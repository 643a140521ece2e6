"""Quotients of whole numbers as the nearest doubles."""

import numpy as np

from ontoweir.runtime.columnar.frame import Array

_FAR = float(1 << 61)
"""The sum of two numbers of so much is looked at by itself: whether it fits 64 bits."""


def halve(low: Array, high: Array, unit: int) -> Array:
    """(low + high) / (2 · unit) as the nearest doubles."""
    if low.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):  # between both infinities is no number
            between: Array = low / 2 + high / 2  # as the sum of the greatest doubles is infinite
            small = np.abs(low) + np.abs(high) < 1.0
            return np.where(small, (low + high) / 2, between)
    one = np.ones(len(low), dtype=np.int64)
    far = (np.abs(low.astype(np.float64)) > _FAR) | (np.abs(high.astype(np.float64)) > _FAR)
    quotient = divide(np.where(far, 0, low) + np.where(far, 0, high), one, 2 * unit)
    if far.any():  # quotients of Python's whole numbers are the nearest doubles
        both = low[far].astype(object) + high[far].astype(object)
        quotient[far] = (both / (2 * unit)).astype(np.float64)
    return quotient


def interpolate(low: Array, high: Array, share: Array, whole: int, unit: int) -> Array:
    """low + (high - low) · share / whole, in units of which `unit` are 1, as the nearest doubles;
    of doubles, what doubles make of it.

    Args:
        low, high: int64 or float64.
        share: int64, from 0 to `whole` - 1.
        whole: more than 0.
        unit: of whole numbers; 1 of doubles.
    """
    if low.dtype == np.float64:
        part = share / whole
        with np.errstate(over="ignore", invalid="ignore"):
            between: Array = low + (high - low) * part
            far = np.isinf(high - low)  # the difference is too great, or infinite
            between = np.where(far, low * (1 - part) + high * part, between)
        return np.where((share == 0) | (low == high), low, between)
    top = max(np.abs(side.astype(np.float64)).max(initial=0.0) for side in (low, high))
    if whole > _FAR or top * whole > _FAR:  # quotients of Python's whole numbers are the nearest
        exact = low.astype(object) * (whole - share) + high.astype(object) * share
        quotient: Array = (exact / (whole * unit)).astype(np.float64)
        return quotient
    one = np.ones(len(low), dtype=np.int64)
    return divide(low * (whole - share) + high * share, one, whole * unit)


def divide(above: Array, below: Array, unit: int) -> Array:
    """above / (below · unit) as the nearest doubles."""
    exact = 1 << 53
    quotient: Array = above / (below.astype(np.float64) * unit)
    large = (above > exact) | (above < -exact) | (below > exact // unit)
    if large.any():
        exact_quotient = above[large].astype(object) / (below[large].astype(object) * unit)
        quotient[large] = exact_quotient.astype(np.float64)
    return quotient
