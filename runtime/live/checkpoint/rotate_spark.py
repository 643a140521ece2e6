"""Begin a new folder of Spark's in which files that are gone are forgotten.

Spark keeps an entry for every file that it has ever listed, in its logs and in memory. So when
there are many, and most of the files have been moved away, a run goes on from a new folder, whose
logs have the files that are still there: those alone could be listed again.
"""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord, SparkLog
from ontoweir.runtime.live.checkpoint.record_spark import hash_file
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    SPARK_VERSION,
    Offsets,
    SparkFolder,
    commit_text,
    name_next,
    read_entries,
)
from ontoweir.runtime.live.checkpoint.sync_files import sync_files
from ontoweir.runtime.located.data_files import local_path

MANY = 100_000
"""Entries of Spark's logs up to which nothing is done; each takes about half a kilobyte."""


def count_entries(spark: SparkFolder) -> int:
    """How many files the logs in use have.

    Raises:
        RunError: they cannot be read.
    """
    try:
        logs = [spark.path / name for name in spark.list_logs()]
        return sum(sum(1 for _ in read_entries(log)) for log in logs)
    except OSError as error:
        raise unwritable(spark.path, error) from error


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
    old = SparkFolder(checkpoint / log.folder)
    new = SparkFolder(checkpoint / name_next(log.folder))
    try:
        shutil.rmtree(new.path, ignore_errors=True)
        for folder in (new.offsets, new.commits, new.sources):
            folder.mkdir(parents=True)
        before = Offsets.parse(log.offsets[str(log.batch)])
        after = list(before.sources)
        for source, offset in enumerate(before.sources):
            held, made = old.sources / str(source), new.sources / str(source)
            if not held.is_dir():
                continue
            if source in files and offset != NOTHING:
                _write_log(made, [old.path / n for n in log.files], held)
                after[source] = '{"logOffset":0}'
            elif source not in files:
                shutil.copytree(held, made)
        offsets = replace(before, sources=after).text
        new.metadata.write_text(log.name, encoding="utf-8")
        new.offsets_of(0).write_text(offsets, encoding="utf-8")
        new.commit_of(0).write_text(commit_text(0), encoding="utf-8")
        sync_files([*new.path.rglob("*"), new.path, checkpoint])
        hashes = {name: hash_file(new.path / name) for name in new.list_logs()}
    except OSError as error:
        raise unwritable(new.path, error) from error
    return SparkLog(0, log.name, {"0": offsets}, hashes, new.path.name)


def _write_log(target: Path, logs: list[Path], source: Path) -> None:
    """One entry with the files of a source's logs that are still there."""
    target.mkdir()
    with open(target / "0", "w", encoding="utf-8") as out:
        out.write(SPARK_VERSION)
        for log in logs:
            if log.parent != source:
                continue
            for line in read_entries(log):
                entry = json.loads(line)
                path = local_path(entry["path"])
                if "://" in path or os.path.exists(path):
                    out.write("\n" + json.dumps({**entry, "batchId": 0}, separators=(",", ":")))
