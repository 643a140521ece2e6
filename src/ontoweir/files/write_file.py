"""Write a text file as a whole or not at all."""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from ontoweir.errors import RunError, Source
from ontoweir.files.find_output import (
    FileOutput,
    StreamOutput,
    choose_mode,
    find_output,
    name_scratch,
    open_stream,
)


def write_file(output: Path, text: str) -> None:
    """Replace a file by a text, UTF-8, in one step. Links are followed; a pipe or a character
    device is written to.

    Raises:
        UsageError: it is not a file, no pipe and no character device.
        RunError: it cannot be written; what was there is intact.
    """
    match find_output(output):
        case StreamOutput() as stream:
            try:
                with open_stream(stream) as opened:
                    opened.write(text.encode("utf-8"))
            except BrokenPipeError:
                raise
            except OSError as error:
                raise _unwritable(output, error) from None
        case FileOutput() as place:
            _replace(output, place, text)


def _replace(output: Path, place: FileOutput, text: str) -> None:
    try:
        handle, name = tempfile.mkstemp(
            dir=place.path.parent, prefix=name_scratch(place.path), suffix=".part"
        )
    except OSError as error:
        raise _unwritable(output, error) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, choose_mode(place))
        os.replace(name, place.path)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _unwritable(output: Path, error: OSError) -> RunError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return RunError(
        f"cannot write the output: {error.strerror or error}",
        why="what was there before is intact",
        fix="make room, or choose another place" if full else "choose another place",
        source=Source(str(output)),
    )
