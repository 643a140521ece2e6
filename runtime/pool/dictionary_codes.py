"""The codes that a table has for the texts of dictionaries, as files hold them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontoweir.runtime.pool.hash_slots import EMPTY, Codes

_UNKNOWN = -2
_REMEMBERED = 8
"""So many dictionaries are remembered: those that the pieces of a history have in turn."""

LookUp: TypeAlias = "Callable[[pa.Array], Codes]"
"""The codes of texts in a table."""


@dataclass(slots=True)
class _Known:
    """A dictionary, and the codes of its texts (EMPTY: there was none when the table had `size`
    texts; _UNKNOWN: no row had the text yet)."""

    dictionary: "pa.Array"
    codes: Codes
    size: int


class DictionaryCodes:
    """Dictionaries that were looked up in a table. Each text is looked up once, when a row has it:
    of those that no row has nothing is added to the table."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], _Known] = {}

    def look_up(
        self, column: "pa.DictionaryArray", size: int, look_up: LookUp, *, new: bool
    ) -> Codes:
        """The codes of a column; NULL has EMPTY.

        Args:
            column: a dictionary of texts.
            size: how many texts the table has.
            look_up: finds texts in the table.
            new: it adds those that are not there.
        """
        known = self._recall(column.dictionary, size)
        indices, valid = _read_indices(column.indices)
        unknown = known.codes < 0 if new else known.codes == _UNKNOWN
        if unknown.any():
            wanted = _occur(indices if valid is None else indices[valid], len(unknown))
            places = np.flatnonzero(wanted & unknown)
            if len(places):
                whole = len(places) == len(unknown)
                texts = known.dictionary if whole else known.dictionary.take(pa.array(places))
                known.codes[places] = look_up(texts)
        codes = _take(known.codes, indices)
        if valid is not None:
            codes[~valid] = EMPTY
        return codes

    def _recall(self, dictionary: "pa.Array", size: int) -> _Known:
        places = (None if b is None else b.address for b in dictionary.buffers())
        key = (dictionary.offset, len(dictionary), *places)  # kept, so that no other has its places
        known = self._known.pop(key, None)
        if known is None:
            codes = np.full(len(dictionary), _UNKNOWN, dtype=np.int64)
            known = _Known(dictionary, codes, size)
            while len(self._known) >= _REMEMBERED:
                self._known.pop(next(iter(self._known)), None)
        elif known.size != size:
            known.codes[known.codes == EMPTY] = _UNKNOWN
            known.size = size
        self._known[key] = known
        return known


def spread(codes: Codes, indices: "pa.Array") -> Codes:
    """The codes of rows, by those of a dictionary's texts; NULL has EMPTY."""
    numbers, valid = _read_indices(indices)
    found = _take(codes, numbers)
    if valid is not None:
        found[~valid] = EMPTY
    return found


def _read_indices(indices: "pa.Array") -> tuple[Codes, Codes | None]:
    """The indices, NULL as 0, and which are there (None: all)."""
    if not indices.null_count:
        return _as_places(indices), None
    valid = indices.is_valid().to_numpy(zero_copy_only=False)
    return _as_places(indices.fill_null(0)), valid


def _as_places(indices: "pa.Array") -> Codes:
    """As numpy's own places, of which it takes twice as fast."""
    places: Codes = indices.to_numpy().astype(np.intp, copy=False)
    return places


_EACH, _MORE = 8, 4_096
"""In the first rows, so many for each text and some more, all texts often occur."""


def _occur(indices: Codes, size: int) -> NDArray[np.bool_]:
    """Of every text less than `size`, whether a row has it."""
    occurs = np.zeros(size, dtype=np.bool_)
    part = _EACH * size + _MORE
    occurs[indices[:part]] = True
    if part < len(indices) and not occurs.all():
        occurs[indices[part:]] = True
    return occurs


def _take(codes: Codes, indices: Codes) -> Codes:
    """A column that is nowhere else; of no dictionary's texts all are NULL."""
    if not len(codes):
        return np.full(len(indices), EMPTY, dtype=np.int64)
    taken: Codes = codes[indices]
    return taken
