"""Wait until files are on the disk, together, not in turn."""

import contextlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

from ontoweir.files.sync_file import sync_file as sync_file

_SIDE_BY_SIDE = 8


def sync_files(places: Iterable[Path]) -> None:
    """Wait until files and folders are on the disk.

    Raises:
        OSError: one is not there, or the disk does not take it.
    """
    list(disk_threads().map(sync_file, places))


@cache
def disk_threads() -> ThreadPoolExecutor:
    """Threads that wait for the disk."""
    return ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="ontoweir-disk")


class Syncing:
    """Files and folders that come onto the disk while other work goes on."""

    def __init__(self) -> None:
        self._begun: list[Future[None]] = []

    def begin(self, places: Iterable[Path]) -> None:
        """Wait until these are on the disk, in other threads; what is gone by then is not waited
        for."""
        left = list(places)
        size = max(1, -(-len(left) // _SIDE_BY_SIDE))
        blocks = [left[n : n + size] for n in range(0, len(left), size)]
        self._begun += [disk_threads().submit(_sync_those, block) for block in blocks]

    def begin_with(self, places: set[Path]) -> None:
        """As begin; there are none left then."""
        self.begin(places)
        places.clear()

    def finish(self) -> None:
        """Wait until all that was begun is on the disk.

        Raises:
            OSError: the disk does not take it.
        """
        begun, self._begun = self._begun, []
        for future in begun:
            future.result()


def _sync_those(places: Iterable[Path]) -> None:
    for place in places:
        with contextlib.suppress(FileNotFoundError):
            sync_file(place)
