"""Arrays that grow at their end, in time that follows what is added."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGE = 32 << 20
"""Bytes from which on an array has memory of its own (keep_pages.py), which the system makes longer
without a copy."""


class Growing:
    """Numbers that are appended; `values`: a view of them, which is not to be kept."""

    __slots__ = ("_room", "_used")

    def __init__(self, values: NDArray[Any]) -> None:
        self._room, self._used = values, len(values)

    def __len__(self) -> int:
        return self._used

    @property
    def values(self) -> NDArray[Any]:
        """All of them."""
        return self._room[: self._used]

    def append(self, more: NDArray[Any]) -> None:
        """Add some at the end."""
        self.resize(self._used + len(more))
        self._room[self._used - len(more) : self._used] = more

    def resize(self, count: int) -> None:
        """Have so many, not fewer than before; what the new ones are is not said."""
        if count > len(self._room) and not self._lengthen(count):
            room = np.empty(count + count // 2, dtype=self._room.dtype)
            room[: self._used] = self.values
            self._room = room
        self._used = count

    def _lengthen(self, count: int) -> bool:
        """Whether there is room for so many without a copy: where they are much, and nobody sees
        the array."""
        if count * self._room.itemsize < _LARGE:
            return False
        try:
            self._room.resize(count + count // 8)
        except ValueError:  # it is seen, or sees another
            return False
        return True
