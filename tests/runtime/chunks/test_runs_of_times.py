"""Replays of verified rows whose timestamps are read by runs, beside the same read one by one."""

import json
import pickle
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import open_cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.runtime.chunks import read_chunk, row_groups
from ontoweir.runtime.chunks.read_group import open_columns
from ontoweir.runtime.sources import identify_file
from ontoweir.runtime.times import known_times
from ontoweir.runtime.times.known_times import KnownTimes, Place
from ontoweir.runtime.times.time_runs import find_runs, read_runs_of

WHOLE = (None, None)
PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s*.parquet" }
timestamp = { column = "ts", unit = "10 second"ALIGNED }
keys = [["k", "ts"]]
[streams.s.columns]
k = { type = "int", min = 0, max = 90 }
a = { type = "int", min = 0, max = 99 }
"""
QUERIES = {
    "filter": "SELECT s.k, s.a FROM s WHERE s.a = 98",
    "all": "SELECT s.k, s.a FROM s",
    "counts": "SELECT s.k, COUNT(*) AS n, MAX(s.a) AS m FROM s GROUP BY s.k",
    "distinct": "SELECT DISTINCT s.a FROM s WHERE s.k < 3",
    "join": """SELECT COUNT(*) AS n FROM s, s AS o
        WHERE s.k = o.k AND s.ts < o.ts AND s.a = 5 AND o.a = 7""",
}


def write(folder: Path, aligned: str) -> None:
    """A project with rows of which some are rejected; 100 or so share a time, over files' ends."""
    random = Random(4)
    folder.mkdir()
    (folder / "ontoweir.toml").write_text(PROJECT.replace("ALIGNED", aligned))
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
    times: list[int] = []
    while len(times) < 50_000:
        last = times[-1] if times else 0
        times += [last + random.choice([10, 10, 70])] * random.randint(65, 99)
    rows = {
        "ts": pa.array(times, pa.int64()).cast(pa.timestamp("s")).cast(pa.timestamp("us")),
        "k": pa.array([n % 97 for n in range(len(times))]),
        "a": pa.array([random.randrange(100) for _ in times]),
    }
    table = pa.table(rows)
    pq.write_table(table[:30_000], folder / "s1.parquet", row_group_size=12_000)
    pq.write_table(table[30_000:], folder / "s2.parquet", row_group_size=12_000)


def replay(
    folder: Path, query: str, span: tuple[datetime | None, datetime | None]
) -> tuple[Any, ...]:
    workspace = Workspace(
        load_project(folder, environ={}), partial=True, cache=open_cache(str(folder / "cache"))
    )
    compiled = workspace.compile_sql(folder / f"{query}.sql")
    output = folder / f"{query}.parquet"
    options = ReplayOptions(
        output=output,
        progress=False,
        final=query in ("counts", "join"),
        start=span[0],
        stop=span[1],
    )
    summary = replay_query(workspace, compiled, options)
    table = pq.read_table(output)
    told = [summary[name] for name in ("tuples", "markers", "results", "rejected")]
    return table.to_pylist(), told


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("aligned", ["", ', align = "floor"'])
def test_the_same_by_runs(
    query: str, aligned: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    write(tmp_path / "p", aligned)
    seen: list[bool] = []

    def watched(column: "pa.ChunkedArray") -> Any:
        found = read_runs_of(column)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(read_chunk, "read_runs_of", watched)
    for span in ((None, None), (datetime(1970, 1, 1, 0, 20), datetime(1970, 1, 1, 1, 31, 10))):
        first = replay(tmp_path / "p", query, span)
        known = replay(tmp_path / "p", query, span)
        assert known == first
        assert replay(tmp_path / "p", query, span) == first
        with monkeypatch.context() as patch:
            patch.setattr(row_groups, "_keeps_runs", lambda history, leaf: False)
            assert replay(tmp_path / "p", query, span) == first
    assert any(seen) == (not aligned)


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that was replayed twice: the timestamps of its files are known."""
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    write(tmp_path / "p", "")
    replay(tmp_path / "p", "all", WHOLE)
    replay(tmp_path / "p", "filter", WHOLE)
    return tmp_path / "p"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each row group that is opened, whether its timestamps are read."""
    seen: list[bool] = []

    def watched(source: Any, footer: Any, piece: Any, wanted: Sequence[str]) -> Any:
        seen.append("ts" in wanted)
        return open_columns(source, footer, piece, wanted)

    monkeypatch.setattr(row_groups, "open_columns", watched)
    return seen


def test_they_are_read_twice(settled: Path, opened: list[bool]) -> None:
    for query in QUERIES:
        replay(settled, query, WHOLE)
    assert opened
    assert not any(opened)
    opened.clear()
    part = (datetime(1970, 1, 1, 0, 20), datetime(1970, 1, 1, 1, 31, 10))
    replay(settled, "filter", part)
    assert opened
    assert all(opened), "what is known of all is not looked through for a part"


def test_others_are_not_known(settled: Path, opened: list[bool]) -> None:
    table = pq.read_table(settled / "s2.parquet")
    later = pc.add(table.column("ts").cast(pa.int64()), 10_000_000).cast(pa.timestamp("us"))
    pq.write_table(table.set_column(0, "ts", later), settled / "s2.parquet", row_group_size=12_000)
    found = [replay(settled, "all", WHOLE) for _ in range(3)]
    assert any(opened)
    rows, told = found[0]
    assert max(r["at"] for r in rows) == max(later.to_pylist())
    assert found == [(rows, told)] * 3


@pytest.mark.parametrize("harm", ["lengths", "empty"])
def test_what_is_damaged_is_read_again(settled: Path, opened: list[bool], harm: str) -> None:
    (file,) = (settled / "cache").glob("times-*")
    before = replay(settled, "all", WHOLE)
    held = json.loads(file.read_bytes().partition(b"\n")[2])
    if harm == "lengths":
        held["places"][0][3] += 1
    else:
        held["lengths"] = ""
    content = json.dumps(held).encode()
    file.write_bytes(sha256(content).hexdigest().encode() + b"\n" + content)
    opened.clear()
    assert replay(settled, "all", WHOLE) == before
    assert any(opened)
    opened.clear()
    assert replay(settled, "all", WHOLE) == before
    assert not any(opened), "what was read is known again"


def test_only_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[bool]) -> None:
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    monkeypatch.setattr(known_times, "MOST", 250)
    write(tmp_path / "p", "")
    found = []
    for _ in range(3):
        opened.clear()
        found.append(replay(tmp_path / "p", "all", WHOLE))
    assert found == found[:1] * 3
    assert len(set(opened)) == 2, "of some row groups there is room for the runs"


def test_a_copy_knows_none() -> None:
    times = KnownTimes(lambda: {Place("a", 0, 1): find_runs(np.zeros(9, np.int64))})
    assert times.find(Place("a", 0, 1), 9) is not None
    assert times.find(Place("a", 0, 1), 8) is None
    assert pickle.loads(pickle.dumps(times)).find(Place("a", 0, 1), 9) is None
