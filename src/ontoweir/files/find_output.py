"""Find what an output's path stands for, so that writing to it destroys nothing."""

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from ontoweir.errors import Source, UsageError
from ontoweir.files.put_object import refuse_address

STDOUT = Path("/dev/stdout")
"""What `--output -` stands for."""
_MAX_LINKS = 40
_LONGEST = 100
"""Bytes of a name that a scratch file has too; names are of at most 255."""
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(?:self|thread-self|\d+(?:/task/\d+)?)/fd")


@dataclass(frozen=True, slots=True)
class FileOutput:
    """A regular file, there or to be made; all links are followed. `mode`: the permissions of the
    one that is there, which a new one in its place keeps."""

    path: Path
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class StreamOutput:
    """A pipe, a terminal or another character device, which is written to as it is.
    `descriptor`: of this process, where the path names one, as /dev/stdout does."""

    path: Path
    descriptor: int | None = None

    @property
    def standard(self) -> bool:
        """Whether it is standard output; what else is reported then belongs on stderr."""
        return self.descriptor == 1


FoundOutput: TypeAlias = FileOutput | StreamOutput


def find_output(output: Path) -> FoundOutput:
    """Follow links to what is to be written.

    >>> find_output(Path("/dev/stdout")).standard
    True

    Raises:
        UsageError: it is a folder, a socket, a disk, read-only, closed, or a circle of links.
    """
    path = output
    for _ in range(_MAX_LINKS):
        number = _descriptor(path)
        if number is not None:
            if _is_closed(number):
                raise _refused(output, "it is closed", "leave it open, or name a file")
            return StreamOutput(output, number)
        try:
            if not path.is_symlink():
                return _classify(output, path)
            path = path.parent / os.readlink(path)
        except (OSError, ValueError) as error:  # too long a name; a character that none has
            reason = getattr(error, "strerror", None) or str(error)
            raise _refused(output, reason.lower(), "name another file") from None
    raise _refused(output, "its links form a circle", "remove the link, or name another file")


def require_folder(output: Path, place: FoundOutput) -> None:
    """Refuse a file whose folder is not there, or cannot be written to.

    Raises:
        UsageError: that is so.
    """
    if isinstance(place, StreamOutput):
        return
    folder = place.path.parent
    if not folder.is_dir():
        fix = "write a file, and copy it there; `ontoweir replay --output` takes the address"
        refuse_address(output, "--output", fix)
        raise _refused(output, f"there is no folder {folder}", "make it, or write elsewhere")
    if not os.access(folder, os.W_OK):
        fix = "name a file in a folder that can be written to"
        raise _refused(output, f"{folder} is not writable", fix)


def name_scratch(path: Path) -> str:
    """The beginning of the name of a file or folder that is written beside a path, and hidden;
    shorter than the name, where that is long already."""
    return f".{path.name.encode()[:_LONGEST].decode(errors='ignore')}."


def _descriptor(path: Path) -> int | None:
    """The descriptor of this process that a path names."""
    if str(path) in _STANDARD:
        return _STANDARD[str(path)]
    if not path.name.isdecimal():
        return None
    folder = path.parent
    named = str(folder) if _DESCRIPTORS.fullmatch(str(folder)) else os.path.realpath(folder)
    if not _DESCRIPTORS.fullmatch(named):
        return None
    mine = (f"/proc/{os.getpid()}/fd", "/proc/self/fd", "/dev/fd", "/proc/thread-self/fd")
    return int(path.name) if named in mine else None


def _is_closed(number: int) -> bool:
    """Whether this process was started without a descriptor: what has its number now is a file that
    somebody else has opened since."""
    if number in (1, 2):
        return (sys.__stdout__ if number == 1 else sys.__stderr__) is None
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def _classify(output: Path, path: Path) -> FoundOutput:
    place = Path(os.path.realpath(path.parent)) / path.name if path.name else path
    try:
        held = place.stat()
    except FileNotFoundError:
        return FileOutput(place)
    except OSError as error:
        fix = "choose another place, or correct its permissions"
        raise _refused(output, (error.strerror or str(error)).lower(), fix) from None
    kind = held.st_mode
    if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind):
        return StreamOutput(place)
    if stat.S_ISDIR(kind):
        raise _refused(output, "it is a folder", "name a file")
    if not stat.S_ISREG(kind):
        what = "a socket" if stat.S_ISSOCK(kind) else "a disk"
        raise _refused(output, f"it is {what}, no file", "name a file, a pipe, or - for stdout")
    if not os.access(place, os.W_OK):
        raise _refused(
            output, "the file there is read-only", "allow writing to it, or name another"
        )
    return FileOutput(place, stat.S_IMODE(kind))


def _refused(output: Path, why: str, fix: str) -> UsageError:
    return UsageError(f"cannot write {output}", why=why, fix=fix, source=Source("--output"))


@contextmanager
def open_stream(place: StreamOutput) -> Iterator[BinaryIO]:
    """What bytes are written to; a pipe is waited for until somebody reads it.

    Raises:
        OSError: it cannot be opened or written.
    """
    if place.standard and hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    opened: int | Path = place.path if place.descriptor is None else os.dup(place.descriptor)
    if isinstance(opened, Path):
        opened = os.open(opened, os.O_WRONLY | os.O_NOCTTY)  # neither made nor emptied
    with os.fdopen(opened, "wb") as stream:
        yield stream


def choose_mode(place: FileOutput) -> int:
    """The permissions of a new file in a place."""
    if place.mode is not None:
        return place.mode
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
