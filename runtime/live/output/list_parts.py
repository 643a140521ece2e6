"""The list of published parts: what lies in the output, with size and hash, a line for each.

It is appended to when a micro-batch has been published, and each commit says how long it was before
and the hash of that much: so a part that is changed, or gone, is found at the next start. Where
parts are kept for a while only, its first lines are of parts that have been let go; where they are
merged, a later line says which earlier parts of its folder it stands for. When most of the list is
of parts that are gone, the next commit goes on with a list without them.
"""

import bisect
import hashlib
import io
import json
import math
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
    the system last noted a change of it (ns). One that is merged stands for all of its folder from
    micro-batch `first` to `batch`; `level`: how often its rows have been merged; `written`: when
    the newest of them had been published (ns)."""

    place: str
    name: str
    batch: int
    size: int
    changed: int
    digest: str
    first: int = -1
    level: int = 0
    written: int = 0

    @property
    def folder(self) -> tuple[str, str]:
        """The place, and the folder there."""
        return self.place, self.name.rpartition("/")[0]

    @property
    def begin(self) -> int:
        """The first micro-batch that it has rows of."""
        return self.batch if self.first < 0 else self.first

    @property
    def age_ns(self) -> int:
        """When its newest rows were published."""
        return self.written or self.changed


@dataclass(slots=True)
class PartList:
    """The list, and the hash of all of it. `parts` has those of before this start (they are
    checked then, and not kept); `head` and `let_go` are those of the mark; `keep_ns`: how long
    parts are kept (None: for ever); `compact`: so many neighbours become one (None: they stay);
    `tails`: where parts are merged, those of each folder; `touched`: the folders of which parts
    have come since they were looked at; `ends`: the last micro-batch of each that is in a merged
    part; `dead`: the bytes of lines of parts that were merged into others."""

    file: Path
    length: int = 0
    hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    parts: tuple[PublishedPart, ...] = ()
    number: int = 0
    head: int = 0
    let_go: int = -1
    keep_ns: int | None = None
    compact: int | None = None
    tails: dict[tuple[str, str], list[PublishedPart]] = field(default_factory=dict)
    touched: dict[tuple[str, str], None] = field(default_factory=dict)
    ends: dict[tuple[str, str], int] = field(default_factory=dict)
    dead: int = 0
    _first: PublishedPart | None = None
    """The first part that is kept (None: not known)."""

    def mark(self) -> PartsMark:
        """Where it stands, for a commit."""
        return PartsMark(self.length, self.hash.hexdigest(), self.number, self.head, self.let_go)

    def is_old(self, part: PublishedPart, now_ns: int) -> bool:
        """Whether a part need not be kept any more."""
        return self.keep_ns is not None and part.age_ns < now_ns - self.keep_ns

    def add_all(self, parts: Sequence[PublishedPart]) -> None:
        """Append parts.

        Raises:
            RunError: the disk does not take it.
        """
        lines = b"".join(_line(part) for part in parts)
        try:
            with open(self.file, "ab") as opened:
                opened.write(lines)
        except OSError as error:
            raise unwritable(self.file, error) from error
        self.length += len(lines)
        self.hash.update(lines)
        self._note(parts)

    def _note(self, parts: Sequence[PublishedPart]) -> None:
        for part in parts:
            if part.first >= 0:
                self.ends[part.folder] = max(part.batch, self.ends.get(part.folder, -1))
            if self.compact is None:
                continue
            tail = self.tails.setdefault(part.folder, [])
            if part.first >= 0:
                merged = [p for p in tail if part.first <= p.begin and p.batch <= part.batch]
                self.dead += sum(len(_line(p)) for p in merged)
                place = tail.index(merged[0]) if merged else len(tail)
                tail[place : place + len(merged)] = [part]
            else:
                tail.append(part)
            self.touched[part.folder] = None

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
            for folder in {part.folder for part in gone} & self.tails.keys():
                names = {part.name for part in gone}
                self.tails[folder] = [p for p in self.tails[folder] if p.name not in names]
        self._first = None
        return gone

    def renew(self) -> Path | None:
        """Where most of it is of parts that have been let go: go on with a list without them; the
        file of the one before, which may be removed when a commit has said so (None: it stays).

        Raises:
            RunError: the disk does not take it.
        """
        gone = self.head + self.dead
        if gone < max(_LONG, self.length - gone):
            return None
        before, after = self.file, _name(self.file.parent, self.number + 1)
        try:
            with open(before, "rb") as opened:
                opened.seek(self.head)
                held = opened.read(self.length - self.head)
            kept = b"".join(_line(part) for part in _standing(_read_lines(held)))
            after.write_bytes(kept)
        except OSError as error:
            raise unwritable(after, error) from error
        self.file, self.number = after, self.number + 1
        self.length, self.head, self.hash = len(kept), 0, hashlib.sha256(kept)
        self.dead, self._first = 0, None
        return before


def _line(part: PublishedPart) -> bytes:
    held = [part.place, part.name, part.batch, part.size, part.changed, part.digest]
    if part.first >= 0:
        held += [part.first, part.level, part.written]
    return json.dumps(held).encode() + b"\n"


def _read_lines(lines: bytes) -> list[PublishedPart]:
    return [PublishedPart(*json.loads(line)) for line in io.BytesIO(lines)]


def _standing(parts: Sequence[PublishedPart]) -> list[PublishedPart]:
    """Those that have not been merged into a later one, in their order: where a folder's merged
    parts stood, the merged one is where its line is."""
    ranges: dict[tuple[str, str], list[tuple[int, int]]] = {}
    found: list[PublishedPart] = []
    for part in reversed(parts):
        held = ranges.setdefault(part.folder, [])
        place = bisect.bisect_right(held, (part.begin, math.inf)) - 1
        if place >= 0 and part.batch <= held[place][1]:
            continue
        found.append(part)
        if part.first >= 0:
            bisect.insort(held, (part.first, part.batch))
    return found[::-1]


def _name(checkpoint: Path, number: int) -> Path:
    return checkpoint / (f"parts-{number}.jsonl" if number else PARTS_FILE)


def open_parts(
    checkpoint: Path, mark: PartsMark, keep_ns: int | None = None, compact: int | None = None
) -> PartList:
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
    there = _read_lines(held[head:])
    parts = tuple(_standing(there))
    found = PartList(file, length, hashlib.sha256(held), parts, number, head, let_go, keep_ns)
    found.compact = compact
    found._note(sorted(parts, key=lambda part: part.batch))
    found.dead = length - head - sum(len(_line(part)) for part in parts)
    return found
