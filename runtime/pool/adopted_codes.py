"""What a table of texts has for the texts of others, which only grow."""

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

import numpy as np

from ontoweir.runtime.pool.hash_slots import Codes

_UNKNOWN = -2


class AdoptedCodes:
    """By codes of other tables, codes of one: each is looked up once, when a row has it. What is
    known of a table goes with it."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[object, dict[Hashable, Codes]] = WeakKeyDictionary()

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
        known = forms.get(form, codes[:0])
        if len(known) < size:
            more = np.full(size - len(known), _UNKNOWN, dtype=np.int64)
            known = forms[form] = np.concatenate([known, more])
        found: Codes = known[codes]
        missing = found == _UNKNOWN
        if missing.any():
            wanted = np.zeros(size, dtype=np.bool_)
            wanted[codes[missing]] = True
            places = np.flatnonzero(wanted)
            known[places] = look_up(places)
            found = known[codes]
        return found
