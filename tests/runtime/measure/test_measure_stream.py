"""What was put into generated streams is found again."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.mappings.model.catalog import (
    Column,
    DataSource,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.runtime.measure.count_lateness import count_lateness
from ontoweir.runtime.measure.measure_stream import measure_stream
from ontoweir.runtime.measure.measured import MeasuredLateness, MeasuredStream
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.list_pieces import list_pieces

SECOND = 1_000_000
COLUMNS = (
    Column("id", IntType()),
    Column("sensor", IntType()),
    Column("kind", StringType()),
    Column("value", FloatType()),
)


def _measure(
    folder: Path, table: pa.Table, *, keys: tuple[tuple[str, ...], ...] = (), rows: int = 1000
) -> MeasuredStream:
    file = str(folder / "s.parquet")
    pq.write_table(table, file, row_group_size=rows)
    there = tuple(c for c in COLUMNS if c.name in table.column_names)
    stream = Stream("S", DataSource("parquet", file), "ts", SECOND, None, there, keys=keys)
    names = tuple(c.name for c in there)
    pieces = list_pieces([file], stream, (*names, "ts"), start_us=None, stop_us=None)
    statics = {
        ("sensors", "id"): pa.array(range(100), pa.int64()),
        ("kinds", "name"): pa.array(["a"]),
    }
    return measure_stream(History(stream, names, pieces, False), statics)


def _table(seconds: "list[int] | np.ndarray", **columns: object) -> pa.Table:
    stamps = pa.array([s * SECOND for s in seconds], pa.int64())
    return pa.table({"ts": stamps, **columns})


@pytest.mark.many(3)
@pytest.mark.parametrize("seed", range(20))
def test_what_was_planted_is_found(seed: int, tmp_path: Path) -> None:
    draw, random = np.random.default_rng(seed), Random(seed)
    sensors, rate, lateness = random.randint(5, 60), random.randint(1, 5), random.randint(0, 40)
    step, count = random.choice([1, 5, 60]), 4000
    seconds = np.arange(count) // rate * step
    sensor = np.concatenate(
        [draw.choice(sensors, rate, replace=False) for _ in range(count // rate + 1)]
    )[:count]
    order = np.argsort(seconds + draw.integers(0, lateness + 1, count) * step, kind="stable")
    reach, behind = 0, [0]
    for second in seconds[order].tolist():
        behind.append(reach - second)
        reach = max(reach, second)
    table = _table(
        seconds[order],
        id=draw.permutation(count),
        sensor=sensor[order],
        kind=pa.array(["a", "b"]).take(pa.array(draw.integers(0, 2, count))),
        value=draw.normal(size=count),
    )
    found = _measure(tmp_path, table, rows=random.choice([7, 500, 5000]))
    assert found.lateness.greatest_us == max(behind) * SECOND
    assert found.lateness.count_late(0) == sum(b > 0 for b in behind)
    assert (found.rate, found.gap_us) == (rate, step * SECOND)
    assert found.step_us is not None
    assert found.step_us == step * SECOND
    assert found.whole_keys == ("id",)
    assert ("sensor",) in found.keys
    assert found.references == {"sensor": (("sensors", "id"),)}
    assert found.columns["kind"].values == ("a", "b")
    assert found.columns["sensor"].minimum == int(sensor.min())
    assert found.columns["sensor"].distinct == len(set(sensor.tolist()))
    assert found.columns["id"].distinct == count


def test_rows_of_one_value_in_time(tmp_path: Path) -> None:
    table = _table([0, 2, 3, 9, 11, 12], sensor=[1, 2, 1, 1, 2, 3])
    found = _measure(tmp_path, table, rows=2).columns["sensor"]
    assert (found.gap_us, found.span_us) == (9 * SECOND, 9 * SECOND)


def test_what_repeats_a_declared_key_does_not_count(tmp_path: Path) -> None:
    table = _table([0, 0, 0, 1], sensor=[1, 1, 2, 1])
    found = _measure(tmp_path, table, keys=(("sensor", "ts"),))
    assert (found.rate, found.repeats) == (2, 1)
    assert _measure(tmp_path, table).rate == 3


def test_nulls_and_rows_without_a_time(tmp_path: Path) -> None:
    stamps = pa.array([0, None, SECOND], pa.int64())
    table = pa.table({"ts": stamps, "sensor": [1, 2, None], "kind": pa.nulls(3, pa.string())})
    found = _measure(tmp_path, table)
    assert (found.rows, found.untimed) == (3, 1)
    assert found.columns["sensor"].nulls == 1
    assert found.columns["kind"].distinct == 0
    assert ("sensor",) not in found.keys


def test_a_stream_without_rows(tmp_path: Path) -> None:
    table = pa.table({"ts": pa.array([], pa.int64()), "sensor": pa.array([], pa.int64())})
    found = _measure(tmp_path, table)
    assert (found.rows, found.first_us, found.step_us, found.keys) == (0, None, None, ())


def test_shares_of_a_lateness() -> None:
    lateness = MeasuredLateness((0, 5, 60), (97, 2, 1))
    assert [lateness.quantile(s) for s in (0.5, 0.97, 0.98, 0.99, 0.999)] == [0, 0, 5, 5, 60]
    assert [lateness.count_late(us) for us in (0, 4, 5, 60)] == [3, 3, 1, 0]


def test_many_different_delays_are_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ontoweir.runtime.measure.count_lateness.MOST", 50)
    random = Random(1)
    delays = [0, *(random.randrange(1, 10**6) for _ in range(3000))]
    times = [10**6 - d for d in delays]
    file = str(tmp_path / "s.parquet")
    pq.write_table(pa.table({"ts": times}), file, row_group_size=100)
    stream = Stream("S", DataSource("parquet", file), "ts", 1, None, ())
    pieces = list_pieces([file], stream, ("ts",), start_us=None, stop_us=None)
    found = count_lateness(History(stream, (), pieces, False)).lateness
    assert not found.exact
    assert found.greatest_us == max(delays)
    assert found.total == len(delays)
    for share in (0.1, 0.5, 0.9, 0.99):
        right = sorted(delays)[int(np.ceil(share * len(delays))) - 1]
        assert right <= found.quantile(share) <= right * 1.01
    for limit in (10, 1000, 500_000):
        assert found.count_late(limit) >= sum(d > limit for d in delays)


@pytest.mark.many(3)
@pytest.mark.parametrize("seed", range(20))
def test_the_order_that_was_planted_is_found(seed: int, tmp_path: Path) -> None:
    """What is found is what the rule's words say, and no less would do."""
    draw, random = np.random.default_rng(seed), Random(seed)
    count, rate, slack = 300, random.randint(1, 4), random.choice([0, 3, 20])
    seconds = np.arange(count) // rate
    ids = np.arange(count) // 3 + draw.integers(-slack, 1, count)
    found = _measure(tmp_path, _table(seconds, id=ids), rows=random.choice([7, 50, 5000]))
    needed, between = 0, 0
    for at, value in zip(seconds.tolist(), ids.tolist(), strict=True):
        before = [(s, v) for s, v in zip(seconds.tolist(), ids.tolist(), strict=True) if s < at]
        greater = [s for s, v in before if v > value]
        if greater:
            needed = max(needed, max(v for _, v in before) - value)
            between = max(between, sum(min(greater) < s < at for s in seconds.tolist()))
    assert found.columns["id"].order == (needed, between)
    apart = 0
    for value in set(ids.tolist()):
        mine = sorted(set(seconds[ids == value].tolist()))
        for one, other in pairwise(mine):
            apart = max(apart, int(((seconds > one) & (seconds < other)).sum()))
    assert found.columns["id"].between == apart
    assert found.columns["id"].most_rows == max(Counter(ids.tolist()).values())
