"""Wait until files are on the disk, together, not in turn."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path


def sync_files(places: Iterable[Path]) -> None:
    """Wait until files and folders are on the disk.

    Raises:
        OSError: one is not there, or the disk does not take it.
    """
    list(disk_threads().map(sync_file, places))


def sync_file(place: Path) -> None:
    """Wait until a file, or a folder, is on the disk."""
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache
def disk_threads() -> ThreadPoolExecutor:
    """Threads that wait for the disk."""
    return ThreadPoolExecutor(8, thread_name_prefix="ontoweir-disk")
