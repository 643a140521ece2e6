"""Have the C library keep the memory that columns give back, for the next ones.

Chunk after chunk makes and drops columns of some megabytes. By default the GNU C library gives each
back to the system at once, which then makes their pages anew, filled with zeros: a quarter of the
time of a replay. It also gives threads heaps of their own, and what one has given back there no
other uses: so all threads use one heap from here on, a fifth less memory.
"""

import ctypes
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX of malloc.h."""
_KEPT = 256 << 20
"""Bytes at the end of the heap that are kept."""
_APART = 32 << 20
"""Bytes of the least column that has memory of its own: the most that the library takes."""


@cache
def keep_pages() -> bool:
    """Once for this process; whether its C library does so."""
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    wanted = {_MMAP_THRESHOLD: _APART, _TRIM_THRESHOLD: _KEPT, _ARENA_MAX: 1}
    return all(mallopt(name, number) for name, number in wanted.items())
