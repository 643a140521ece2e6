"""A folder for what Java writes for the time of a process; those of processes that died go."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from ontoweir.files.hold_lock import LOCK, Lock, hold_lock

_PREFIX = "ontoweir-java-"


def claim_scratch() -> Path:
    """A new folder in the system's temporary one, locked by this process and removed when it ends.

    Folders of processes that had no time to do so (kill -9) are removed now.

    Raises:
        RunError: the temporary folder cannot be written.
    """
    base = Path(tempfile.gettempdir())
    _sweep(base)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = hold_lock(folder)
        if lock is not None and _is_there(folder, lock):  # not swept in between
            atexit.register(_leave, folder, lock)
            return folder


def _sweep(base: Path) -> None:
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            if folder.stat().st_uid != os.getuid() or not (folder / LOCK).exists():
                continue
            lock = hold_lock(folder, 0.0)
        except Exception:  # another's, or it is going
            continue
        if lock is not None:
            _leave(folder, lock)


def _is_there(folder: Path, lock: Lock) -> bool:
    try:
        assert lock.handle is not None
        return os.fstat(lock.handle).st_ino == (folder / LOCK).stat().st_ino
    except OSError:
        return False


def _leave(folder: Path, lock: Lock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
