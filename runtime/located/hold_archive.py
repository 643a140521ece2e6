"""Whose an archive is: one run moves files to it, and not while somebody lists and reads them.

An archive has a hidden folder with the lock of the run (`lock`), the lock of those who read
(`readers`), whose it is (`owner.json`), and a file whose name says which commit was the last whose
files were moved (`commit-7`).
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ontoweir.errors import RunError, UsageError
from ontoweir.files.find_base import find_base
from ontoweir.files.hold_lock import Lock, hold_lock
from ontoweir.files.replace_file import replace_file
from ontoweir.mappings.model.catalog import DataSource, Stream

_HELD = ".ontoweir"
_READERS, _OWNER, _COMMIT = "readers", "owner.json", "commit-"
_SHARE = (
    "have queries share what is read (registered ones do without --engine spark and --parts, if "
    "neither their lateness nor their rules adapt, and they keep no state on the disk), or take "
    "archive out of the stream's source, and move old files away yourself"
)


@dataclass(frozen=True, slots=True)
class Owner:
    """A run: its id, its checkpoint, and its last commit (-1: none)."""

    run: str
    checkpoint: str
    commit: int


@dataclass(slots=True)
class HeldArchive:
    """The archive of a stream, whose lock this process holds. `commit`: the last commit that is
    noted in it; `mine`: what says whose it is."""

    stream: Stream
    lock: Lock
    readers: int
    commit: int
    mine: bytes

    @property
    def folder(self) -> Path:
        """The archive."""
        return Path(self.stream.data.archive or "")

    def note(self, commit: int) -> None:
        """Note that files of a commit are about to be moved.

        Raises:
            UsageError: what says whose the archive is has been removed, or is another run's.
            OSError: the disk does not take it.
        """
        place = self.folder / _HELD
        if _read(place / _OWNER) != self.mine:
            raise UsageError(
                f"{place / _OWNER} was removed, or replaced, while a run used the archive",
                why="another run may have moved files there that this one has not read",
                fix="leave that folder as it is; stop the other run, and start again",
                source=self.stream.source,
            )
        if commit == self.commit:
            return
        before, after = place / f"{_COMMIT}{self.commit}", place / f"{_COMMIT}{commit}"
        if before.exists():
            os.rename(before, after)
        else:
            after.touch()
        self.commit = commit

    @contextlib.contextmanager
    def unread(self) -> Iterator[bool]:
        """Whether nobody reads the archive now; who is about to waits meanwhile."""
        try:
            fcntl.flock(self.readers, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(self.readers, fcntl.LOCK_UN)

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Let others move files."""
        self.lock.release()
        if self.readers >= 0:
            os.close(self.readers)
            self.readers = -1


def hold_archive(stream: Stream, owner: Owner) -> HeldArchive:
    """The archive of a stream, for a run that is to move files to it.

    Raises:
        UsageError: another run moves files to it, or has moved some that this one may not have
            read; it has files of commits that this one lacks; or it is on another file system.
        RunError: the disk does not take it.
    """
    archive = Path(stream.data.archive or "")
    _check_place(stream, archive)
    lock = hold_lock(archive / _HELD, 0.0)
    if lock is None:
        raise UsageError(
            f"another run moves the files of {stream.name} to {archive}",
            why="files are moved when one run has read them: the other would not find them. The "
            "registered queries that share an intake are one run; those that run by themselves, "
            "and those that read Kafka beside files, are others",
            fix=_SHARE,
            source=stream.source,
        )
    place = archive / _HELD
    try:
        last = _check_owner(stream, place, owner)
        mine = json.dumps({"run": owner.run, "checkpoint": owner.checkpoint}).encode()
        if _read(place / _OWNER) != mine:
            replace_file(place / _OWNER, mine)
        readers = os.open(place / _READERS, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        lock.release()
        raise RunError(
            f"{place} cannot be written: {error.strerror or error}",
            why="files are moved there when they are read, and it says by whom",
            fix="make room, or correct the folder, and start again",
        ) from error
    except UsageError:
        lock.release()
        raise
    return HeldArchive(stream, lock, readers, last, mine)


def has_owner(stream: Stream) -> bool:
    """Whether the archive of a stream says whose it is."""
    return Path(stream.data.archive or "", _HELD, _OWNER).exists()


def _check_place(stream: Stream, archive: Path) -> None:
    base = Path(find_base(stream.data.path or ""))
    if base.is_file():
        raise UsageError(
            f"{stream.name} is one file, and has an archive",
            why="a file that is named is read once, and stays",
            fix="take archive out of its source, or name a folder",
            source=stream.source,
        )
    try:
        archive.mkdir(parents=True, exist_ok=True)
        same = not base.exists() or base.stat().st_dev == archive.stat().st_dev
    except OSError as error:
        raise RunError(
            f"the archive {archive} of {stream.name} cannot be made: {error.strerror or error}",
            why="files are moved there when they are read",
            fix="correct archive in its source",
            source=stream.source,
        ) from error
    if not same:
        raise UsageError(
            f"the archive {archive} of {stream.name} is on another file system than {base}",
            why="files are moved by renaming them, so that each is in one of the two at any time",
            fix="name a folder beside the other one",
            source=stream.source,
        )


def _check_owner(stream: Stream, place: Path, owner: Owner) -> int:
    """The last commit that is noted (-1: none); raises UsageError where another run has moved
    files, or this one was further."""
    marks = [int(m.name.removeprefix(_COMMIT)) for m in place.glob(f"{_COMMIT}[0-9]*")]
    last = max(marks, default=-1)
    held = _read(place / _OWNER)
    known = None if held is None else json.loads(held)
    if known is None or known["run"] == owner.run:
        if last > owner.commit:
            raise UsageError(
                f"{place.parent} has files of {stream.name} that its run has not read",
                why=f"the checkpoint is of commit {owner.commit}, and files of {last} were moved: "
                "it has been restored from a copy",
                fix="move what has been archived since the copy was made back to its folder (`find "
                f"{place.parent} -newerct TIME`), remove {place / f'{_COMMIT}{last}'}, and start "
                "again; or begin with a new checkpoint",
                source=stream.source,
            )
        return last
    other = Path(known["checkpoint"])
    goes_on = other != Path(owner.checkpoint) and any((other / "commits").glob("[0-9]*"))
    if owner.commit >= 0 or goes_on:
        raise UsageError(
            f"{place.parent} is the archive of another run, of the checkpoint {other}",
            why="it has moved files that this one may not have read"
            if owner.commit >= 0
            else "if it goes on, it would not find what this one has moved",
            fix=f"begin with a new checkpoint, when the other is removed; or remove {place} if "
            f"this run has read nothing of {stream.name} yet: it reads all of the archive then"
            if owner.commit >= 0
            else "go on with that one; or remove it, and start again: what is in the archive is "
            f"read as well; or {_SHARE}",
            source=stream.source,
        )
    for mark in marks:
        (place / f"{_COMMIT}{mark}").unlink(missing_ok=True)
    return -1


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def read_archives(sources: Iterable[DataSource]) -> Iterator[None]:
    """Nothing is moved to the archives of sources meanwhile; who moves files does so later."""
    with contextlib.ExitStack() as stack:
        for source in sources:
            if source.archive is None:
                continue
            with contextlib.suppress(OSError):  # there is none yet
                handle = os.open(Path(source.archive, _HELD, _READERS), os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_SH)
        yield
