"""Groups by texts whose lengths are equal, for some chunks or all: the answers are DuckDB's."""

from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.pool.take_pieces import GrowingTexts
from tests.runtime.in_process import replay_here
from tests.runtime.replay.test_final_groups import compile_job

PROJECT = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
references = [{ columns = ["d"], relation = "register", to = ["d"] }]
[streams.s.columns]
d = "string"
a = { type = "int", min = -3, max = 3 }
[relations.register]
source = { format = "parquet", path = "register.parquet" }
keys = [["d"]]
max_rows = 100
[relations.register.columns]
d = "string"
"""
SQL = "SELECT d, COUNT(*) AS n, MAX(a) AS most, SUM(a) AS t FROM s {}GROUP BY d"


def write(folder: Path, odd: float, *, coded: bool) -> None:
    """A project with a random history; so many of its keys, which come late, are of other lengths
    than all before."""
    random, rows = Random(str((odd, coded))), 400
    even = [f"{random.getrandbits(32):08x}" for _ in range(60)]
    others = ["", "é" * 4, "x" * 90, "ab"]
    keys: list[str | None] = []
    for n in range(rows):
        late = others if n > rows // 2 and random.random() < odd else even[: 5 + n // 6]
        keys.append(None if random.random() < 0.1 else random.choice(late))
    values = [random.choice([None, -3, 0, 3, n % 4]) for n in range(rows)]
    times = pa.array([n // 3 * 1_000_000 for n in range(rows)]).cast(pa.timestamp("us"))
    folder.mkdir()
    table = pa.table({"ts": times, "d": pa.array(keys), "a": pa.array(values, pa.int64())})
    pq.write_table(table, folder / "s.parquet", row_group_size=70, use_dictionary=coded)
    pq.write_table(pa.table({"d": even + others}), folder / "register.parquet")
    (folder / "ontoweir.toml").write_text(PROJECT)


@pytest.mark.parametrize("odd", [0.0, 0.2])
@pytest.mark.parametrize("coded", [False, True])
def test_groups_by_texts(
    odd: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, coded: bool
) -> None:
    followed: list[bool] = []
    follow = GrowingTexts.follow

    def note(self: GrowingTexts, other: GrowingTexts, count: int) -> bool:
        followed.append(follow(self, other, count))
        return followed[-1]

    monkeypatch.setattr(GrowingTexts, "follow", note)
    folder = tmp_path / "project"
    write(folder, odd, coded=coded)
    for condition in ("", "WHERE a >= 0 "):
        job, _ = compile_job(folder, SQL.format(condition))
        by_hand = SQL.format(condition).replace("FROM s", f"FROM '{folder}/s.parquet'")
        wanted = sorted(duckdb.execute(by_hand).fetchall(), key=str)
        for ranges, size, final in ((1, 30, True), (3, 30, True), (1, 90, False)):
            options: dict[str, Any] = {"rows_per_range": 10, "ranges": ranges}
            options |= {"rows_per_chunk": size, "final": final}
            rows, _ = replay_here(monkeypatch, job, folder / "found.parquet", **options)
            last = {row["d"]: tuple(row[n] for n in ("d", "n", "most", "t")) for row in rows}
            assert sorted(last.values(), key=str) == wanted, (condition, ranges, size, final)
    assert any(followed)
