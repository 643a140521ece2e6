"""The files that received lines go to: on the disk before they are acknowledged."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ontoweir.errors import RunError, Source
from ontoweir.files.hold_lock import Lock, hold_lock
from ontoweir.files.sync_file import sync_file

_HIDDEN = ".receive"
"""The folder, which readers pass over, of the lock and of the file that is being written."""
_MOST = 64 << 20
"""Bytes after which a file is published at any rate."""


@dataclass(slots=True)
class Journal:
    """Lines go to a hidden file, and appear with `publish`, by a rename, in a file whose name and
    modification time are later than those of all before it.

    `folder`: of the files; `files`: how many were published; `size`: bytes that are not yet.
    """

    folder: Path
    lock: Lock
    files: int = 0
    size: int = 0
    _last: int = 0
    _open: BinaryIO | None = field(default=None, repr=False)

    @property
    def _part(self) -> Path:
        return self.folder / _HIDDEN / "part.jsonl"

    @property
    def is_full(self) -> bool:
        """Whether the lines are to be published now."""
        return self.size >= _MOST

    def append(self, lines: list[bytes]) -> None:
        """Write lines; they are on the disk when this returns.

        Raises:
            RunError: the disk does not take them.
        """
        data = b"".join(line + b"\n" for line in lines)
        try:
            if self._open is None:
                self._open = self._part.open("ab")
                sync_file(self._part.parent)
            self._open.write(data)
            self._open.flush()
            os.fsync(self._open.fileno())
        except OSError as error:
            raise _not_written(self.folder, error) from error
        self.size += len(data)

    def publish(self) -> None:
        """Let what was appended appear, if anything was.

        Raises:
            RunError: the disk does not take it.
        """
        if not self.size:
            return
        try:
            if self._open is not None:
                self._open.close()
                self._open = None
            self._last = max(time.time_ns() // 1_000_000, self._last + 1)
            os.utime(self._part, ns=(self._last * 1_000_000, self._last * 1_000_000))
            os.rename(self._part, self.folder / f"{self._last:015d}.jsonl")
            sync_file(self.folder)
        except OSError as error:
            raise _not_written(self.folder, error) from error
        self.files, self.size = self.files + 1, 0

    def close(self) -> None:
        """Publish, and release the lock."""
        try:
            self.publish()
        finally:
            if self._open is not None:
                self._open.close()
                self._open = None
            self.lock.release()

    def recover(self) -> None:
        """Publish what a process that was killed has left, without a line that is not whole: it was
        not acknowledged.

        Raises:
            RunError: the disk does not take it.
        """
        try:
            found = [path for path in self.folder.iterdir() if path.suffix == ".jsonl"]
            self._last = max((path.stat().st_mtime_ns // 1_000_000 for path in found), default=0)
            named = (int(path.stem) for path in found if path.stem.isdecimal())
            self._last = max(self._last, *named, 0)
            if not self._part.exists():
                return
            with self._part.open("r+b") as part:
                part.truncate(_end_of_lines(part))
                os.fsync(part.fileno())
                self.size = part.tell()
        except OSError as error:
            raise _not_written(self.folder, error) from error
        if self.size:
            self.publish()


def open_journal(folder: Path) -> Journal:
    """The journal of a folder, which is made; what was left in it is published.

    Raises:
        RunError: another process receives into it, or the disk does not take it.
    """
    lock = hold_lock(folder / _HIDDEN)
    if lock is None:
        raise RunError(
            "another process receives into this folder",
            why="two would acknowledge each other's messages",
            fix="stop it first, or name another path in the source",
            source=Source(str(folder)),
        )
    journal = Journal(folder, lock)
    try:
        journal.recover()
    except BaseException:
        lock.release()
        raise
    return journal


def _end_of_lines(part: BinaryIO) -> int:
    """Where the last whole line ends; the file is left there."""
    end = part.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - (1 << 16))
        part.seek(start)
        place = part.read(end - start).rfind(b"\n")
        if place >= 0:
            return part.seek(start + place + 1)
        end = start
    return part.seek(0)


def _not_written(folder: Path, error: OSError) -> RunError:
    return RunError(
        f"received messages cannot be written: {error.strerror or error}",
        why="a message is acknowledged once it is on the disk",
        fix="make room there, and start again: the broker has what was not acknowledged",
        source=Source(str(folder)),
    )
