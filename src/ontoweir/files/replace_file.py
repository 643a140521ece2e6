"""Replace a file of our own in one step: whoever opens it finds the old content or the new, whole.

What a user named as an output is written by `write_file` instead, which follows links, writes to
pipes and keeps permissions.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(file: Path, *, durable: bool = False, shared: bool = False) -> Iterator[Path]:
    """A new path beside a file, to write to; it takes the file's place when the block ends, and is
    removed where that is left by an exception.

    Args:
        file: the file; its folder is there.
        durable: wait until the content is on the disk before it takes the file's place, so that
            not even a power cut leaves part of it. The folder is not waited for.
        shared: several processes may replace the file at once.

    Raises:
        OSError: the disk does not take it.
    """
    scratch = file.with_name(_scratch(file.name, shared=shared))
    try:
        yield scratch
        if durable:
            handle = os.open(scratch, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        os.replace(scratch, file)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def replace_file(
    file: Path | str, content: bytes, *, durable: bool = False, shared: bool = False
) -> None:
    """Replace a file by bytes; see `replacing`.

    Raises:
        OSError: the disk does not take it.
    """
    target = os.fspath(file)  # a server replaces hundreds a second: paths as texts
    folder, name = os.path.split(target)
    scratch = os.path.join(folder, _scratch(name, shared=shared))
    try:
        with open(scratch, "wb", buffering=0) as opened:
            left = memoryview(content)
            while len(left):
                left = left[opened.write(left) :]
            if durable:
                os.fsync(opened.fileno())
        os.replace(scratch, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(scratch)
        raise


def _scratch(name: str, *, shared: bool) -> str:
    """The name of the file that takes another's place."""
    return f".{name}.{os.getpid()}.new" if shared else f".{name}.new"
