"""Find the local files of a source, in the order in which a history has them."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located.archive_places import (
    find_archived_path,
    find_declared_path,
    is_same_file,
    refuse_both,
)
from ontoweir.runtime.located.data_files import is_finished, local_path, name_data, no_path
from ontoweir.runtime.spark.read_view import VIEW


@dataclass(frozen=True, slots=True)
class Located:
    """A source's path: local files in the order of their names, or a remote path."""

    path: str
    files: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Found:
    """A file, as it is called in its source's folder: `match`, what of the path's pattern it is in,
    or is; `place`: where it is."""

    match: str
    file: str
    place: str


def locate_source(data: DataSource, table: str, catalog_file: str) -> Located:
    """Find a source's files; those that are in its archive are among the others, as if they were
    in its folder.

    Raises:
        DataError: it has no path, or nothing is there; or the folder and the archive have other
            files by one name.
    """
    if data.path is None:
        raise no_path(data, table, catalog_file)
    if data.format == VIEW:
        return Located(data.path, None)
    path = data.path.removeprefix("file://") if data.path.startswith("file:///") else data.path
    if "://" in path:
        return Located(path, None)
    found = {f.file: f for f in _list(path)}
    if data.archive is not None and not os.path.isfile(path):
        # after the folder: what is moved meanwhile is in both lists, not in none
        for archived in list_archived(data):
            here = found.get(archived.file)
            if here is not None and os.path.lexists(here.place):
                if not is_same_file(here.place, archived.place):
                    raise refuse_both(here.place, archived.place)
            else:
                found[archived.file] = archived
    if not found and not os.path.isdir(path) and not glob.glob(path, recursive=True):
        raise DataError(
            f"there is no data for {table}",
            why="the catalog names this file or folder",
            fix="put the data there, or correct the path of its source",
            source=Source(path),
        )
    inner = [f.file for f in found.values() if f.file != f.match]
    data_of = {f.match for f in found.values() if f.file == f.match} | {
        *name_data(data.format, inner)
    }
    ordered = sorted(found.values(), key=lambda f: (f.match, f.file))
    return Located(path, tuple(f.place for f in ordered if f.file in data_of))


def list_archived(data: DataSource) -> Iterator[Found]:
    """The files in a source's archive, whatever they end in."""
    path = local_path(data.path or "")
    for found in () if data.archive is None else _list(find_archived_path(data, path)):
        match, file = (find_declared_path(data, x) for x in (found.match, found.file))
        yield Found(match, file, found.place)


def list_here(data: DataSource) -> Iterator[Found]:
    """The files in a source's own folder, whatever they end in."""
    yield from _list(local_path(data.path or ""))


def _list(path: str) -> Iterator[Found]:
    """What is in a folder, or what a pattern names, and what is in that; a file is itself."""
    if os.path.exists(path):
        matches = [path]
    else:
        named = glob.glob(path, recursive=True)
        matches = [m for m in named if is_finished(os.path.basename(m))]
    for match in matches:
        if not os.path.isdir(match):
            yield Found(match, match, match)
            continue
        for file in _walk(match):
            yield Found(match, file, file)


def _walk(folder: str) -> Iterator[str]:
    """The files of data in a folder, and those below it, but by links to folders."""
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                there = [entry for entry in entries if is_finished(entry.name)]
        except OSError:  # it may not be looked into, or has just been removed
            continue
        waiting += [entry.path for entry in there if entry.is_dir(follow_symlinks=False)]
        yield from (entry.path for entry in there if entry.is_file())
