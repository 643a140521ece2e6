"""The list of published parts: what lies in the output, with size and hash, a line for each.

It is appended to when a micro-batch has been published, and each commit says how long it was before
and the hash of that much: so a part that is changed, or gone, is found at the next start.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable

PARTS_FILE = "parts.jsonl"


@dataclass(frozen=True, slots=True)
class PublishedPart:
    """A published file: `place` is "answers" or "rejects", `name` its path there; `changed`: when
    the system last noted a change of it (ns)."""

    place: str
    name: str
    batch: int
    size: int
    changed: int
    digest: str


@dataclass(slots=True)
class PartList:
    """The list, and the hash of all of it. `parts` has those of before this start (they are
    checked then, and not kept)."""

    file: Path
    length: int = 0
    hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    parts: tuple[PublishedPart, ...] = ()

    def mark(self) -> tuple[int, str]:
        """Its length and hash, for a commit."""
        return self.length, self.hash.hexdigest()

    def add_all(self, parts: Sequence[PublishedPart]) -> None:
        """Append parts.

        Raises:
            RunError: the disk does not take it.
        """
        fields = [[p.place, p.name, p.batch, p.size, p.changed, p.digest] for p in parts]
        lines = b"".join(json.dumps(held).encode() + b"\n" for held in fields)
        try:
            with open(self.file, "ab") as opened:
                opened.write(lines)
        except OSError as error:
            raise unwritable(self.file, error) from error
        self.length += len(lines)
        self.hash.update(lines)


def open_parts(checkpoint: Path, mark: tuple[int, str]) -> PartList:
    """The list as it was at a commit; what was appended since is cut off: it is published again.

    Raises:
        UsageError: it is not what it was.
        RunError: the disk does not take it.
    """
    file = checkpoint / PARTS_FILE
    length, digest = mark
    try:
        content = file.read_bytes() if file.exists() else b""
        held = content[:length]
        if len(held) < length or (length and hashlib.sha256(held).hexdigest() != digest):
            raise UsageError(
                f"the checkpoint is damaged: {PARTS_FILE} is not what was written",
                why="it says which answers have been published",
                fix="restore the whole checkpoint folder, or start with a new one and replay the "
                "history",
                source=Source(str(file)),
            )
        if len(content) > length:
            os.truncate(file, length)
    except OSError as error:
        raise unwritable(file, error) from error
    parts = tuple(PublishedPart(*json.loads(line)) for line in held.splitlines())
    return PartList(file, length, hashlib.sha256(held), parts)
