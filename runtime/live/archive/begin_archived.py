"""Begin a run whose files have all been moved to archives: Spark, which lists folders, finds none.

So the first micro-batch is made here, of no files: whoever begins reads what the archives have.
"""

import uuid
from collections.abc import Iterable

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.arrivals.read_stream import is_listed
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    SPARK_VERSION,
    Offsets,
    SparkFolder,
    commit_text,
)
from ontoweir.runtime.located.locate_source import list_archived, list_here

_SETTINGS = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'


def is_archived(streams: Iterable[Stream]) -> bool:
    """Whether streams come in files, of which some are in archives, and none in the folders."""
    streams = list(streams)
    if not all(is_listed(stream) for stream in streams):
        return False
    archived = any(any(True for _ in list_archived(stream.data)) for stream in streams)
    return archived and not any(any(True for _ in list_here(s.data)) for s in streams)


def begin_archived(folder: SparkFolder, sources: LiveSources) -> None:
    """Write Spark's half of a micro-batch 0 that brings no files: the next one is Spark's.

    Raises:
        RunError: the disk does not take it.
    """
    count = len(sources.order)
    offsets = [NOTHING] * count
    try:
        for place in (folder.offsets, folder.commits, folder.sources):
            place.mkdir(parents=True, exist_ok=True)
        for number in sorted(sources.numbers[stream] for stream in sources.listed):
            entry = folder.sources / str(number) / "0"
            entry.parent.mkdir(exist_ok=True)
            entry.write_text(SPARK_VERSION, encoding="utf-8")
            offsets[number] = '{"logOffset":0}'
        folder.metadata.write_text(f'{{"id":"{uuid.uuid4()}"}}', encoding="utf-8")
        text = Offsets(SPARK_VERSION, _SETTINGS, offsets).text
        folder.offsets_of(0).write_text(text, encoding="utf-8")
        folder.commit_of(0).write_text(commit_text(0), encoding="utf-8")
    except OSError as error:
        raise unwritable(folder.path, error) from error
