"""Write the values of JSON lines as strings, so that a reader gives the text of each."""

import numpy as np

from ontoweir.runtime.columnar.frame import Array

_QUOTE, _ESCAPE = b'"\\'
_STRUCTURE = np.zeros(256, np.bool_)
_STRUCTURE[list(b"{}[],:")] = True
_STEP = np.zeros(256, np.int8)
_STEP[list(b"{[")] = 1
_STEP[list(b"}]")] = -1
_BLANK = np.zeros(256, np.bool_)
_BLANK[list(b" \t\r")] = True
_QUOTED = np.ones(256, np.bool_)
_QUOTED[list(b'"n')] = False
"""Whether a value that begins so is put between quotes: all but a string and null."""


def quote_values(block: bytes) -> bytes:
    """The same objects with the values of their own members as strings, but for null: of a number,
    true or false, an array or an object, its text as it is written.

    Args:
        block: lines, each one whole, valid JSON object.

    >>> quote_values(b'{"a": 1.50, "b": null, "c": "x"}')
    b'{"a": "1.50", "b": null, "c": "x"}'
    >>> quote_values(b'{"a":["x",{}]}')
    b'{"a":"[\\\\"x\\\\",{}]"}'
    """
    codes = np.frombuffer(block, np.uint8)
    marks = np.flatnonzero(_STRUCTURE[codes])
    marks = marks[np.searchsorted(_find_quotes(codes), marks) % 2 == 0]
    kinds = codes[marks]
    depth = np.cumsum(_STEP[kinds], dtype=np.int64)
    colons = marks[(kinds == ord(":")) & (depth == 1)]
    ends = marks[((kinds == ord(",")) & (depth == 1)) | ((kinds == ord("}")) & (depth == 0))]
    start = _pass_blanks(codes, colons + 1, 1)
    stop = _pass_blanks(codes, ends[np.searchsorted(ends, colons)] - 1, -1) + 1
    quoted = _QUOTED[codes[start]]
    start, stop = start[quoted], stop[quoted]
    nested = _STEP[codes[start]] == 1
    escaped = _find_special(codes, start[nested], stop[nested])
    places = np.concatenate([start, stop, escaped])
    added = np.full(len(places), _QUOTE, np.uint8)
    added[2 * len(start) :] = _ESCAPE
    return np.insert(codes, places, added).tobytes()


def _find_quotes(codes: Array) -> Array:
    """Where strings begin and end."""
    quotes = np.flatnonzero(codes == _QUOTE)
    slashes = np.flatnonzero(codes == _ESCAPE)
    if not len(slashes):
        return quotes
    place = np.arange(len(slashes))
    first = np.concatenate([[True], np.diff(slashes) > 1])
    in_run = place - np.maximum.accumulate(np.where(first, place, 0))
    escaped = slashes[in_run % 2 == 0] + 1
    return np.setdiff1d(quotes, escaped, assume_unique=True)


def _pass_blanks(codes: Array, places: Array, step: int) -> Array:
    while (blank := _BLANK[codes[places]]).any():
        places = places + step * blank
    return places


def _find_special(codes: Array, start: Array, stop: Array) -> Array:
    """The quotes and escapes inside some spans, which are in order."""
    if not len(start):
        return start
    special = np.flatnonzero((codes == _QUOTE) | (codes == _ESCAPE))
    span = np.searchsorted(start, special, side="right") - 1
    return special[(span >= 0) & (special < stop[span])]
