"""Nothing that a server of topics holds grows with the messages that it has read.

As with 30 days of four micro-batches a second, only that a day is some of them: the client of a
broker is one that gives messages from memory; the follower of topics, the intake and their files
are the ones of a server.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ontoweir.mappings.model.catalog import Stream
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.keep_spans import list_topics
from ontoweir.runtime.live.intake.model import IntakeOptions
from ontoweir.runtime.live.output import list_parts
from ontoweir.runtime.live.topics import follow_topics
from ontoweir.runtime.live.topics.follow_topics import TopicFollower
from ontoweir.runtime.live.topics.read_messages import Came, Messages
from tests.runtime.intake_cycles import make_member
from tests.runtime.live.intake.test_nothing_grows import _held

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 40
"""Micro-batches of a day."""
TOML = """[project]
[streams.s]
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 50
[streams.s.source]
format = "kafka"
options = { "kafka.bootstrap.servers" = "nowhere:1", subscribe = "s" }
[streams.s.columns]
k = { type = "int", min = 0, max = 4 }
a = "int"
"""
QUERIES = {
    "some": "SELECT s.k, s.a FROM s WHERE s.a > 50",
    "counts": "SELECT s.k, COUNT(*) AS n FROM s GROUP BY s.k",
    "keys": "SELECT DISTINCT s.k FROM s WHERE s.a < 30",
    "pairs": "SELECT x.k, y.a FROM s x, s y WHERE x.k = y.k AND x.ts < y.ts "
    "AND y.ts <= x.ts + INTERVAL '1' MINUTE AND x.a > 90",
}


class Broker:
    """In the place of a TopicClient: every poll brings two messages of each of two partitions, the
    second of them out of its domain, until there were so many. `most`: how many polls."""

    most = 0

    def __init__(
        self, streams: Sequence[Stream], reach: dict[str, dict[str, int]], ids: Any
    ) -> None:
        self.streams, self.ids, self.unanswered = streams, ids, None
        self.reach = reach or {"s": {"s/0": 0, "s/1": 0}}
        self.is_open, self.polls = True, 0

    @property
    def is_at_end(self) -> bool:
        return self.polls >= self.most

    def poll(self, patience: float) -> dict[str, Messages]:
        self.polls += 1
        found = Messages()
        for part in ("s/0", "s/1"):
            first = self.reach["s"][part]
            for offset in (first, first + 1):
                at = (BEGIN + timedelta(seconds=7 * offset)).isoformat()
                row = {"ts": at, "k": offset % 6, "a": offset * 31 % 101}
                found.keys.append(None)
                found.values.append(json.dumps(row).encode())
                found.sent.append(0)
                found.parts.append(part)
                found.offsets.append(offset)
            self.reach = {"s": {**self.reach["s"], part: first + 2}}
        return {"s": found}

    def close(self) -> None: ...


def open_project(folder: Path) -> Workspace:
    (folder / "ontoweir.toml").write_text(TOML)
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
    return Workspace(load_project(folder, environ={}))


def list_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """The files of the state, by folder, and their bytes. What the run forgets in the meantime, in
    a thread of its own, is not counted (`os.walk` passes over a folder that has gone)."""
    for place, _, names in os.walk(folder):
        for file in (Path(place, name) for name in names):
            with suppress(FileNotFoundError):
                yield file.relative_to(folder).parts[0], file.stat().st_size


def test_nothing_grows_with_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr(list_parts, "_LONG", 500)
    monkeypatch.setattr(follow_topics, "TopicClient", Broker)
    days = 60 if pytestconfig.getoption("--long") else 6
    monkeypatch.setattr(Broker, "most", days * DAY)
    workspace = open_project(tmp_path)
    spark: Any = object()  # reads nothing here
    failed: dict[str, Any] = {}
    options = IntakeOptions(
        tmp_path / "intake", (40, 1 << 20), 300, keep_ns=0, on_failed=failed.__setitem__
    )
    intake = Intake(options, spark)
    intake.restore(ticks=False)
    for name in QUERIES:
        intake.join(make_member(tmp_path, workspace, name))
    topics = {s: frozenset(held) for s, held in list_topics(intake.lanes).items()}
    intake.open(LiveSources(frozenset(), {"s": 0}, {}, [["s"]], topics=topics))
    intake.opens_here = True
    seen: list[tuple[int, int, int, int]] = []

    def take(came: Came, batch: int) -> None:
        intake.take(came, batch)
        if (batch + 1) % DAY == 0:
            sizes = list(list_sizes(tmp_path / "intake"))
            answers = len(list(list_sizes(tmp_path / "out")))
            seen.append((_held(intake), len(sizes), sum(size for _, size in sizes), answers))

    stream = workspace.project.catalog.streams["s"]
    follower = TopicFollower(intake.spark_folder, [stream], 0, take, once=True)
    follower.start()
    assert follower.awaitTermination(120)
    intake.close()
    assert not failed
    assert len(seen) == days
    members = [member for lane in intake.lanes for member in lane.members]
    assert len(members) == len(QUERIES)
    assert all(member.results for member in members)
    early, late = seen[: days // 2], seen[days // 2 :]
    for place, spare in enumerate((0, 3, 1 << 13, 3)):  # a pack is made anew now and then
        most = 1.05 * max(held[place] for held in early) + spare
        assert max(held[place] for held in late) <= most, seen
