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

_PLAIN = r"\A[A-Za-z0-9\-._~]*\z"


def show_texts(column: "pa.Array") -> "pa.Array":
    """Canonical lexical forms: 1.5, never 1.50; 10:00:00, never 10:00:00.000000."""
    if pa.types.is_timestamp(column.type):
        texts = column.cast(pa.timestamp("us")).cast(pa.string())
        texts = pc.replace_substring(texts, " ", "T")
        texts = pc.replace_substring_regex(texts, r"\.0+$", "")
        return pc.replace_substring_regex(texts, r"(\.\d*[1-9])0+$", r"\1")
    if pa.types.is_decimal(column.type):
        return write_texts(column)
    return column.cast(pa.string())


def write_texts(column: "pa.Array") -> "pa.Array":
    """The texts of values in templates."""
    if pa.types.is_string(column.type) or pa.types.is_integer(column.type):
        return show_texts(column)
    return pa.array(
        [None if v is None else write_value(v) for v in column.to_pylist()], pa.string()
    )


def encode_texts(texts: "pa.Array") -> "pa.Array":
    """Texts percent-encoded; most need not be."""
    if pc.all(pc.match_substring_regex(texts, _PLAIN), min_count=0).as_py():
        return texts
    return pa.array([_encode(t) for t in texts.to_pylist()], pa.string())


def _encode(text: str) -> str:
    return RESERVED.sub(lambda match: quote(match[0], safe=""), text)
