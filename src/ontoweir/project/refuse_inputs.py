"""Refuse to overwrite inputs: a project's files, and the data of its catalog."""

import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ontoweir.errors import Source, UsageError
from ontoweir.files.find_output import FileOutput, find_output
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.project.project import Project

_PARQUET = (".parquet", ".parq", ".pq")


def refuse_inputs(project: Project, output: Path) -> None:
    """Refuse an output that is one of a project's files or data, or would be read as such.

    Raises:
        UsageError: it is.
    """
    files = [project.file, *project.ontology, *project.mappings, *project.queries]
    refuse_files(output, [*files, *project.imports.values()])
    place_of_output = find_output(output)
    if not isinstance(place_of_output, FileOutput):
        return
    streams, relations = project.catalog.streams.values(), project.catalog.relations.values()
    tables: list[Stream | Relation] = [*streams, *relations]
    for table in tables:
        if any(_reads(table, place, place_of_output.path) for place in _places(table)):
            raise _refused(output, f"it would be read as data of {table.name}")


def refuse_folders(streams: Iterable[Stream], folders: Iterable[Path]) -> None:
    """Refuse folders of answers, or of a checkpoint, whose files would be read as a stream's.

    Raises:
        UsageError: one is, or is in, a folder that a stream's files are in.
    """
    places = [(stream.name, place) for stream in streams for place in _places(stream)]
    for folder in folders:
        real = Path(os.path.realpath(folder))
        for name, place in places:
            if _holds(place, real):
                raise UsageError(
                    f"cannot write to {folder}",
                    why=f"what is in it would be read as data of {name}, from {place}",
                    fix="name folders beside that one (--output, --checkpoint), or give the stream "
                    "a folder of its own",
                    source=Source("--output"),
                )


def _holds(place: str, folder: Path) -> bool:
    """Whether a stream's files are all that are in a folder."""
    if glob.has_magic(place) and not os.path.exists(place):
        wanted, parts = Path(place).parts, folder.parts
        alike = zip(parts, wanted, strict=False)
        return len(parts) >= len(wanted) and all(fnmatch.fnmatch(*pair) for pair in alike)
    real = Path(os.path.realpath(place))
    if not real.is_dir() or not folder.is_relative_to(real):
        return False
    return not any(part.startswith(("_", ".")) for part in folder.relative_to(real).parts)


def refuse_files(output: Path, files: Iterable[Path]) -> None:
    """Refuse an output that is one of these files.

    Raises:
        UsageError: it is.
    """
    target = find_output(output)
    if not isinstance(target, FileOutput):
        return
    held = _identify(target.path)
    same = (file for file in files if held is not None and _identify(file) == held)
    if str(target.path) in map(os.path.realpath, same):  # others are further names of the file
        raise _refused(output, "it is read")


def _identify(file: Path) -> tuple[int, int] | None:
    """Which file it is (None: there is none)."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _places(table: Stream | Relation) -> Iterator[str]:
    """The local path, or pattern, of a table's data."""
    path = table.data.path
    if path is None or table.data.format == "view":
        return
    path = path.removeprefix("file://")
    if "://" not in path:
        yield path
    if table.data.archive is not None:
        yield table.data.archive


def _reads(table: Stream | Relation, place: str, output: Path) -> bool:
    if glob.has_magic(place) and not os.path.exists(place):
        return fnmatch.fnmatch(str(output), place)
    real = Path(os.path.realpath(place))
    if not real.is_dir():
        return real == output
    if not output.is_relative_to(real):
        return False
    if any(part.startswith(("_", ".")) for part in output.relative_to(real).parts):
        return False
    return table.data.format != "parquet" or output.suffix in _PARQUET


def _refused(output: Path, why: str) -> UsageError:
    return UsageError(
        f"cannot write {output}", why=why, fix="name another file", source=Source("--output")
    )
