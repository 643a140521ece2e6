"""What a commit says beside the state: whose it is, what was read, and what has been published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class SparkLog:
    """Spark's half of a checkpoint when a micro-batch was committed.

    `batch`: Spark's number of it; `name`: what Spark calls the run (its file `metadata`);
    `offsets`: its files of offsets, of this micro-batch and the one before, by number; `files`: the
    hashes of its sources' logs that are in use, by their paths in Spark's folder; `folder`: that.
    """

    batch: int = 0
    name: str = ""
    offsets: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    folder: str = "spark"


class PartsMark(NamedTuple):
    """What a commit says of the list of published parts: its length in bytes, and the hash of that;
    which list it is, of those that were made anew; where in it the parts begin that are kept, and
    the last micro-batch of which one has been let go."""

    length: int = 0
    digest: str = ""
    number: int = 0
    head: int = 0
    let_go: int = -1


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """What a commit belongs to.

    `run`: the id of the run; `spark`: Spark's half; `sources`: the streams of each source, in
    Spark's order; `read`: what the micro-batch was made of, by stream: of each file its path, size,
    modification time and a hash of its ends; `parts`: the list of published parts before this
    micro-batch; `cut_us`: only rows before this time (µs) of Spark's micro-batch
    are taken in yet (None: all are); `bad`: by stream, the files of it that cannot be read;
    `watched`: of an intake, what each stream's source is (sign_source).
    """

    run: str
    spark: SparkLog = field(default_factory=SparkLog)
    sources: Sequence[Sequence[str]] = ()
    read: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    parts: PartsMark = field(default_factory=PartsMark)
    cut_us: int | None = None
    bad: Mapping[str, Sequence[str]] = field(default_factory=dict)
    watched: Mapping[str, str] = field(default_factory=dict)
