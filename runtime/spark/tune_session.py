"""Spark's settings for short micro-batches."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STREAMING = "org.apache.spark.sql.execution.streaming"
_OURS = "ontoweir.LocalFiles"
_COMPACT = "spark.sql.streaming.fileSource.log.compactInterval"


def tune_session(spark: "SparkSession", checkpoint: Path) -> None:
    """Set a session up for short micro-batches; for files too, where the checkpoint is local."""
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "false",  # there is no shuffle to adapt
        "spark.sql.files.minPartitionNum": "1",  # few tasks for small files
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.ui.explainMode": "simple",  # Spark writes the plan of each micro-batch
        # what folders' names hold is text, as in a replay
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.sources.ignoreDataLocality": "true",  # asked of every file at every listing
        _COMPACT: "100",  # of 10: a pause at each tenth
        # a source of which only the offsets matter is not planned
        "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "true",
    }
    java = getattr(spark, "_jvm", None)  # Spark Connect has none
    if "://" not in str(checkpoint) and java is not None:
        for place in ("checkpointing.", ""):  # since 4.1, before
            name = f"{_STREAMING}.{place}FileSystemBasedCheckpointFileManager"
            try:
                java.java.lang.Class.forName(name)
            except Exception:
                continue
            settings["spark.sql.streaming.checkpointFileManagerClass"] = name
            break
        # no file of checksums beside every file of offsets: our own commit has hashes of its own
        settings["spark.sql.streaming.checkpoint.fileChecksum.enabled"] = "false"
        settings["fs.file.impl"] = _local_files(java)
        settings["fs.file.impl.disable.cache"] = "true"
        if settings["fs.file.impl"] == _OURS:  # which waits until there is something to list
            settings["ontoweir.checkpoint"] = os.path.abspath(checkpoint)
            settings["spark.sql.streaming.pollingDelay"] = "1ms"
    for setting, text in settings.items():
        spark.conf.set(setting, text)


@dataclass(frozen=True, slots=True)
class FolderListing:
    """What is listed: absolute paths of `folders`, with all that is below them; or where there are
    regular expressions, of the names `below` level by level, what these are of, and all below that.
    A micro-batch takes `most` files."""

    folders: Sequence[str]
    below: Sequence[str]
    most: int


def list_folders(session: "SparkSession", listing: FolderListing) -> "DataFrame | None":
    """The files of local folders as a stream that has no rows, for its offsets: listed and logged
    as Spark's own source does, with less work (runtime/spark/java/FolderSource.java).

    Args:
        session: tuned for a run.
        listing: what is listed.

    Returns:
        None in a session of others, which does not have that source.
    """
    if session.conf.get("fs.file.impl", "") != _OURS:
        return None
    options = {
        "folders": "\n".join(listing.folders),
        "most": str(listing.most),
        "compact": str(session.conf.get(_COMPACT, "100")),
    }
    if listing.below:
        options["below"] = "\n".join(listing.below)
    return session.readStream.format("ontoweir.FolderSource").options(**options).load()


def _local_files(java: Any) -> str:
    """What writes the checkpoint's files: without checksums, and in sessions that we start without
    a process for each file (start_session)."""
    try:
        java.java.lang.Class.forName(_OURS)
    except Exception:
        return "org.apache.hadoop.fs.RawLocalFileSystem"
    return _OURS


def count_listing(session: "SparkSession | None") -> float:
    """Seconds for which folders of arrivals have been listed in the Java process of a session, if
    it is one of ours (0: it is not)."""
    from py4j.protocol import Py4JError

    try:
        counted = session._jvm.ontoweir.LocalFiles.listed()  # type: ignore[union-attr]
        return float(counted) / 1e9
    except (AttributeError, TypeError, Py4JError, ConnectionError, EOFError):
        return 0.0
