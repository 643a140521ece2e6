"""The list of published parts: what lies in the output, with size and hash, a line for each.

It is appended to when a micro-batch has been published, and each commit says how long it was before
and the hash of that much: so a part that is changed, or gone, is found at the next start. Where
parts are kept for a while only, its first lines are of parts that have been let go; when they are
most of it, the next commit goes on with a list without them.
"""

import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ontoweir.errors import Source, UsageError
from ontoweir.runtime.live.checkpoint.commit_record import PartsMark
from ontoweir.runtime.live.checkpoint.restore_spark import unwritable

PARTS_FILE = "parts.jsonl"
_LONG = 1 << 20
"""A shorter list is not made anew."""


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
    checked then, and not kept); `head` and `let_go` are those of the mark; `keep_ns`: how long
    parts are kept (None: for ever)."""

    file: Path
    length: int = 0
    hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    parts: tuple[PublishedPart, ...] = ()
    number: int = 0
    head: int = 0
    let_go: int = -1
    keep_ns: int | None = None
    _first: PublishedPart | None = None
    """The first part that is kept (None: not known)."""

    def mark(self) -> PartsMark:
        """Where it stands, for a commit."""
        return PartsMark(self.length, self.hash.hexdigest(), self.number, self.head, self.let_go)

    def is_old(self, part: PublishedPart, now_ns: int) -> bool:
        """Whether a part need not be kept any more."""
        return self.keep_ns is not None and part.changed < now_ns - self.keep_ns

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

    def drop_old(self, now_ns: int, most: int) -> list[PublishedPart]:
        """Let the oldest parts go that need not be kept, at most so many, up to the first that
        must be: their files may be removed when a commit has said so.

        Raises:
            RunError: the list cannot be read.
        """
        if self._first is not None and not self.is_old(self._first, now_ns):
            return []
        gone: list[PublishedPart] = []
        try:
            with open(self.file, "rb") as opened:
                opened.seek(self.head)
                while self.head < self.length and len(gone) < most:
                    line = opened.readline()
                    self._first = PublishedPart(*json.loads(line))
                    if not self.is_old(self._first, now_ns):
                        return gone
                    gone.append(self._first)
                    self.head += len(line)
        except FileNotFoundError:
            return []  # nothing has been published yet
        except OSError as error:
            raise unwritable(self.file, error) from error
        finally:
            self.let_go = max([self.let_go, *(part.batch for part in gone)])
        self._first = None
        return gone

    def renew(self) -> Path | None:
        """Where most of it is of parts that have been let go: go on with a list without them; the
        file of the one before, which may be removed when a commit has said so (None: it stays).

        Raises:
            RunError: the disk does not take it.
        """
        if self.head < max(_LONG, self.length - self.head):
            return None
        before, after = self.file, _name(self.file.parent, self.number + 1)
        try:
            with open(before, "rb") as opened:
                opened.seek(self.head)
                kept = opened.read(self.length - self.head)
            after.write_bytes(kept)
        except OSError as error:
            raise unwritable(after, error) from error
        self.file, self.number = after, self.number + 1
        self.length, self.head, self.hash = len(kept), 0, hashlib.sha256(kept)
        return before


def _name(checkpoint: Path, number: int) -> Path:
    return checkpoint / (f"parts-{number}.jsonl" if number else PARTS_FILE)


def open_parts(checkpoint: Path, mark: PartsMark, keep_ns: int | None = None) -> PartList:
    """The list as it was at a commit; what was appended since is cut off: it is published again.
    Lists before it, and one that no commit has begun, are removed.

    Raises:
        UsageError: it is not what it was.
        RunError: the disk does not take it.
    """
    length, digest, number, head, let_go = mark
    file = _name(checkpoint, number)
    try:
        content = file.read_bytes() if file.exists() else b""
        held = content[:length]
        if len(held) < length or (length and hashlib.sha256(held).hexdigest() != digest):
            raise UsageError(
                f"the checkpoint is damaged: {file.name} is not what was written",
                why="it says which answers have been published",
                fix="restore the whole checkpoint folder, or start with a new one and replay the "
                "history",
                source=Source(str(file)),
            )
        for other in {*checkpoint.glob("parts-*.jsonl"), checkpoint / PARTS_FILE} - {file}:
            other.unlink(missing_ok=True)
        if len(content) > length:
            os.truncate(file, length)
    except OSError as error:
        raise unwritable(file, error) from error
    parts = tuple(PublishedPart(*json.loads(line)) for line in io.BytesIO(held[head:]))
    return PartList(file, length, hashlib.sha256(held), parts, number, head, let_go, keep_ns)
