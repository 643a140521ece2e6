"""The fraction of a quantile."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction


def read_fraction(text: str) -> Fraction | None:
    """A number from 0 to 1 (None: it is no such number).

    >>> read_fraction("0.95"), read_fraction("95")
    (Fraction(19, 20), None)
    """
    try:
        number = Fraction(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 else None
