"""Say which file a file is, and as of when, without reading it."""

import os
import time
from collections.abc import Iterable
from hashlib import sha256

FileIdentity = tuple[str, int, int, int, int, int, str]
"""Path; device, inode, size; times of the last write and of the last change, in ns; a hash of the
bytes at its end."""

_TAIL = 1 << 16
"""So many bytes at a file's end are looked at: the footer of a Parquet file says what is in it."""
_SETTLED = 2_000_000_000
"""Nanoseconds since a file changed after which another change shows: clocks of file systems count
in steps of up to two seconds."""


def identify_files(files: Iterable[str]) -> tuple[FileIdentity, ...] | None:
    """What of local files changes whenever one of them does: whoever writes into a file and sets
    its time back leaves the time of the change.

    Returns:
        None: one of them cannot be read, or changed within the last two seconds, so that another
        change may not show.
    """
    try:
        found = [_identify(file) for file in files]
    except OSError:
        return None
    return None if None in found else tuple(i for i in found if i is not None)


def _identify(file: str) -> FileIdentity | None:
    with open(file, "rb") as opened:
        known = os.fstat(opened.fileno())
        if time.time_ns() - max(known.st_ctime_ns, known.st_mtime_ns) < _SETTLED:
            return None
        opened.seek(max(known.st_size - _TAIL, 0))
        end = sha256(opened.read()).hexdigest()
    place = os.path.abspath(file)
    size, written, changed = known.st_size, known.st_mtime_ns, known.st_ctime_ns
    return (place, known.st_dev, known.st_ino, size, written, changed, end)
