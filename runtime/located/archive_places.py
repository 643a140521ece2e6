"""Where the files of a stream are that a live run moves to an archive when all have read them.

A file keeps its name below the folder. So whoever knows it by its place in the folder, as Spark's
logs do, finds it in the archive, and folder and archive together are one history.
"""

import filecmp
import os

from ontoweir.errors import DataError, Source
from ontoweir.files.find_base import find_base
from ontoweir.mappings.model.catalog import DataSource


def find_archived_path(data: DataSource, file: str) -> str:
    """Where a file of a source's folder is when it has been moved; a pattern likewise.

    >>> find_archived_path(DataSource("csv", "/in/*.csv", archive="/old"), "/in/a.csv")
    '/old/a.csv'
    """
    assert data.archive is not None
    return data.archive.rstrip("/") + file[len(_base(data)) :]


def find_declared_path(data: DataSource, archived: str) -> str:
    """Where a file of a source's archive was.

    >>> find_declared_path(DataSource("csv", "/in/*.csv", archive="/old"), "/old/a.csv")
    '/in/a.csv'
    """
    assert data.archive is not None
    return _base(data) + archived[len(data.archive.rstrip("/")) :]


def _base(data: DataSource) -> str:
    return find_base(data.path or "").rstrip("/")


def find_place(data: DataSource, file: str, modified: int | None = None) -> str:
    """Where a file is now that was in a source's folder: there, or in its archive. If there is one
    of its name in both, it is the one that was modified then (ms since 1970)."""
    if data.archive is None or "://" in file:
        return file
    archived = find_archived_path(data, file)
    if not os.path.lexists(file):
        return archived if os.path.lexists(archived) else file
    if modified is not None and _modified(file) != modified == _modified(archived):
        return archived
    return file


def _modified(file: str) -> int | None:
    try:
        return os.stat(file).st_mtime_ns // 1_000_000
    except OSError:
        return None


def is_same_file(one: str, other: str) -> bool:
    """Whether two files have the same content, as far as they can be read."""
    try:
        return os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def refuse_both(file: str, archived: str) -> DataError:
    """The error of a name by which the folder and the archive have other files."""
    return DataError(
        f"{os.path.basename(file)} is in the folder and in the archive, with other content",
        why=f"{archived} has been read by its name before; files keep their names there",
        fix="rename the file in the folder, or remove the one that is wrong",
        source=Source(file),
    )
