"""Write a folder as a whole or not at all."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontoweir.files.find_output import name_scratch


@contextmanager
def write_folder(folder: Path) -> Iterator[Path]:
    """A new folder to fill, which takes the place of `folder` at the end.

    Links are followed. An empty folder stays itself, and gets what is in the new one: it may be
    somebody's current folder, or where something is mounted. If the block is left by an exception,
    Ctrl-C included, `folder` is as it was.

    Raises:
        OSError: the folder cannot be written, or something else is there.
    """
    folder = Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", str(folder))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        held = next(p for p in folder.parents if os.path.lexists(p))
        raise NotADirectoryError(errno.ENOTDIR, f"{held} is not a folder", str(folder)) from None
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=name_scratch(folder), suffix=".part"))
    made, old = work / "new", work / "old"
    try:
        made.mkdir()
        yield made
        if folder.is_dir() and not any(folder.iterdir()):
            _move_into(made, folder)
            return
        if folder.is_dir():
            os.replace(folder, old)
        try:
            os.replace(made, folder)
        except OSError:
            if old.is_dir():
                os.replace(old, folder)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move_into(made: Path, folder: Path) -> None:
    """Move all that is in one folder into another, empty one: folders first; or nothing."""
    moved: list[Path] = []
    try:
        for item in sorted(made.iterdir(), key=lambda p: (not p.is_dir(), p.name)):
            os.replace(item, folder / item.name)
            moved.append(item)
    except BaseException:
        for item in moved:
            os.replace(folder / item.name, item)
        raise
