"""Commit what an intake has done, and find it again: a manifest and a pack for each commit."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import damaged, read_record
from ontoweir.runtime.live.checkpoint.sync_files import (
    Syncing,
    disk_threads,
    sync_file,
    sync_files,
)
from ontoweir.runtime.live.intake.packs import PACK, Packs, hash_content

INTAKE_VERSION = 1
_MANIFEST = "manifest"
_KEPT = 2
"""How many commits can be published again."""


@dataclass(slots=True)
class IntakeCommit:
    """What a commit says.

    `record`: run, Spark's half, published parts; `lanes`: of each its members, state and reach;
    `parked`: queries that do not run; `answers`: of members (id, name, hash of the rows);
    `rejects`: of members (ids, hash of the rows); `contents`: what they refer to that
    may be new, by hash; `used`: the hashes of all that they refer to.
    """

    number: int
    record: CommitRecord
    lanes: Sequence[Mapping[str, Any]] = ()
    parked: Sequence[Mapping[str, Any]] = ()
    answers: Sequence[tuple[str, str, str]] = ()
    rejects: Sequence[tuple[Sequence[str], str]] = ()
    contents: dict[str, bytes] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def add(self, content: bytes) -> str:
        """Refer to a content: its hash."""
        found = hash_content(content)
        self.contents[found] = content
        self.used.add(found)
        return found


def commit_intake(
    folder: Path, packs: Packs, commit: IntakeCommit, syncing: Syncing | None = None
) -> tuple[Path, Packs]:
    """Write a commit; from then on what it says has happened.

    Args:
        folder: of all commits.
        packs: what the commit before refers to.
        commit: what it says.
        syncing: what must be on the disk before.

    Returns:
        its folder, and what it refers to.

    Raises:
        RunError: the disk does not take it; nothing is half written.
    """
    place = folder / f"{commit.number:012d}"
    scratch = folder / f".{commit.number:012d}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        pack, after = packs.lay_out(commit.number, commit.contents, commit.used)
        (scratch / PACK).write_bytes(pack)
        (scratch / _MANIFEST).write_bytes(_seal(commit, after))
        sync_files([scratch, scratch / PACK, scratch / _MANIFEST])
        if syncing is not None:
            syncing.finish()
        os.rename(scratch, place)
        sync_file(folder)
    except OSError as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise RunError(
            f"commit {commit.number} cannot be written to {folder}: {error.strerror or error}",
            why="the state of the queries, their answers and Spark's offsets belong together",
            fix="make room, or mend the disk, and start again: what was committed is intact",
        ) from error
    return place, after


def _seal(commit: IntakeCommit, packs: Packs) -> bytes:
    held = {
        "version": INTAKE_VERSION,
        "number": commit.number,
        "record": asdict(commit.record),
        "lanes": list(commit.lanes),
        "parked": list(commit.parked),
        "answers": list(commit.answers),
        "rejects": list(commit.rejects),
        "places": packs.places,
        "sizes": packs.sizes,
    }
    text = json.dumps(held).encode()
    return text + b"\n" + hash_content(text).encode()


def drop_commits(folder: Path, packs: Sequence[Packs]) -> "list[Future[None]]":
    """Remove the folders of commits that neither the last ones are nor have what these refer to."""
    there = sorted(folder.glob("[0-9]*"))
    used = {number for held in packs for number in held.sizes}
    old = [place for place in there[:-_KEPT] if int(place.name) not in used]
    return [disk_threads().submit(shutil.rmtree, place, ignore_errors=True) for place in old]


def last_commit(folder: Path) -> Path | None:
    """The folder of the last commit."""
    there = sorted(folder.glob("[0-9]*"))
    return there[-1] if there else None


def load_commit(place: Path) -> tuple[IntakeCommit, Packs]:
    """A commit, and what it refers to.

    Raises:
        UsageError: it is damaged, or of another version.
    """
    source = Source(str(place / _MANIFEST))
    try:
        text, _, seal = (place / _MANIFEST).read_bytes().rpartition(b"\n")
        held = json.loads(text)
        version = held["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged("the manifest of a commit cannot be read", source) from error
    if version != INTAKE_VERSION:
        raise UsageError(
            f"the intake has version {version}, this ontoweir writes {INTAKE_VERSION}",
            why="the state of queries is read back exactly as it was written",
            fix="serve with the version that began it; or remove its folder, and register the "
            "queries again with --replace",
            source=source,
        )
    if hash_content(text) != seal.decode() or place.name != f"{held['number']:012d}":
        raise damaged("the manifest of a commit is not what was written", source)
    places = {h: (int(p[0]), int(p[1]), int(p[2])) for h, p in held["places"].items()}
    packs = Packs(place.parent, places, {int(n): size for n, size in held["sizes"].items()})
    commit = IntakeCommit(
        held["number"],
        read_record(held["record"]),
        held["lanes"],
        held["parked"],
        [(a[0], a[1], a[2]) for a in held["answers"]],
        [(r[0], r[1]) for r in held["rejects"]],
        used=set(places),
    )
    return commit, packs
