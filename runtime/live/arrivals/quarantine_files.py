"""Move files that cannot be read out of the way of a live run."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ontoweir.errors import RunError

FOLDER = "quarantine"
REASON = "its file cannot be read, and is in quarantine"


def quarantine_files(files: Mapping[str, Sequence[str]], output: Path) -> None:
    """Move files to `output/quarantine/<stream>`, those that are still there.

    Args:
        files: by stream.
        output: the folder of rejected rows.

    Raises:
        RunError: the disk does not let it.
    """
    for stream, paths in files.items():
        folder = output / FOLDER / stream.replace("/", "_")
        for path in paths:
            target = folder / os.path.basename(path)
            try:
                if not os.path.exists(path):
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                number = 0
                while target.exists():
                    number += 1
                    target = folder / f"{os.path.basename(path)}.{number}"
                shutil.move(path, target)
            except OSError as error:
                raise RunError(
                    f"{path} cannot be moved to {folder}: {error.strerror or error}",
                    why='it cannot be read, and on_bad_file = "quarantine"',
                    fix="move it yourself, and start again",
                ) from error
