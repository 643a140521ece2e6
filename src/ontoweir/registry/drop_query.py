"""Drop a registered query: its run stops."""

import contextlib
import os
import shutil
from pathlib import Path

from ontoweir.errors import RunError
from ontoweir.files.hold_lock import hold_lock
from ontoweir.registry.entry_status import read_status
from ontoweir.registry.list_entries import find_entry
from ontoweir.registry.registry_entry import DROPPED, ENTRY, Entry, read_entry

_PATIENCE = 60.0
"""Seconds that a run may take to stop before its state is removed: a micro-batch is finished."""


def drop_query(registry: Path, name: str, *, purge: bool = False) -> Entry:
    """Remove an entry from the registry; the process that serves it stops it.

    Args:
        registry: the registry's folder.
        name: of the entry, or (with `purge`) of one that was dropped before.
        purge: remove its state too, and the files of its answers.

    Returns:
        the entry.

    Raises:
        UsageError: there is no such entry.
        RunError: it does not stop, so its state is not removed; or it cannot be removed.
    """
    folder = registry / name
    before = None
    if purge and registry.is_dir() and name in os.listdir(registry):
        before = None if (folder / ENTRY).exists() else read_entry(folder / DROPPED)
    entry = before if before is not None else find_entry(registry, name)
    try:
        if before is None:
            os.replace(folder / ENTRY, folder / DROPPED)
        if purge:
            _purge(registry, entry)
    except OSError as error:
        raise RunError(
            f"{name} cannot be dropped: {error.strerror or error}",
            why="the registry is kept in files",
            fix="correct the folder's permissions, and drop it again",
        ) from error
    return entry


def _purge(registry: Path, entry: Entry) -> None:
    from ontoweir.runtime.live.output.write_parts import OWNER

    folder = registry / entry.name
    lock = hold_lock(folder, _PATIENCE)
    if lock is None:
        raise RunError(
            f"{entry.name} is dropped, but its run has not stopped yet",
            why="its state is not removed while it is in use",
            fix="drop it again with --purge in a moment",
        )
    try:
        answers = read_status(registry, entry)["answers_folder"]
        if answers is not None:
            place = Path(answers)
            for file in (*place.glob("part-*"), *place.glob(".part-*.new"), place / OWNER):
                file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # somebody keeps something there
                place.rmdir()
        shutil.rmtree(folder)
    finally:
        lock.release()
