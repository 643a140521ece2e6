"""Wait until a file, or a folder, is on the disk."""

import os
from pathlib import Path


def sync_file(place: Path) -> None:
    """Wait until a file, or a folder with its entries, is on the disk.

    Raises:
        OSError: it is not there, or the disk does not take it.
    """
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
