"""Take Spark's half of a checkpoint back to what the last commit says, which alone counts.

Spark writes its offsets without waiting for the disk, and runs ahead of our commit. So what it has
written since is removed, and plans anew; what was lost of its offsets is written again.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.files.replace_file import replace_file
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.record_spark import hash_file
from ontoweir.runtime.live.checkpoint.spark_folder import (
    Offsets,
    SparkFolder,
    commit_text,
    is_commit,
    list_spark_folders,
    log_number,
    source_of,
)
from ontoweir.runtime.live.checkpoint.sync_files import sync_file

TICKS = [""]
"""The source of ticks, among those of a run."""


def restore_spark(spark: SparkFolder, record: CommitRecord, *, ticks: bool) -> None:
    """Make Spark's folder what it was when a micro-batch was committed.

    Args:
        spark: Spark's folder of the run.
        record: of the last commit.
        ticks: whether the run now has a source of ticks behind those of its streams.

    Raises:
        UsageError: its logs of files are not those of the commit.
        RunError: the disk does not take it.
    """
    log = record.spark
    _check(spark, record)
    more = ticks - (TICKS in record.sources)
    sources = len(Offsets.parse(log.offsets[str(log.batch)]).sources) + more
    whole = record.cut_us is None
    try:
        spark.offsets.mkdir(parents=True, exist_ok=True)
        spark.commits.mkdir(exist_ok=True)
        _trim_logs(spark, log.files, sources)
        _write(spark.metadata, log.name)
        kept = {log.batch - 1: log.offsets.get(str(log.batch - 1)), log.batch: None}
        kept[log.batch] = log.offsets[str(log.batch)]
        done = [n for n, text in kept.items() if text is not None and (whole or n < log.batch)]
        _keep_only(spark.offsets, [n for n, text in kept.items() if text is not None])
        _keep_only(spark.commits, done)
        for number, text in kept.items():
            if text is not None:
                _write(spark.offsets_of(number), Offsets.parse(text).resize(sources).text)
        for number in done:
            if not is_commit(spark.commit_of(number)):
                watermark = Offsets.parse(log.offsets[str(number)]).watermark
                _write(spark.commit_of(number), commit_text(watermark))
        for folder in (spark.offsets, spark.commits, spark.path):
            sync_file(folder)
    except OSError as error:
        raise unwritable(spark.path, error) from error


def forget_spark(checkpoint: Path, kept: str = "") -> None:
    """Remove Spark's folders but one: what it has planned before anything was committed (it plans
    anew), and those that another has taken the place of.

    Raises:
        RunError: the disk does not let it.
    """
    try:
        for folder in list_spark_folders(checkpoint):
            if folder.path.name != kept:
                shutil.rmtree(folder.path)
    except OSError as error:
        raise unwritable(checkpoint, error) from error


def unwritable(place: Path, error: OSError) -> RunError:
    """The error of a checkpoint that cannot be written."""
    return RunError(
        f"the checkpoint cannot be written to {place}: {error.strerror or error}",
        why="Spark's offsets are taken back to the last commit before a run goes on",
        fix="make room, or mend the disk, and start again",
    )


def _check(spark: SparkFolder, record: CommitRecord) -> None:
    metadata = spark.metadata
    try:
        name = metadata.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        name = ""
    if name and name != record.spark.name:
        raise _foreign(f"{metadata} is of another run", metadata)
    for path, digest in record.spark.files.items():
        try:
            there = hash_file(spark.path / path)
        except OSError:
            raise _foreign(f"{path} of Spark's logs is missing", spark.path / path) from None
        if there != digest:
            raise _foreign(f"{path} of Spark's logs is not what was committed", spark.path / path)


def _foreign(what: str, place: Path) -> UsageError:
    return UsageError(
        f"the checkpoint's state and its offsets do not belong together: {what}",
        why="Spark's logs say which files were read; without them rows are lost, or come twice",
        fix="restore the whole checkpoint folder, or start with a new one and replay the history",
        source=Source(str(place)),
    )


def _trim_logs(spark: SparkFolder, used: Iterable[str], sources: int) -> None:
    """Remove entries of logs behind those in use, and logs of sources that are no longer there."""
    last: dict[str, int] = {}
    for path in used:
        source, number = source_of(path)
        last[source] = max(last.get(source, -1), number)
    logs = spark.sources
    for folder in list(logs.iterdir()) if logs.is_dir() else ():
        if folder.name not in last or (folder.name.isdigit() and int(folder.name) >= sources):
            shutil.rmtree(folder)
            continue
        for entry in list(folder.iterdir()):
            logged = log_number(entry.name)
            if logged is None or logged > last[folder.name]:
                entry.unlink()


def _keep_only(folder: Path, numbers: list[int]) -> None:
    names = {str(n) for n in numbers}
    for entry in list(folder.iterdir()):
        if entry.name not in names:
            entry.unlink()


def _write(file: Path, text: str) -> None:
    """Replace a file, durably, unless it has that content."""
    try:
        if file.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    replace_file(file, text.encode(), durable=True)
