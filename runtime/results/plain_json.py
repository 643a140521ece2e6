"""Values of answers in JSON, where it has no type for them."""


def plain_json(value: object) -> str:
    """Times as ISO 8601, decimals as their digits: text loses nothing."""
    shown = getattr(value, "isoformat", None)
    return str(shown()).replace("+00:00", "Z") if shown is not None else str(value)
