"""What a table of texts has for the texts of others, which only grow."""

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

import numpy as np

from ontoweir.runtime.pool.grow import Growing
from ontoweir.runtime.pool.hash_slots import Codes

_UNKNOWN = -2
_DENSE = 16
"""Tables with up to so many places per row are used instead of sorting."""


class AdoptedCodes:
    """By codes of other tables, codes of one: each is looked up once, when a row has it. What is
    known of a table goes with it."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[object, dict[Hashable, Growing]] = WeakKeyDictionary()

    def look_up(
        self,
        other: object,
        size: int,
        form: Hashable,
        codes: Codes,
        look_up: Callable[[Codes], Codes],
    ) -> Codes:
        """The codes here.

        Args:
            other: the other table.
            size: how many texts it has.
            form: names what is made of its texts before they are looked up.
            codes: of the other table.
            look_up: the codes here for distinct codes of the other table.
        """
        forms = self._known.setdefault(other, {})
        grown = forms.setdefault(form, Growing(np.zeros(0, dtype=np.int64)))
        if len(grown) < size:
            grown.append(np.full(size - len(grown), _UNKNOWN, dtype=np.int64))
        known = grown.values
        found: Codes = known[codes]
        missing = found == _UNKNOWN
        if missing.any():
            places = _distinct(codes[missing], size)
            known[places] = look_up(places)
            found = known[codes]
        return found

    def count(self, other: object, form: Hashable) -> int:
        """How many texts of another table have a code here."""
        grown = self._known.get(other, {}).get(form)
        return 0 if grown is None else int(np.count_nonzero(grown.values != _UNKNOWN))


def _distinct(codes: Codes, size: int) -> Codes:
    """The distinct ones of some codes less than `size`, in order."""
    if len(codes) * _DENSE < size:
        return np.unique(codes)
    wanted = np.zeros(size, dtype=np.bool_)
    wanted[codes] = True
    return np.flatnonzero(wanted)
