"""Write a text file as a whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path

from ontoweir.errors import RunError, Source
from ontoweir.files.find_output import (
    FileOutput,
    StreamOutput,
    choose_mode,
    find_output,
    open_stream,
)


def write_file(output: Path, text: str) -> None:
    """Replace a file by a text, UTF-8, in one step. Links are followed; a pipe or a character
    device is written to.

    Raises:
        UsageError: it is no file, no pipe and no character device.
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
            dir=place.path.parent, prefix=f".{place.path.name}.", suffix=".part"
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
    return RunError(
        f"cannot write the output: {error.strerror or error}",
        why="--output must be a file in a folder that exists and can be written",
        fix="create the folder, or choose another",
        source=Source(str(output)),
    )
