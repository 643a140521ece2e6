"""Percent-encoding of values in IRI templates: https://www.w3.org/TR/r2rml/#from-template."""

import re
from functools import cache
from urllib.parse import quote


@cache
def _reserved() -> re.Pattern[str]:
    """All but iunreserved of RFC 3987: letters, digits, -._~ and ucschar. It takes a while to
    compile, and most runs do not need it."""
    return re.compile(
        "[^A-Za-z0-9._~\\-\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
        + "".join(f"{chr(p * 0x10000)}-{chr(p * 0x10000 + 0xFFFD)}" for p in range(1, 14))
        + "\U000e1000-\U000efffd]"
    )


def percent_encode(text: str) -> str:
    """The text with all but iunreserved characters percent-encoded, as R2RML 7.3 says.

    >>> percent_encode("a b/\u00e9")
    'a%20b%2F\u00e9'
    """
    return _reserved().sub(lambda m: quote(m[0], safe=""), text)
