"""Write a text file as a whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path

from ontoweir.errors import RunError, Source


def write_file(output: Path, text: str) -> None:
    """Replace a file by a text, UTF-8, in one step.

    Raises:
        RunError: it cannot be written; what was there is intact.
    """
    try:
        handle, name = tempfile.mkstemp(
            dir=output.parent, prefix=f".{output.name}.", suffix=".part"
        )
    except OSError as error:
        raise _unwritable(output, error) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, output)
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
