"""Say which file a file is, and as of when, without reading it."""

import os
import time
import uuid
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

FileIdentity = tuple[str, int, int, int, int, int, str]
"""Path; device, inode, size; times of the last write and of the last change, in ns; a hash of the
bytes at its end."""

_TAIL = 1 << 16
"""So many bytes at a file's end are looked at: the footer of a Parquet file says what is in it."""
_PATIENCE = 0.05
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
    latest = time.time_ns() - _SETTLED
    found = describe_files(files)
    if found is None:
        return None
    settled = all(max(written, changed) <= latest for *_, written, changed, _ in found)
    return found if settled else None


def describe_files(files: Iterable[str]) -> tuple[FileIdentity, ...] | None:
    """How local files are now, to be compared with how they were when they had not changed for long
    enough (identify_files, await_tick).

    Returns:
        None: one of them cannot be read.
    """
    try:
        return tuple(map(_describe, files))
    except OSError:
        return None


def await_tick(folder: Path, files: Iterable[str]) -> bool:
    """Wait until the clock of a folder's file system has gone on since files in it changed, so that
    whatever changes them later shows; not where that takes longer than a twentieth of a second.

    Raises:
        OSError: there cannot be a file in the folder.
    """
    changed = max(os.stat(file).st_ctime_ns for file in files)
    end = time.monotonic() + _PATIENCE
    scratch = folder / f"{uuid.uuid4().hex}.tmp"
    try:
        while time.monotonic() < end:
            scratch.write_bytes(b"")
            os.utime(scratch)
            if scratch.stat().st_ctime_ns > changed:
                return True
            time.sleep(0.001)
    finally:
        scratch.unlink(missing_ok=True)
    return False


def _describe(file: str) -> FileIdentity:
    with open(file, "rb") as opened:
        known = os.fstat(opened.fileno())
        opened.seek(max(known.st_size - _TAIL, 0))
        end = sha256(opened.read()).hexdigest()
    place = os.path.abspath(file)
    size, written, changed = known.st_size, known.st_mtime_ns, known.st_ctime_ns
    return (place, known.st_dev, known.st_ino, size, written, changed, end)
