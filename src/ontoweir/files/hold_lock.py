"""Locks between processes: a file that one holds, until it releases it or dies."""

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path

from ontoweir.errors import RunError

LOCK = "lock"


@dataclass(slots=True)
class Lock:
    """A lock that this process holds."""

    handle: int | None

    def release(self) -> None:
        """Release it; again, nothing happens."""
        handle, self.handle = self.handle, None
        if handle is not None:
            os.close(handle)


def hold_lock(folder: Path, seconds: float = 1.0) -> Lock | None:
    """The lock of a folder (None: another holds it, and for so long).

    The system releases it when the process dies, however it does. Waiting a moment is needed:
    whoever asks whether it is held (is_held) holds it meanwhile.

    Raises:
        RunError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise RunError(
            f"{folder / LOCK} cannot be written: {error.strerror or error}",
            why="it is the lock that keeps a second process away",
            fix="free space, correct the folder, or name another",
        ) from error
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Lock(handle)
        except BlockingIOError:
            if time.monotonic() >= until:
                os.close(handle)
                return None
            time.sleep(0.02)


def is_held(folder: Path) -> bool:
    """Whether a process holds the lock of a folder."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
