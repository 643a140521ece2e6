"""Remove the folders of a source that are empty since their files have been moved to its archive.

A writer may be about to write into a folder: so only one that has been empty for a day is removed,
never the source's own. One in which a file appears meanwhile stays, as the system removes no folder
that has something in it. Spark does not forgive folders that vanish while it lists them: the caller
sees to it that it does not.
"""

import contextlib
import os
import time
from collections.abc import Iterator

from ontoweir.files.find_base import find_base
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located.archive_places import find_archived_path
from ontoweir.runtime.located.data_files import is_finished

EMPTY = 86_400.0
"""Seconds for which a folder is empty before it is removed."""


def remove_folders(data: DataSource) -> int:
    """How many folders have been removed: those below the source's that are empty for a day, and
    are in its archive, too. One whose last folder that was counts as empty from then on."""
    if data.archive is None:
        return 0
    base, removed = find_base(data.path or ""), 0
    for folder in _list_empty(base):
        if not os.path.isdir(find_archived_path(data, folder)):
            continue  # it is not by moving files that it is empty
        with contextlib.suppress(OSError):
            os.rmdir(folder)
            removed += 1
    return removed


def _list_empty(folder: str) -> Iterator[str]:
    """The folders below one that have been empty for a day, but by links to folders."""
    before = time.time() - EMPTY
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            inner = [e.path for e in entries if is_finished(e.name) and _is_folder(e)]
        for place in inner:
            if os.stat(place).st_mtime < before and not os.listdir(place):
                yield place
            else:
                yield from _list_empty(place)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)
