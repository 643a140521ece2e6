"""Find the local files of a source, in the order in which a history has them."""

import glob
import os
from dataclasses import dataclass
from pathlib import Path

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located.data_files import is_finished, name_data, no_path
from ontoweir.runtime.spark.read_view import VIEW


@dataclass(frozen=True, slots=True)
class Located:
    """A source's path: local files in the order of their names, or a remote path."""

    path: str
    files: tuple[str, ...] | None


def locate_source(data: DataSource, table: str, catalog_file: str) -> Located:
    """Find a source's files.

    Raises:
        DataError: it has no path, or nothing is there.
    """
    if data.path is None:
        raise no_path(data, table, catalog_file)
    if data.format == VIEW:
        return Located(data.path, None)
    path = data.path.removeprefix("file://") if data.path.startswith("file:///") else data.path
    if "://" in path:
        return Located(path, None)
    if os.path.isdir(path):
        files = sorted(
            str(f)
            for f in Path(path).rglob("*")
            if f.is_file() and all(map(is_finished, f.relative_to(path).parts))
        )
        return Located(path, tuple(name_data(data.format, files)))
    matches = (
        [path]
        if os.path.exists(path)
        else sorted(m for m in glob.glob(path, recursive=True) if is_finished(os.path.basename(m)))
    )
    if not matches:
        raise DataError(
            f"there is no data for {table}",
            why="the catalog names this file or folder",
            fix="put the data there, or correct the path of its source",
            source=Source(path),
        )
    found: list[str] = []
    for match in matches:
        if os.path.isdir(match):
            inner = locate_source(DataSource(data.format, match), table, catalog_file).files
            found.extend(inner or ())
        else:
            found.append(match)
    return Located(path, tuple(found))
