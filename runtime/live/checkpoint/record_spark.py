"""Record Spark's half of a checkpoint for a commit: offsets as they are, logs of files by hash."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from ontoweir.errors import RunError, Source
from ontoweir.runtime.live.checkpoint.commit_record import SparkLog
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder


@dataclass(slots=True)
class SparkRecorder:
    """Follows Spark's folder of a run from micro-batch to micro-batch.

    `files`: hashes of the logs in use, which are on the disk; `name`: what Spark calls the run.
    """

    spark: SparkFolder
    files: dict[str, str] = field(default_factory=dict)
    name: str = ""
    offsets: dict[str, str] = field(default_factory=dict)

    def record(self, batch: int) -> tuple[SparkLog, list[Path]]:
        """Spark's half at a micro-batch, and what of it must be on the disk before that counts.

        Raises:
            RunError: a file is missing.
        """
        fresh: list[Path] = []
        try:
            if not self.name:
                self.name = self.spark.metadata.read_text(encoding="utf-8")
                fresh.append(self.spark.metadata)
            before = self.offsets.get(str(batch - 1))
            if before is None and batch > 0:
                before = self._offsets(batch - 1)
            texts = {} if before is None else {str(batch - 1): before}
            self.offsets = {**texts, str(batch): self._offsets(batch)}
            used: dict[str, str] = {}
            for name in self.spark.list_logs():
                known = self.files.get(name)
                if known is None:
                    fresh.append(self.spark.path / name)
                    known = hash_file(self.spark.path / name)
                used[name] = known
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(
                f"Spark's log of micro-batch {batch} cannot be read: {error}",
                why="a commit records what was read",
                fix="mend the disk, and start again: what was committed is intact",
                source=Source(str(self.spark.path)),
            ) from error
        self.files = used
        folders = {f.parent for f in fresh}
        folders |= {f.parent for f in folders} | ({self.spark.path} if fresh else set())
        return SparkLog(batch, self.name, dict(self.offsets), used, self.spark.path.name), [
            *fresh,
            *sorted(folders),
        ]

    def _offsets(self, batch: int) -> str:
        return self.spark.offsets_of(batch).read_text(encoding="utf-8")


def hash_file(file: Path) -> str:
    """The hash of a file's content.

    Raises:
        OSError: it cannot be read.
    """
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
