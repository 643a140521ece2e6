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
from ontoweir.runtime.located.data_files import (
    is_asked_for,
    is_finished,
    local_path,
    name_data,
    no_path,
)
from ontoweir.runtime.located.spell_braces import spell_braces
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
    if not found and not os.path.isdir(path) and not find_matches(path):
        raise DataError(
            f"there is no data for {table}",
            why="the catalog names this file or folder",
            fix="put the data there, or correct the path of its source",
            source=Source(path),
        )
    inner = [f.file for f in found.values() if f.file != f.match]
    named = {f.match for f in found.values() if f.file == f.match}
    data_of = {f for f in named if f == path or is_asked_for(data, f)} | {*name_data(data, inner)}
    ordered = sorted(found.values(), key=lambda f: (f.match, f.file))
    return Located(path, tuple(f.place for f in ordered if f.file in data_of))


def find_matches(pattern: str) -> list[str]:
    """The files and folders that a pattern names."""
    return [m for one in spell_braces(pattern) for m in glob.glob(one, recursive=True)]


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
        matches = [m for m in find_matches(path) if is_finished(os.path.basename(m))]
        matches = [m for m in matches if os.path.isfile(m) or os.path.isdir(m)]
    for match in matches:
        if not os.path.isdir(match):
            yield Found(match, match, match)
            continue
        for file in _walk(match):
            yield Found(match, file, file)


def _walk(folder: str) -> Iterator[str]:
    """The files of data in a folder, and those below it, but by links to folders.

    Raises:
        DataError: one of the folders may not be looked into.
    """
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as entries:
                there = [entry for entry in entries if is_finished(entry.name)]
        except (FileNotFoundError, NotADirectoryError):  # it has just been removed
            continue
        except OSError as error:
            raise DataError(
                f"{place} cannot be looked into: {error.strerror or error}",
                why="its files are a part of the data",
                fix="give this process the right to read it, or move it away",
                source=Source(place),
            ) from error
        waiting += [entry.path for entry in there if entry.is_dir(follow_symlinks=False)]
        yield from (entry.path for entry in there if entry.is_file())
