"""Refuse to go on where an archive has files that a run has not read."""

import json
import os

from ontoweir.errors import UsageError
from ontoweir.files.find_base import find_base
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder, read_entries
from ontoweir.runtime.located.data_files import is_data, local_path
from ontoweir.runtime.located.hold_archive import has_owner
from ontoweir.runtime.located.locate_source import list_archived


def refuse_missed(stream: Stream, folder: SparkFolder) -> None:
    """Nothing, if a run that goes on has read all of a stream's archive; or if the archive says
    whose it is, which then says the same.

    A run lists the folder, not the archive. What its logs have it has read, or will read. Other
    files it has read if they were in the archive when it began, or when its logs last forgot what
    is there: files that are moved are changed (ctime).

    Args:
        stream: with an archive, of which the run has read.
        folder: Spark's, of the run.

    Raises:
        UsageError: another run has moved files there, and what said so was removed.
    """
    if has_owner(stream) or not folder.sources.is_dir():
        return
    begun = folder.sources.stat().st_mtime_ns
    known: set[str] | None = None
    missed = []
    for file in list_archived(stream.data):
        if not is_data(stream.data, file.file) or _changed(file.place) <= begun:
            continue
        if known is None:
            known = _list_known(folder)
        if file.file not in known:
            missed.append(file.place)
    if missed:
        more = f" and {len(missed) - 1} more" if len(missed) > 1 else ""
        raise UsageError(
            f"{min(missed)}{more} of {stream.name}: this run has not read what is in the archive",
            why="its .ontoweir, which says whose it is, was removed; another run has moved files "
            "there, or you have: this one lists the folder alone",
            fix=f"move them to {find_base(stream.data.path or '')}, or away; or begin with a new "
            "checkpoint, which reads all of the archive",
            source=stream.source,
        )


def _changed(place: str) -> int:
    try:
        return os.stat(place).st_ctime_ns
    except OSError:  # it has just been removed
        return 0


def _list_known(folder: SparkFolder) -> set[str]:
    """The files that the logs in use have."""
    logs = [folder.path / name for name in folder.list_logs()]
    return {local_path(json.loads(line)["path"]) for log in logs for line in read_entries(log)}
