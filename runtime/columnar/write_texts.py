"""Values as texts: lexical forms, and as templates have them."""

import re
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.materialize.write_value import write_value

# R2RML section 7.3: what is not `iunreserved` (RFC 3987) is percent-encoded.
RESERVED = re.compile(
    "[^A-Za-z0-9\\-._~\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    "\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd\U00040000-\U000dfffd]"
)

_ODD = r"[^0-9.\-]"
"""In a number's text: it has an exponent, or is none."""


def show_texts(column: "pa.Array") -> "pa.Array":
    """Canonical lexical forms: 1.5, never 1.50; 10:00:00, never 10:00:00.000000."""
    if pa.types.is_timestamp(column.type):
        texts = column.cast(pa.timestamp("us")).cast(pa.string())
        return _strip_zeros(pc.replace_substring(texts, " ", "T"))
    if pa.types.is_decimal(column.type):
        return write_texts(column)
    return column.cast(pa.string())


def write_texts(column: "pa.Array") -> "pa.Array":
    """The texts of values in templates: as write_value, a whole column at a time."""
    if not pa.types.is_decimal(column.type) and not pa.types.is_floating(column.type):
        return show_texts(column)
    texts = _strip_zeros(column.cast(pa.string()))
    texts = pc.if_else(pc.equal(texts, "-0"), "0", texts)
    odd = pc.fill_null(pc.match_substring_regex(texts, _ODD), False)
    if not pc.any(odd, min_count=0).as_py():
        return texts
    written = [write_value(v) for v in column.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd, pa.array(written, pa.string()))


def _strip_zeros(texts: "pa.Array") -> "pa.Array":
    """Without zeros at the end of a fraction, and without a bare point."""
    texts = pc.replace_substring_regex(texts, r"\.0+$", "")
    return pc.replace_substring_regex(texts, r"(\.\d*[1-9])0+$", r"\1")


def encode_texts(texts: "pa.Array") -> "pa.Array":
    """Texts percent-encoded: each character that is to be encoded, in all texts at once."""
    left = texts  # without the characters that are done
    while True:
        reserved = left.filter(pc.match_substring_regex(left, RESERVED.pattern))
        if not len(reserved):
            return texts
        first = pc.extract_regex(reserved, f"(?P<c>{RESERVED.pattern})").field("c")
        # the percent sign before all others, which bring such signs
        chars = ["%"] if left is texts else pc.unique(first).to_pylist()
        for char in chars:
            texts = pc.replace_substring(texts, char, quote(char, safe=""))
            left = pc.replace_substring(left, char, "")
