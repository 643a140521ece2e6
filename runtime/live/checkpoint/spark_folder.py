"""The layout of the folder in which Spark keeps the progress of a run.

    metadata                  what Spark calls the run
    offsets/<batch>           what a micro-batch reads: a version, settings (JSON), a line a source
    commits/<batch>           that it is done: a version, its watermark (JSON)
    sources/<source>/<entry>  what a source has listed: a version, a line of JSON for each file

Sources are numbered in the order in which the run reads them. An entry whose name ends in
`.compact` repeats those before it. A checkpoint has such folders next to its commits: `spark`, and
after a rotation `spark-1`, `spark-2` …
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

SPARK_VERSION = "v1"
NOTHING = "-"
"""The offset of a source of which nothing has been read yet."""
COMPACT = ".compact"
_PREFIX = "spark"


@dataclass(frozen=True, slots=True)
class SparkFolder:
    """A folder of Spark's, and the places in it."""

    path: Path

    @property
    def metadata(self) -> Path:
        """The file that says what Spark calls the run."""
        return self.path / "metadata"

    @property
    def offsets(self) -> Path:
        """The folder of offsets."""
        return self.path / "offsets"

    @property
    def commits(self) -> Path:
        """Spark's commits (not `commits` of our checkpoint)."""
        return self.path / "commits"

    @property
    def sources(self) -> Path:
        """The folder of the sources' logs."""
        return self.path / "sources"

    def offsets_of(self, batch: int) -> Path:
        """The offsets of a micro-batch."""
        return self.offsets / str(batch)

    def commit_of(self, batch: int) -> Path:
        """What says that a micro-batch is done."""
        return self.commits / str(batch)

    def entry_of(self, source: int, number: int) -> Path:
        """An entry of a source's log, compact or not."""
        file = self.sources / str(source) / str(number)
        return file if file.exists() else file.with_name(f"{number}{COMPACT}")

    def list_logs(self) -> list[str]:
        """The logs in use of all sources, by their paths in the folder: of each the last compact
        entry, and those after it.

        Raises:
            OSError: they cannot be listed.
        """
        used: list[str] = []
        if not self.sources.is_dir():
            return []
        for source in sorted(self.sources.iterdir()):
            numbers = {n: f for f in os.listdir(source) if (n := log_number(f)) is not None}
            compact = max((n for n, f in numbers.items() if f.endswith(COMPACT)), default=-1)
            place = str(source.relative_to(self.path))
            used += [os.path.join(place, f) for n, f in sorted(numbers.items()) if n >= compact]
        return used


@dataclass(frozen=True, slots=True)
class Offsets:
    """What a micro-batch reads. `settings`: JSON; `sources`: up to where each source is read."""

    version: str
    settings: str
    sources: Sequence[str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Offsets as Spark wrote them.

        Raises:
            IndexError: it has fewer than two lines.
        """
        lines = text.split("\n")
        return cls(lines[0], lines[1], tuple(lines[2:]))

    @property
    def text(self) -> str:
        """The offsets as Spark writes them."""
        return "\n".join([self.version, self.settings, *self.sources])

    def resize(self, count: int) -> "Offsets":
        """Offsets for so many sources: of one that is new, none yet."""
        missing = count - len(self.sources)
        return replace(self, sources=(*self.sources[:count], *[NOTHING] * missing))

    @property
    def watermark(self) -> int:
        """Spark's watermark (ms since 1970; 0: none)."""
        try:
            return int(json.loads(self.settings)["batchWatermarkMs"])
        except (ValueError, KeyError, TypeError):
            return 0


def list_spark_folders(checkpoint: Path) -> list[SparkFolder]:
    """Spark's folders of a checkpoint."""
    return [SparkFolder(place) for place in checkpoint.glob(f"{_PREFIX}*")]


def name_next(folder: str) -> str:
    """The name of the folder after one.

    >>> [name_next("spark"), name_next("spark-1")]
    ['spark-1', 'spark-2']
    """
    _, _, number = folder.partition("-")
    return f"{_PREFIX}-{int(number or 0) + 1}"


def log_number(name: str) -> int | None:
    """The number of an entry of a log (None: it is none).

    >>> [log_number(name) for name in ("7", "99.compact", ".7.crc")]
    [7, 99, None]
    """
    text = name.removesuffix(COMPACT)
    return int(text) if text.isascii() and text.isdigit() else None


def source_of(log: str) -> tuple[str, int]:
    """The source of an entry and its number, by its path in Spark's folder.

    >>> source_of("sources/0/99.compact")
    ('0', 99)
    """
    _, source, name = log.split("/")
    number = log_number(name)
    return source, -1 if number is None else number


def read_entries(log: Path) -> Iterator[str]:
    """The lines of an entry of a source's log: one for each file, of JSON.

    Raises:
        OSError: it cannot be read.
    """
    with open(log, encoding="utf-8") as opened:
        next(opened, None)
        for line in opened:
            if line.strip():
                yield line


def commit_text(watermark: int) -> str:
    """What says that a micro-batch is done, with its watermark (ms since 1970)."""
    return f'{SPARK_VERSION}\n{{"nextBatchWatermarkMs":{watermark}}}'


def is_commit(file: Path) -> bool:
    """Whether a file says that a micro-batch is done."""
    try:
        version, content = file.read_text(encoding="utf-8").splitlines()[:2]
        return version == SPARK_VERSION and isinstance(json.loads(content), dict)
    except (OSError, ValueError):
        return False
