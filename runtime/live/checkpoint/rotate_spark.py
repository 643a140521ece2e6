"""Begin a new folder of Spark's in which files that are gone are forgotten.

Spark keeps an entry for every file that it has ever listed, in its logs and in memory. So when
there are many, and most of the files have been moved away, a run goes on from a new folder, whose
logs have the files that are still there: those alone could be listed again.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord, SparkLog
from ontoweir.runtime.live.checkpoint.record_spark import hash_file, list_logs
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.checkpoint.sync_files import sync_files
from ontoweir.runtime.sources.data_files import local_path

MANY = 100_000
"""Entries of Spark's logs up to which nothing is done; each takes about half a kilobyte."""


def count_entries(spark: Path) -> int:
    """How many files the logs in use have.

    Raises:
        RunError: they cannot be read.
    """
    try:
        return sum(sum(1 for _ in _entries(spark / name)) for name in list_logs(spark))
    except OSError as error:
        raise unwritable(spark, error) from error


def rotate_spark(checkpoint: Path, record: CommitRecord, files: frozenset[int]) -> SparkLog:
    """Make the new folder, durably; it counts when a commit says so.

    Args:
        checkpoint: the run's.
        record: of the last commit, which has all of its micro-batch.
        files: the numbers of the sources that are files.

    Raises:
        RunError: the disk does not take it.
    """
    log = record.spark
    _, _, number = log.folder.partition("-")
    old = checkpoint / log.folder
    new = checkpoint / f"spark-{int(number or 0) + 1}"
    try:
        shutil.rmtree(new, ignore_errors=True)
        for name in ("offsets", "commits", "sources"):
            (new / name).mkdir(parents=True)
        lines = log.offsets[str(log.batch)].split("\n")
        for source, offset in enumerate(lines[2:]):
            held = old / "sources" / str(source)
            if not held.is_dir():
                continue
            if source in files and offset != "-":
                _write_log(new / "sources" / str(source), [old / n for n in log.files], held)
                lines[2 + source] = '{"logOffset":0}'
            elif source not in files:
                shutil.copytree(held, new / "sources" / str(source))
        offsets = {"0": "\n".join(lines)}
        (new / "metadata").write_text(log.name, encoding="utf-8")
        (new / "offsets" / "0").write_text(offsets["0"], encoding="utf-8")
        (new / "commits" / "0").write_text('v1\n{"nextBatchWatermarkMs":0}', encoding="utf-8")
        sync_files([*new.rglob("*"), new, checkpoint])
        hashes = {name: hash_file(new / name) for name in list_logs(new)}
    except OSError as error:
        raise unwritable(new, error) from error
    return SparkLog(0, log.name, offsets, hashes, new.name)


def _write_log(target: Path, logs: list[Path], source: Path) -> None:
    """One entry with the files of a source's logs that are still there."""
    target.mkdir()
    with open(target / "0", "w", encoding="utf-8") as out:
        out.write("v1")
        for log in logs:
            if log.parent != source:
                continue
            for line in _entries(log):
                entry = json.loads(line)
                path = local_path(entry["path"])
                if "://" in path or os.path.exists(path):
                    out.write("\n" + json.dumps({**entry, "batchId": 0}, separators=(",", ":")))


def _entries(log: Path) -> Iterator[str]:
    with open(log, encoding="utf-8") as opened:
        next(opened, None)
        for line in opened:
            if line.strip():
                yield line
