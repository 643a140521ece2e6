"""Contents of commits by their hashes: each is written once, and commits refer to it.

A commit has one file, its pack, with what no earlier one has. So the size of a commit follows what
has changed. When most of the packs in use is no longer referred to, the next commit writes all that
is in use anew (a base), and the old packs go.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ontoweir.errors import Source, UsageError

PACK = "pack"
_SPARE = 1 << 20
"""Bytes that may be unused at any rate."""

Places = dict[str, tuple[int, int, int]]
"""By hash: the commit, and in its pack the first byte and how many there are."""


@dataclass(slots=True)
class Packs:
    """The contents that the last commit refers to."""

    folder: Path
    places: Places = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    """Of the packs in use, by their commits."""

    def lay_out(
        self, commit: int, fresh: Mapping[str, bytes], used: Collection[str]
    ) -> tuple[bytes, "Packs"]:
        """The pack of a commit, and what is in use with it.

        Args:
            commit: its number.
            fresh: contents by hash, which may be there already.
            used: the hashes of all contents that it refers to.

        Raises:
            UsageError: a pack is damaged.
            OSError: a pack cannot be read.
        """
        kept = {h: self.places[h] for h in used if h in self.places}
        numbers = {place[0] for place in kept.values()}
        live, all_of = sum(p[2] for p in kept.values()), sum(self.sizes[n] for n in numbers)
        if all_of > 2 * live + _SPARE:
            fresh = {**{h: self.read(h) for h in kept}, **fresh}
            kept, numbers = {}, set()
        parts: list[bytes] = []
        start = 0
        for content_hash in sorted(used):
            if content_hash in kept:
                continue
            content = fresh[content_hash]
            kept[content_hash] = (commit, start, len(content))
            parts.append(content)
            start += len(content)
        sizes = {n: self.sizes[n] for n in numbers} | ({commit: start} if start else {})
        return b"".join(parts), Packs(self.folder, kept, sizes)

    def read(self, content_hash: str) -> bytes:
        """A content.

        Raises:
            UsageError: it is damaged, or gone.
        """
        commit, start, length = self.places[content_hash]
        file = self.folder / f"{commit:012d}" / PACK
        try:
            with open(file, "rb") as opened:
                opened.seek(start)
                content = opened.read(length)
        except OSError as error:
            raise _damaged(file, f"it cannot be read ({error.strerror or error})") from error
        if hash_content(content) != content_hash:
            raise _damaged(file, "it is not what was written")
        return content


def hash_content(content: bytes) -> str:
    """The hash that a content is found by."""
    return hashlib.sha256(content).hexdigest()


def _damaged(file: Path, what: str) -> UsageError:
    return UsageError(
        f"the checkpoint is damaged: {what}",
        why="the state of a run is trusted only whole",
        fix="restore it from a copy; or remove the intake's folder, register the queries again "
        "with --replace, and replay the history",
        source=Source(str(file)),
    )
