"""The commits of an intake: the last one, and the next, made of what has changed since."""

import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ontoweir.errors import UsageError
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.state_tables import (
    decode_table,
    encode_table,
    tabulate_rejects,
)
from ontoweir.runtime.live.checkpoint.sync_files import Syncing
from ontoweir.runtime.live.checkpoint.table_changes import KeptTable
from ontoweir.runtime.live.intake.describe_lane import (
    NOTHING,
    describe_lane,
    describe_reach,
    has_begun,
    list_hashes,
)
from ontoweir.runtime.live.intake.model import Lane, LastOutput, Member, Parked
from ontoweir.runtime.live.intake.packs import Packs
from ontoweir.runtime.live.intake.save_intake import (
    IntakeCommit,
    commit_intake,
    drop_commits,
    last_commit,
    load_commit,
)
from ontoweir.runtime.live.intake.step_lanes import Stepped
from ontoweir.runtime.live.model.live_job import LiveState
from ontoweir.runtime.live.output.list_parts import PublishedPart
from ontoweir.runtime.live.output.publish_commit import PUBLISHED


@dataclass(frozen=True, slots=True)
class Saved:
    """A lane as the last commit has it: its members and their state, what is said of it, and its
    large tables."""

    members: tuple[Member, ...]
    state: LiveState
    shown: dict[str, Any]
    large: dict[str, KeptTable]


@dataclass(slots=True)
class Commits:
    """`folder`: of all commits; `number`: of the last (-1: none); `record`: what it belongs to;
    `packs`: what it refers to; `lanes`, `parked`: what it has of queries, as it was found."""

    folder: Path
    number: int
    record: CommitRecord
    packs: Packs
    parked: dict[str, Parked] = field(default_factory=dict)
    before: Packs | None = None
    saved: dict[str, Saved] = field(default_factory=dict)
    removals: list[Future[None]] = field(default_factory=list)
    last: IntakeCommit | None = None
    """What was committed last, without contents."""

    def commit(
        self,
        record: CommitRecord,
        lanes: Iterable[Lane],
        parked: Mapping[str, Parked],
        stepped: Stepped,
        syncing: Syncing,
    ) -> Path:
        """Commit what a step did, when that is on the disk which it refers to: its folder.

        Raises:
            RunError: the disk does not take it.
        """
        commit = IntakeCommit(self.number + 1, record)
        saved: dict[str, Saved] = {}
        shown = []
        for lane in lanes:
            first = lane.members[0].id
            known = self.saved.get(first)
            if known is None or known.members != lane.members or known.state is not lane.state:
                before = NOTHING if known is None else known.large
                known = Saved(lane.members, lane.state, *describe_lane(lane, commit, before))
            saved[first] = known
            shown.append({**known.shown, **describe_reach(lane, commit)})
            commit.used |= list_hashes(shown[-1])
        commit.lanes = shown
        commit.parked = [_show_parked(p) for p in parked.values()]
        for held in parked.values():
            commit.contents |= held.contents
            commit.used |= list_hashes(held.held)
            if held.last is not None:
                commit.used |= {h for h in (held.last.answers, held.last.rejects) if h is not None}
        commit.answers = [
            (m.id, m.name, commit.add(encode_table(rows))) for m, rows in stepped.answers
        ]
        commit.rejects = [
            ([m.id for m in members], commit.add(encode_table(tabulate_rejects(rejects))))
            for members, rejects in stepped.rejects
        ]
        place, packs = commit_intake(self.folder, self.packs, commit, syncing)
        wait(self.removals)
        kept = [packs, self.packs]
        self.before, self.packs, self.record, self.number = self.packs, packs, record, commit.number
        self.saved = saved
        self.last = replace(commit, contents={})
        self.removals = drop_commits(self.folder, kept)
        return place

    def find_unpublished(self, id_: str) -> LastOutput | None:
        """What the last commit has of a query that could not be published (None: nothing)."""
        return None if self.last is None else _find_last(self.last, id_, done=False)

    def find_rows(self, part: PublishedPart) -> "pa.Table | None":
        """The rows of a published part in its commit, while that is kept."""
        place = self.folder / f"{part.batch:012d}"
        try:
            commit, packs = load_commit(place)
        except UsageError:
            return None
        kind, _, owner = part.place.partition(":")
        if kind == "answers":
            found = [content for id_, _, content in commit.answers if id_ == owner]
        else:
            found = [content for ids, content in commit.rejects if owner in ids]
        return decode_table(packs.read(found[0])) if found else None


def mark_gap(parked: Mapping[str, Parked], streams: frozenset[str], gap: str) -> dict[str, Parked]:
    """Queries that do not run, by their ids: those that have begun one of some streams cannot go
    on, because of `gap`."""
    return {
        id_: replace(p, gap=gap) if p.gap is None and has_begun(p.held, streams) else p
        for id_, p in parked.items()
    }


def open_commits(folder: Path) -> Commits:
    """The commits of an intake, or none yet; all queries of the last one are parked.

    Raises:
        UsageError: it is damaged, or of another version.
    """
    place = last_commit(folder)
    if place is None:
        return Commits(folder, -1, CommitRecord(uuid.uuid4().hex), Packs(folder))
    commit, packs = load_commit(place)
    parked = {}
    for shown in commit.parked:
        last = None if shown["last"] is None else LastOutput(*shown["last"])
        found = Parked(shown["id"], shown["name"], shown["held"], shown["gap"], last=last)
        parked[found.id] = found
    done = (place / PUBLISHED).exists()
    for held in commit.lanes:
        for id_, name, _, _ in held["members"]:
            last = _find_last(commit, id_, done=done)
            parked[id_] = Parked(id_, name, held, last=last)
    return Commits(folder, commit.number, commit.record, packs, parked)


def _find_last(commit: IntakeCommit, id_: str, *, done: bool) -> LastOutput | None:
    answers = next((h for i, _, h in commit.answers if i == id_), None)
    rejects = next((h for ids, h in commit.rejects if id_ in ids), None)
    none = answers is None and rejects is None
    return None if none else LastOutput(commit.number, answers, rejects, done)


def _show_parked(parked: Parked) -> dict[str, Any]:
    last = parked.last
    shown = None if last is None else [last.number, last.answers, last.rejects, last.done]
    return {
        "id": parked.id,
        "name": parked.name,
        "held": parked.held,
        "gap": parked.gap,
        "last": shown,
    }


def park_lane(lane: Lane, gap: str | None = None) -> Parked:
    """A lane of one member as commits have it when that does not run."""
    (member,) = lane.members
    commit = IntakeCommit(-1, CommitRecord(""))
    held, _ = describe_lane(lane, commit)
    return Parked(member.id, member.name, held, gap, commit.contents)
