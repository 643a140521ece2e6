"""Let go of parts that have been kept long enough, or are merged into others.

What a commit says to be gone is removed after it; what is left of it, after a crash, at the next
start (check_parts).
"""

import time
from collections.abc import Sequence
from pathlib import Path

from ontoweir.errors import RunError
from ontoweir.runtime.live.output.merge_parts import Failed, merge_parts, show_merged
from ontoweir.runtime.live.output.write_parts import PartWriter

_MOST = 4_096
"""About so many parts go with one commit."""


def let_go(writer: PartWriter, failed: Failed | None = None) -> list[Path]:
    """The files that may be removed when the next commit is there; parts are merged for it.
    `failed`: takes the errors of merging, by their places (None: they are raised).

    Raises:
        RunError: the list of parts cannot be read, or made anew.
    """
    parts = writer.parts
    merge_parts(writer, failed)
    if parts.keep_ns is None and parts.compact is None:
        return []
    gone = [] if parts.keep_ns is None else parts.drop_old(time.time_ns(), _MOST)
    before = parts.renew()
    if before is not None:
        writer.fresh |= {parts.file, parts.file.parent}
    files = [writer.places[p.place] / p.name for p in gone if p.place in writer.places]
    return files if before is None else [*files, before]


def remove_files(files: Sequence[Path], writer: PartWriter, failed: Failed | None = None) -> None:
    """Remove files that a commit has let go of, if they are there, and show what it has merged.
    `failed`: takes the errors of showing, by their places (None: they are raised).

    Raises:
        RunError: the disk does not let it.
    """
    show_merged(writer, failed)
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise RunError(
                f"{file} cannot be removed: {error.strerror or error}",
                why="it was published longer ago than --keep says",
                fix="remove it, and start again",
            ) from error
        writer.fresh.discard(file)
        writer.fresh.add(file.parent)
