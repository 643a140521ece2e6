"""The files that a micro-batch brings, as Spark's file source has logged them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontoweir.errors import RunError, Source
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    SPARK_VERSION,
    Offsets,
    SparkFolder,
)
from ontoweir.runtime.located.data_files import local_path


@dataclass(frozen=True, slots=True)
class ArrivedFile:
    """A file's URI, its path if it is local, and when it was modified (ms since 1970)."""

    uri: str
    path: str
    modified: int


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
    last = _reached(spark.offsets_of(batch), source)
    first = _reached(spark.offsets_of(batch - 1), source) + 1 if batch else 0
    arrived: list[ArrivedFile] = []
    for number in range(first, last + 1):
        arrived += _logged(spark.entry_of(source, number), number)
    return tuple(sorted(arrived, key=lambda f: (f.modified, f.path)))


def _reached(file: Path, source: int) -> int:
    """How far a source's log is read by a micro-batch (-1: nothing yet)."""
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


def _unknown(file: Path, error: Exception) -> RunError:
    return RunError(
        f"Spark's log of files is not as expected: {error}",
        why="it says which files a micro-batch brings",
        fix="restore the whole checkpoint folder, or start with a new one",
        source=Source(str(file)),
    )
