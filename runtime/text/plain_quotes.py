"""Bring the quotes of a block of CSV to the one form that Arrow reads, if they are regular."""

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.csv_dialect import CsvDialect

_BACKSLASH = ord("\\")


def plain_quotes(block: bytes, dialect: CsvDialect) -> tuple[bytes, int]:
    """The block with quotes inside quoted cells doubled, and the number of its rows, with empty
    ones.

    Args:
        block: whole rows.
        dialect: how they are written.

    Raises:
        NotPlain: what is quoted is not a whole cell, or goes over the end of a line where it may
            not.
    """
    codes = np.frombuffer(block, np.uint8)
    ends = codes == ord("\n")  # which numpy counts in a third of the time
    rows = int(np.count_nonzero(ends)) + (bool(block) and not block.endswith(b"\n"))
    if dialect.quote not in block:
        return block, rows
    slashes = np.zeros(0, np.int64)
    if not dialect.doubled and b"\\" in block:
        slashes = find_escaping(codes)
    quotes = find_quotes(codes, dialect, slashes)
    if len(quotes) % 2:
        raise NotPlain
    start, stop = quotes[::2], quotes[1::2]
    _check_cells(codes, start, stop, dialect)
    places = np.flatnonzero(ends)
    inside = np.searchsorted(places, stop) - np.searchsorted(places, start)
    if not dialect.multiline and inside.any():
        raise NotPlain
    if len(slashes):
        block = _double(codes, slashes[_are_inside(slashes, start, stop)], dialect).tobytes()
    return block, rows - int(inside.sum())


def find_escaping(codes: Array) -> Array:
    """The places of backslashes that are not themselves after one."""
    slashes = np.flatnonzero(codes == _BACKSLASH)
    place = np.arange(len(slashes))
    first = np.diff(slashes, prepend=-2) > 1
    in_run = place - np.maximum.accumulate(np.where(first, place, 0))
    escaping: Array = slashes[in_run % 2 == 0]
    return escaping


def find_quotes(codes: Array, dialect: CsvDialect, slashes: Array) -> Array:
    """The places of quotes, but for those after some backslashes."""
    quotes: Array = np.flatnonzero(codes == ord(dialect.quote))
    if len(slashes):
        quotes = np.setdiff1d(quotes, slashes + 1, assume_unique=True)
    return quotes


def _check_cells(codes: Array, start: Array, stop: Array, dialect: CsvDialect) -> None:
    """
    Raises:
        NotPlain: a quote is neither at an end of a cell nor one of two.
    """
    edge = np.zeros(256, np.bool_)
    edge[[*dialect.separator, *b"\n"]] = True
    opening = edge[codes[start - 1]] | (start == 0)
    edge[ord("\r")] = True
    last = len(codes) - 1
    closing = edge[codes[np.minimum(stop + 1, last)]] | (stop == last)
    if dialect.doubled:
        double = start[1:] == stop[:-1] + 1
        opening[1:] |= double
        closing[:-1] |= double
    if not (opening.all() and closing.all()):
        raise NotPlain


def _are_inside(places: Array, start: Array, stop: Array) -> Array:
    cell = np.searchsorted(start, places) - 1
    inside: Array = (cell >= 0) & (places < stop[cell])
    return inside


def _double(codes: Array, slashes: Array, dialect: CsvDialect) -> Array:
    """What is after a backslash inside a cell without it, if it is a quote or a backslash."""
    quote = ord(dialect.quote)
    after = codes[slashes + 1]
    made = codes.copy()
    made[slashes[after == quote]] = quote
    return np.delete(made, slashes[after == _BACKSLASH])
