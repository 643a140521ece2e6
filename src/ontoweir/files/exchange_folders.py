"""Exchange two folders in one step: whoever lists either sees the one's files or the other's."""

import ctypes
import errno
import os
from pathlib import Path

_HERE = -100
"""AT_FDCWD: paths are relative to the current folder."""
_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2 (Linux 3.15, glibc 2.28)."""


def exchange_folders(one: Path, other: Path) -> None:
    """Give each of two folders, on one disk, the other's name.

    Raises:
        OSError: one is not there; they are on different disks; or neither system nor file system
            can (ENOSYS, EINVAL).
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(one))
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_HERE, paths[0], _HERE, paths[1], ctypes.c_uint(_EXCHANGE)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one))
