"""Values of answers in JSON, where it has no type for them."""

from math import isfinite


def finite_value(value: object) -> object:
    """A value as strict JSON has it: without infinity, and without a number that is none."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def plain_json(value: object) -> str:
    """Times as ISO 8601, decimals as their digits: text loses nothing."""
    shown = getattr(value, "isoformat", None)
    return str(shown()).replace("+00:00", "Z") if shown is not None else str(value)
