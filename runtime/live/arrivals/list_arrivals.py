"""The files that a micro-batch brings, as Spark's file source has logged them."""

import contextlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontoweir.errors import DataError, RunError, Source
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    SPARK_VERSION,
    Offsets,
    SparkFolder,
    log_number,
    read_entries,
)
from ontoweir.runtime.located.archive_places import find_place, is_same_file, refuse_both
from ontoweir.runtime.located.data_files import is_data, local_path
from ontoweir.runtime.located.locate_source import list_archived


@dataclass(frozen=True, slots=True)
class ArrivedFile:
    """A file's URI (empty: Spark's logs in use do not have it), its path if it is local, when it
    was modified (ms since 1970), and its place if it has been moved to an archive."""

    uri: str
    path: str
    modified: int
    archived: str | None = None

    @property
    def place(self) -> str:
        """Where it is to be read."""
        return self.archived or self.path


def list_arrivals(spark: SparkFolder, source: int, batch: int) -> tuple[ArrivedFile, ...]:
    """The files that a source brings in a micro-batch, in the order of their modification times.

    Spark logs them before the micro-batch begins, and reads the same ones when it repeats it.

    Args:
        spark: Spark's folder of the run.
        source: the number of the source, in the order in which the run reads them.
        batch: the micro-batch.

    Raises:
        RunError: Spark's log is not as expected.
    """
    last = read_reached(spark.offsets_of(batch), source)
    first = read_reached(spark.offsets_of(batch - 1), source) + 1 if batch else 0
    arrived: list[ArrivedFile] = []
    for number in range(first, last + 1):
        arrived += _logged(spark.entry_of(source, number), number)
    return tuple(sorted(arrived, key=lambda f: (f.modified, f.path)))


def read_reached(file: Path, source: int) -> int:
    """How far a source's log is read by a micro-batch (-1: nothing yet), as its offsets say.

    Raises:
        RunError: they are not as expected.
    """
    try:
        offsets = Offsets.parse(file.read_text(encoding="utf-8"))
        if offsets.version != SPARK_VERSION:
            raise ValueError(offsets.version)
        reached = offsets.sources[source]
        return -1 if reached == NOTHING else int(json.loads(reached)["logOffset"])
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise _unknown(file, error) from error


def _logged(file: Path, number: int) -> list[ArrivedFile]:
    """The files of one entry; entries are compacted: the last of some repeats those before it."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        if lines[0] != SPARK_VERSION:
            raise ValueError(lines[0])
        entries: list[dict[str, Any]] = [json.loads(line) for line in lines[1:]]
        return [
            ArrivedFile(e["path"], local_path(e["path"]), int(e["timestamp"]))
            for e in entries
            if e["batchId"] == number
        ]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise _unknown(file, error) from error


def list_logged(folder: SparkFolder, source: int, since: int, to: int) -> tuple[ArrivedFile, ...]:
    """The files that a source has logged after an entry, up to another, in the order of their
    modification times.

    Raises:
        RunError: Spark's log is not as expected.
    """
    found = [file for _, file in read_logged(folder, source, since, to)]
    return tuple(sorted(found, key=lambda f: (f.modified, f.path)))


def read_logged(
    folder: SparkFolder, source: int, since: int, to: int
) -> Iterator[tuple[int, ArrivedFile]]:
    """The files that a source has logged after an entry, up to another, with their entries.

    Raises:
        RunError: Spark's log is not as expected.
    """
    place = folder.sources / str(source)
    try:
        for log in _logs_in_use(folder, source, since) if to > since else ():
            for line in read_entries(place / log):
                entry = json.loads(line)
                number, path = int(entry["batchId"]), entry["path"]
                if since < number <= to:
                    yield number, ArrivedFile(path, local_path(path), int(entry["timestamp"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unknown(place, error) from error


def _logs_in_use(folder: SparkFolder, source: int, since: int) -> list[str]:
    """The last compact entry of a source's log, and those after it; without those that have only
    files up to an entry."""
    place = folder.sources / str(source)
    names = {n: name for name in os.listdir(place) if (n := log_number(name)) is not None}
    compact = max((n for n, name in names.items() if not name.isdigit()), default=-1)
    return [name for n, name in sorted(names.items()) if n >= compact and n > since]


def add_archived(
    data: DataSource, logged: Sequence[ArrivedFile], others: Collection[str] = ()
) -> tuple[list[ArrivedFile], list[tuple[str, DataError]]]:
    """What whoever begins has to read of a stream: the files that Spark has logged, and those in
    its archive that it has forgotten; and those by whose names there are others in the archive.

    Args:
        data: the stream's source.
        logged: files of the stream.
        others: the paths of more that Spark's logs have, which come later.
    """
    known = {f.path: f.place for f in logged}
    found, twice = list(logged), {}
    for file in list_archived(data):
        place = known.get(file.file)
        if place not in (None, file.place) and not is_same_file(str(place), file.place):
            twice[file.file] = refuse_both(file.file, file.place)
        if place is not None or file.file in others or not is_data(data, file.file):
            continue
        with contextlib.suppress(OSError):
            modified = os.stat(file.place).st_mtime_ns // 1_000_000
            found.append(ArrivedFile("", file.file, modified, file.place))
    whole = sorted((f for f in found if f.path not in twice), key=lambda f: (f.modified, f.path))
    return whole, list(twice.items())


def place_files(data: DataSource, files: Iterable[ArrivedFile]) -> list[ArrivedFile]:
    """Files with the places where they are now."""
    if data.archive is None:
        return list(files)
    placed = ((f, find_place(data, f.path, f.modified)) for f in files)
    return [f if place == f.path else replace(f, archived=place) for f, place in placed]


def _unknown(file: Path, error: Exception) -> RunError:
    return RunError(
        f"Spark's log of files is not as expected: {error}",
        why="it says which files have come",
        fix="restore the whole checkpoint folder, or start with a new one; of registered queries "
        "it is the intake's in the registry, and register --replace begins anew",
        source=Source(str(file)),
    )
