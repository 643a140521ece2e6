"""Rows that are kept give the answers that they give when they are read as they are."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import open_cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.runtime.chunks import portions
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.replay import replay
from ontoweir.runtime.replay.ranges import prefetch_chunks
from ontoweir.runtime.sources import identify_file
from ontoweir.runtime.staging import map_rows as module
from ontoweir.runtime.staging.kept_manifest import read_manifest
from tests.runtime.harness import read_rows

TOML = """
[streams.s]
source = { format = "FORMAT", path = "s"MORE }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = -3, max = 300, nullable = true }
big = { type = "int", nullable = true }
name = { type = "string", nullable = true }
uuid = "string"
x = { type = "double", nullable = true }
d = { type = "decimal(8,3)", nullable = true }
yes = { type = "boolean", nullable = true }
day = { type = "date", nullable = true }
t = { type = "timestamp", nullable = true }
"""
ALL = "SELECT s.* FROM s WHERE s.k > 2"
SUMS = (
    "SELECT s.k, SUM(s.big) AS a, COUNT(*) AS n, MAX(s.x) AS x, MIN(s.d) AS d FROM s GROUP BY s.k"
)
ADDED = "SELECT s.k * 100 + s.k AS p, s.uuid, s.day, s.name FROM s WHERE s.k + 100 > 120 AND s.yes"
MET = """SELECT a.uuid, b.uuid AS later, a.d - b.d AS gap FROM s a JOIN s b ON a.name = b.name
    AND b.k = a.k + 1 AND a.ts < b.ts AND b.ts <= a.ts + INTERVAL '9' SECOND"""
TIME = pa.timestamp("us")
START = datetime(2020, 1, 1)


def _write(folder: Path, random: Random, form: str, rows: int) -> None:
    """Two files in the order of time, of several row groups; the second has other dictionaries."""
    (folder / "s").mkdir()
    seconds = sorted(random.choices(range(rows // 2), k=2 * rows))
    for number in (0, 1):
        edge = 1 << random.choice([7, 15, 31, 50])
        made: dict[str, tuple[Callable[[], object], pa.DataType]] = {
            "k": (partial(random.randint, -3, 30), pa.int32()),
            "big": (partial(random.choice, [-edge, edge - 1, 0, 7]), pa.int64()),
            "name": (partial(random.choice, ["a", "b", "", f"x{number}"]), pa.string()),
            "x": (partial(random.choice, [0.5, -0.0, 1e300, 1 / 7]), pa.float64()),
            "d": (lambda: Decimal(random.randint(-9999, 9999)) / 8, pa.decimal128(8, 3)),
            "yes": (partial(random.choice, [True, True, False]), pa.bool_()),
            "day": (lambda: date(1969, 12, 1) + timedelta(random.randint(0, 60)), pa.date32()),
            "t": (lambda: START + timedelta(microseconds=random.randint(-9, 9)), TIME),
        }
        columns = {
            name: pa.array([None if random.random() < 0.1 else make() for _ in range(rows)], kind)
            for name, (make, kind) in made.items()
        }
        columns["uuid"] = pa.array([f"{random.getrandbits(64):016x}" for _ in range(rows)])
        times = [START + timedelta(seconds=s) for s in seconds[number * rows :][:rows]]
        table = pa.table({**columns, "ts": pa.array(times, TIME)})
        file = folder / "s" / f"{number}.{form}"
        if form == "parquet":
            pq.write_table(table, file, row_group_size=random.choice([7, 64, rows]))
        else:
            with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=random.choice([7, rows]))


def _answer(folder: Path, sql: str, toml: str) -> list[str]:
    (folder / "ontoweir.toml").write_text(toml)
    (folder / "q.sql").write_text(sql)
    cache = open_cache(str(folder / "cache"))
    workspace = Workspace(load_project(folder, environ={}), cache=cache)
    output = folder / "out.parquet"
    options = ReplayOptions(output, progress=False, final=sql is SUMS)
    replay_query(workspace, workspace.compile_sql(folder / "q.sql"), options)
    return sorted(map(str, read_rows(output)))


def _check_whole(chunks: list[Chunk]) -> None:
    """Of the last replay, which had several chunks, no timestamp is in two; in some the last one
    is complete though more follow."""
    begins = max(n for n, chunk in enumerate(chunks) if chunk.before["s"].piece == 0)
    later = [c for c in chunks[begins:] if len(c.slices["s"].times)]
    assert len(later) > 3
    for before, after in pairwise(later):
        assert before.now_us is not None
        assert before.slices["s"].times[-1] <= before.now_us < after.slices["s"].times[0]
    assert any(c.slices["s"].times[-1] == c.now_us for c in later[:-1])


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("more", ["", ", sort = true"])
def test_kept_as_read(
    form: str, more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_FEWEST", "_MOST"):
        monkeypatch.setattr(module, name, 40)  # so that there are several pieces, and chunks
    for place, names in (
        (replay, ("_FEWEST", "_MOST")),
        (prefetch_chunks, ("FEWEST", "PORTION")),
        (portions, ("FEWEST", "PORTION")),
    ):
        for name in names:
            monkeypatch.setattr(place, name, 41)
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))  # files count as settled at once
    chunks: list[Chunk] = []
    plain_read = vars(prefetch_chunks)["read_chunk"]

    def noted(*given: Any) -> Chunk:
        chunks.append(plain_read(*given))
        return chunks[-1]

    monkeypatch.setattr(prefetch_chunks, "read_chunk", noted)
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        _write(folder, Random(seed), form, 150)
        toml = TOML.replace("FORMAT", form)
        for sql in (SUMS, ALL, ADDED, MET):
            plain = _answer(folder, sql, toml.replace("MORE", more))
            assert len(plain) > 2
            kept = toml.replace("MORE", f"{more}, keep = true")
            assert _answer(folder, sql, kept) == plain  # made, or made again for more columns
            assert _answer(folder, sql, kept) == plain
            _check_whole(chunks)
            chunks.clear()
        (manifest,) = (folder / ".ontoweir").rglob("manifest.json")
        known = read_manifest(manifest)
        assert known is not None
        pieces = known.list_pieces(manifest.parent, ())
        assert len(pieces) > 4
        for before, after in pairwise(pieces):
            assert before.high is not None
            assert after.low is not None
            assert before.high < after.low or before.file != after.file
        (mapped,) = {f.parent for f in (folder / ".ontoweir").rglob("*.arrow")}
        assert not list(mapped.glob("*.parquet"))
