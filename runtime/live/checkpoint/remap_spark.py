"""Begin a new folder of Spark's for other sources: those that stay go on where they are."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ontoweir.runtime.live.checkpoint.commit_record import SparkLog
from ontoweir.runtime.live.checkpoint.record_spark import hash_file
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable
from ontoweir.runtime.live.checkpoint.spark_folder import (
    NOTHING,
    Offsets,
    SparkFolder,
    commit_text,
    name_next,
    source_of,
)
from ontoweir.runtime.live.checkpoint.sync_files import sync_files


def remap_spark(checkpoint: Path, log: SparkLog, kept: Sequence[int | None]) -> SparkLog:
    """Make the new folder, durably; it counts when a commit says so. Micro-batches keep their
    numbers, and entries of logs theirs.

    Args:
        checkpoint: the run's.
        log: Spark's half at the last commit.
        kept: of each source of the new folder, which of the old it is (None: it is new).

    Raises:
        RunError: the disk does not take it.
    """
    old = SparkFolder(checkpoint / log.folder)
    new = SparkFolder(checkpoint / name_next(log.folder))
    numbers = {str(n): place for place, n in enumerate(kept) if n is not None}
    try:
        shutil.rmtree(new.path, ignore_errors=True)
        for folder in (new.offsets, new.commits, new.sources):
            folder.mkdir(parents=True)
        named = {source_of(name)[0] for name in log.files}
        for source, place in numbers.items():
            held = old.sources / source
            if source not in named and held.is_dir():  # no log of files
                shutil.copytree(held, new.sources / str(place))
        for name in log.files:
            target = numbers.get(source_of(name)[0])
            if target is not None:
                copy = new.sources / str(target) / os.path.basename(name)
                copy.parent.mkdir(exist_ok=True)
                shutil.copyfile(old.path / name, copy)
        texts = {}
        for number, text in log.offsets.items():
            before = Offsets.parse(text)
            lines = [NOTHING if n is None else before.sources[n] for n in kept]
            texts[number] = replace(before, sources=lines).text
            new.offsets_of(int(number)).write_text(texts[number], encoding="utf-8")
            done = commit_text(before.watermark)
            new.commit_of(int(number)).write_text(done, encoding="utf-8")
        new.metadata.write_text(log.name, encoding="utf-8")
        sync_files([*new.path.rglob("*"), new.path, checkpoint])
        hashes = {name: hash_file(new.path / name) for name in new.list_logs()}
    except OSError as error:
        raise unwritable(new.path, error) from error
    return SparkLog(log.batch, log.name, texts, hashes, new.path.name)
