"""Sinks that replace rows by key: after every micro-batch they have what holds, nothing else."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.live.check_new_run import refuse_answers_of_others
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.sinks.kafka import KafkaSink
from ontoweir.runtime.live.output.sinks.memory import MemorySink
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from ontoweir.runtime.live.output.sinks.table import TableSink
from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

KEY = ("road", "lane")
Change = tuple[str, str | None, int, float]
"""`+` or `-`, the key, and a value."""


def make_table(changes: list[Change], *, op: bool) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "road": pa.array([c[1] for c in changes], pa.string()),
        "lane": pa.array([c[2] for c in changes], pa.int64()),
        "mean": pa.array([c[3] for c in changes], pa.float64()),
    }
    if op:
        columns["op"] = pa.array([c[0] for c in changes], pa.string())
    return pa.table(columns)


def draw_batches(random: Random, *, op: bool) -> list[list[Change]]:
    """Changes as a run makes them: a row is taken back before another of its key comes."""
    held: dict[tuple[str | None, int], float] = {}
    batches = []
    for _ in range(random.randint(1, 5)):
        batch: list[Change] = []
        for _ in range(random.randint(0, 8)):
            key = random.choice(["A", "B", None]), random.randint(0, 1)
            if op and key in held:
                batch.append(("-", *key, held.pop(key)))
                if random.random() < 0.4:
                    continue
            held[key] = float(random.randint(0, 99))
            batch.append(("+", *key, held[key]))
        batches.append(batch)
    return batches


def rows_of(table: pa.Table) -> dict[tuple[str | None, int], float]:
    found = {(r["road"], r["lane"]): r["mean"] for r in table.to_pylist()}
    assert len(found) == table.num_rows
    return found


def replay(batch: list[Change], held: dict[tuple[str | None, int], float]) -> None:
    for op, road, lane, mean in batch:
        if op == "+":
            held[road, lane] = mean
        else:
            assert held.pop((road, lane)) == mean


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 30), op=st.booleans())
def test_a_table_has_what_holds_after_each_micro_batch(
    tmp_path_factory: pytest.TempPathFactory, seed: int, op: bool
) -> None:
    random = Random(seed)
    sink = TableSink(tmp_path_factory.mktemp("t"), {"q": KEY})
    held: dict[tuple[str | None, int], float] = {}
    for number, batch in enumerate(draw_batches(random, op=op)):
        table = make_table(batch, op=op)
        replay(batch, held)
        for _ in range(random.randint(1, 2)):  # again, after a crash
            sink.publish("q", number, table, None)
        found = pq.read_table(sink.folder / "q.parquet")
        assert rows_of(found) == held
        assert found.column_names == ["road", "lane", "mean"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 30), op=st.booleans())
def test_a_compacted_topic_has_what_holds(seed: int, op: bool) -> None:
    random = Random(seed)
    sink = KafkaSink("t", {}, {"q": KEY})
    topic: dict[str, bytes] = {}
    held: dict[tuple[str | None, int], float] = {}
    for batch in draw_batches(random, op=op):
        replay(batch, held)
        for _ in range(random.randint(1, 2)):
            sent = sink._list_messages("q", make_table(batch, op=op))
            assert len({key for key, _ in sent}) == len(sent)
            for key, value in sent:
                assert key is not None
                topic.pop(key, None)
                if value is not None:
                    topic[key] = value
        rows = {tuple(json.loads(k).values()): json.loads(v)["mean"] for k, v in topic.items()}
        assert rows == held


def test_without_group_by_there_is_one_row() -> None:
    table = pa.table({"n": [1, 1, 2], "op": ["+", "-", "+"]})
    reduced = reduce_changes(table, ())
    assert (reduced.rows.to_pylist(), reduced.holds.to_pylist()) == ([{"n": 2}], [True])
    assert reduce_changes(table.slice(0, 0), ()).rows.num_rows == 0
    gone = reduce_changes(table.slice(0, 2), ())
    assert gone.holds.to_pylist() == [False]


def make_query(columns: list[str], group: tuple[str, ...] | None, **feed: bool) -> Any:
    """A running query, as far as sinks ask."""

    def make(**fields: Any) -> Any:
        return type("Made", (), {"only": None, **fields})()

    times = ("at", "until")
    kinds = [pa.timestamp("us") if name in times else pa.int64() for name in columns]
    schema = pa.schema(list(zip(columns, kinds, strict=True)))
    aggregates = None if group is None else make(aggregation=make(told=make(row=group)))
    made = make(**feed) if feed else None
    return make(name="q", schema=schema, work=make(aggregates=aggregates), feed=made)


@pytest.mark.parametrize(
    "query",
    [
        make_query(["a", "at"], None),
        make_query(["n", "at"], ("road",)),
        make_query(["road", "n", "at", "until"], ("road",)),
        make_query(["road", "n", "at"], ("road",), snapshots=True),
    ],
)
def test_answers_without_a_key_are_refused(query: Any, tmp_path: Path) -> None:
    for sink in (TableSink(tmp_path), KafkaSink("t", {}, {})):
        with pytest.raises(UsageError, match="the answers of q have no key"):
            bind_sink(sink, query)
    bind_sink(KafkaSink("t", {}), query)
    bind_sink(MemorySink(), query)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (make_query(["road", "n", "at"], ("road",)), ("road",)),
        (make_query(["road", "n", "op", "at"], ("road",), snapshots=False), ("road",)),
        (make_query(["n", "at"], ()), ()),
    ],
)
def test_groups_have_a_key(query: Any, key: tuple[str, ...], tmp_path: Path) -> None:
    sink = TableSink(tmp_path)
    bind_sink(sink, query)
    assert sink.keys == {"q": key}


def test_the_option_of_kafka() -> None:
    given: Mapping[str, str] = {"topic": "t", "kafka.bootstrap.servers": "h:1"}
    added = make_sink("kafka", Path("."), given)
    replaced = make_sink("kafka", Path("."), {**given, "upsert": "true"})
    assert isinstance(added, KafkaSink)
    assert isinstance(replaced, KafkaSink)
    assert (added.keys, replaced.keys) == (None, {})
    assert "upsert" not in replaced.options
    with pytest.raises(UsageError, match="upsert"):
        make_sink("kafka", Path("."), {**given, "upsert": "yes"})


def test_a_table_of_another_run_is_refused(tmp_path: Path) -> None:
    sink = TableSink(tmp_path / "a", {"q": KEY})
    refuse_answers_of_others(["q"], tmp_path / "out", sink)
    sink.publish("q", 0, make_table([("+", "A", 1, 2.0)], op=False), None)
    with pytest.raises(UsageError, match="is of another run"):
        refuse_answers_of_others(["q"], tmp_path / "out", sink)


def test_a_table_is_on_the_disk_when_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit says then that it is published: after a power cut nobody would bring it up."""
    done: list[str] = []
    replace, sync = os.replace, os.fsync

    def note_replace(source: str | Path, target: str | Path) -> None:
        done.append(f"replaced {Path(target).name}")
        replace(source, target)

    def note_sync(handle: int) -> None:
        done.append(f"synced {Path(os.readlink(f'/proc/self/fd/{handle}')).name}")
        sync(handle)

    monkeypatch.setattr(os, "replace", note_replace)
    monkeypatch.setattr(os, "fsync", note_sync)
    sink = TableSink(tmp_path / "answers", {"q": KEY})
    sink.publish("q", 0, make_table([("+", "A", 1, 2.0)], op=False), None)
    assert done[:2] == ["synced .q.parquet.new", "replaced q.parquet"]
    assert set(done[2:]) == {"synced answers", f"synced {tmp_path.name}"}


def test_a_damaged_table_is_not_replaced(tmp_path: Path) -> None:
    sink = TableSink(tmp_path, {"q": KEY})
    table = make_table([("+", "A", 1, 2.0)], op=False)
    for content in (b"no Parquet", None):
        place = tmp_path / "q.parquet"
        if content is None:
            pq.write_table(table, place)  # a file of someone else: without a number
        else:
            place.write_bytes(content)
        before = place.read_bytes()
        with pytest.raises(RunError, match="cannot be brought up to date"):
            replace(sink).publish("q", 1, table, None)
        assert place.read_bytes() == before
