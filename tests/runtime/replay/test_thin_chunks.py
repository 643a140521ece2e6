"""Rows that no member wants are left out as soon as they are admitted: the answers, and what is
counted, are those of all rows, and DuckDB's."""

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.errors import OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.runtime.chunks import portions
from ontoweir.runtime.parquet import open_filled
from ontoweir.runtime.parquet.pick_texts import TextPages
from ontoweir.runtime.replay import choose_engine, replay
from ontoweir.runtime.replay.choose_engine import EngineChoice
from ontoweir.runtime.replay.ranges import prefetch_chunks, replay_range
from ontoweir.runtime.replay.ranges.thin_chunks import list_late
from ontoweir.runtime.sources import identify_file

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts", "id"]]
references = [{ columns = ["k"], relation = "r", to = ["k"] }]
[streams.s.columns]
id = "int"
k = "string"
u = "string"
n = { type = "int", min = 0, max = 99 }
d = "decimal(6, 2)"
x = "double"
[relations.r]
source = { format = "parquet", path = "r.parquet" }
keys = [["k"]]
max_rows = 100
[relations.r.columns]
k = "string"
site = "int"
"""
PAIRS = "FROM s a, s b WHERE a.k = b.k AND a.ts < b.ts AND a.n = 7 AND b.n < 3"
QUERIES = {
    "filter": "SELECT id, k, d, x FROM s WHERE n = 7 AND k IS NOT NULL",
    "two": "SELECT id, n FROM s WHERE n = 7 UNION ALL SELECT id, n FROM s WHERE n > 97",
    "set": "SELECT DISTINCT k FROM s WHERE n = 7",
    "pairs": f"SELECT a.k AS k, b.n AS n {PAIRS}",
    "count": f"SELECT count(*) AS n {PAIRS}",
    "groups": "SELECT k, count(*) AS n, max(d) AS m FROM s WHERE n = 7 GROUP BY k",
    "site": "SELECT r.site AS site, s.id AS id FROM s, r WHERE s.k = r.k AND s.n = 7",
    "all": "SELECT id, n FROM s WHERE id IS NOT NULL",
    "text": "SELECT id, u FROM s WHERE n = 7",
    "texts": "SELECT k, u FROM s WHERE n = 7 AND k <> 'dev 3' AND u IS NOT NULL",
    "more": "SELECT u, k FROM s WHERE n < 20",
}
GROUPED = {"count", "groups"}


def write(folder: Path, random: Random) -> None:
    """A project with a random history; few of its rows have a certain n, or, at random, most."""
    rows = random.choice([1, 300, 1500])
    often = random.random() < 0.25

    def number() -> int | None:
        if often and random.random() < 0.7:
            return 7
        drawn = random.randint(-1, 100)  # 100 is not as declared
        return drawn if drawn >= 0 else None

    known = [f"dev {i}" for i in range(20)]
    other = Random(random.getstate()[1][1])
    missing = other.choice([0, 0.2])

    def make_text(row: int) -> str | None:
        if other.random() < missing:
            return None
        return f"{row * 7919 % 1_000:08}" if even or row % 3 else "ü" * (row % 5)

    even = other.random() < 0.5
    table = pa.table(
        {
            "ts": pa.array([i // 5 * 1_000_000 for i in range(rows)], pa.timestamp("us")),
            "id": pa.array(range(rows), pa.int64()),
            "k": pa.array([random.choice([*known, None, "?"]) for _ in range(rows)]),
            "u": pa.array([make_text(row) for row in range(rows)], pa.string()),
            "n": pa.array([number() for _ in range(rows)], pa.int64()),
            "d": pa.array([random.randint(0, 9999) / 100 for _ in range(rows)]).cast(
                pa.decimal128(6, 2)
            ),
            "x": pa.array([random.choice([0.5, None, 1e300]) for _ in range(rows)]),
        }
    )
    folder.mkdir()
    pq.write_table(
        table,
        folder / "s.parquet",
        row_group_size=random.choice([100, 1000, 10_000]),
        use_dictionary=["k"] if other.random() < 0.5 else other.choice([True, True, False]),
        data_page_size=other.choice([64, 1 << 20]),
        write_batch_size=other.choice([16, 1024]),
    )
    sites = pa.table({"k": known, "site": pa.array(range(20), pa.int64())})
    pq.write_table(sites, folder / "r.parquet")
    (folder / "ontoweir.toml").write_text(PROJECT)
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)


def read_rows(output: Path, shown: list[str]) -> list[Any]:
    """The answers with their numbers, sorted."""
    there = pq.read_schema(output).names
    count = "multiplicity" if "multiplicity" in there else "1"
    sql = f"SELECT {', '.join(shown)}, sum({count}) FROM '{output}' GROUP BY ALL ORDER BY ALL"
    return duckdb.execute(sql).fetchall()


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_out_changes_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does what is read late, where the rows were verified by the replay before, nor that the
    first rows were replayed to know how long all take."""
    random = Random(seed)

    def estimate(work: Any, request: Any, **_: Any) -> EngineChoice:
        rows = sum(h.rows for h in work.histories)
        first = max(rows // random.choice([1, 3, 100]), 1)
        assert choose_engine._estimate(work, first) is not None
        return EngineChoice(spark=False, because="it was asked for")

    if seed % 2:
        monkeypatch.setattr(replay, "choose_engine", estimate)
    folder = tmp_path / "project"
    write(folder, random)
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    late: list[str] = []

    def noted(work: Any, histories: Any, checks: Any, wanted: Any) -> Any:
        found = list_late(work, histories, checks, wanted)
        late.extend(found)
        return found

    monkeypatch.setattr(prefetch_chunks, "list_late", noted)
    for module in (portions, prefetch_chunks):
        monkeypatch.setattr(module, "PORTION", random.choice([17, 40, 300]))
    monkeypatch.setattr(portions, "FEWEST", random.choice([1, 64]))
    monkeypatch.setattr(open_filled, "_FEWEST", 1 if seed < 4 else 64)
    monkeypatch.setattr(replay, "_FEWEST", random.choice([70, 1000]))
    monkeypatch.setattr(replay, "_MOST", 1000)
    workspace = Workspace(load_project(folder, environ={}), cache=Cache(tmp_path))
    database = duckdb.connect()
    database.execute(
        f"CREATE TABLE s AS FROM '{folder}/s.parquet' "
        "WHERE (n IS NULL OR n < 100) AND (k IS NULL OR k <> '?') ORDER BY id"
    )
    database.execute(f"CREATE TABLE r AS FROM '{folder}/r.parquet'")
    list_thinned = vars(replay_range)["list_thinned"]
    for name, sql in QUERIES.items():
        compiled = workspace.compile_sql(folder / f"{name}.sql")
        found: list[tuple[list[Any], Mapping[str, Any]]] = []
        relation = database.sql(sql)
        assert relation is not None
        shown = relation.columns
        for thin, verify in ((True, True), (True, False), (False, True)):
            kept = list_thinned if thin else lambda *_: {}
            late.clear()
            for module in (replay_range, choose_engine):
                monkeypatch.setattr(module, "list_thinned", kept)
            output = tmp_path / f"{name}.parquet"
            options = ReplayOptions(output, progress=False, final=name in GROUPED, verify=verify)
            summary = replay_query(workspace, compiled, options)
            told = {k: summary[k] for k in ("tuples", "markers", "results", "rejected")}
            found.append((read_rows(output, shown), told))
            assert bool(late) == (name != "all" and thin and not verify), name
        assert found[0] == found[1] == found[2], name
        filled = " AND ".join(f"{c} IS NOT NULL" for c in shown)
        where = "" if name in GROUPED else f"WHERE {filled}"  # a row with NULL is no answer else
        theirs = database.execute(
            f"SELECT *, count(*) FROM ({sql}) {where} GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        assert found[0][0] == theirs, name


def test_of_few_wanted_rows_few_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each chunk, however many rows of the history it has."""
    folder = tmp_path / "project"
    folder.mkdir()
    rows = 20_000
    table = pa.table(
        {
            "ts": pa.array([i // 5 * 1_000_000 for i in range(rows)], pa.timestamp("us")),
            "id": pa.array(range(rows), pa.int64()),
            "k": pa.array(["a"] * rows),
            "n": pa.array([i % 100 for i in range(rows)], pa.int64()),
            "d": pa.nulls(rows, pa.decimal128(6, 2)),
            "x": pa.nulls(rows, pa.float64()),
        }
    )
    pq.write_table(table, folder / "s.parquet")
    pq.write_table(pa.table({"k": ["a"], "site": [1]}), folder / "r.parquet")
    (folder / "ontoweir.toml").write_text(PROJECT)
    held: list[tuple[int, int, int]] = []
    advance = vars(replay_range)["advance_rows"]

    def noted(work: Any, plans: Any, admitted: Any, chunk: Any, state: Any) -> Any:
        rows = admitted["s"]
        held.append((rows.read, len(rows.times), rows.table.num_rows))
        assert chunk.slices == {}
        return advance(work, plans, admitted, chunk, state)

    monkeypatch.setattr(prefetch_chunks, "PORTION", 1000)
    monkeypatch.setattr(replay_range, "advance_rows", noted)
    workspace = Workspace(load_project(folder, environ={}), cache=Cache(tmp_path))
    kept = {}
    for name, where in {"few": "n = 7", "most": "n > 7"}.items():
        (folder / f"{name}.sql").write_text(f"SELECT id, n FROM s WHERE {where}")
        compiled = workspace.compile_sql(folder / f"{name}.sql")
        held.clear()
        replay_query(workspace, compiled, ReplayOptions(tmp_path / "out.parquet", progress=False))
        kept[name] = list(held)
    assert kept == {"few": [(rows, 200, 200)], "most": [(rows, rows, rows)]}


def test_portions_do_not_shrink_towards_the_end_of_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk that holds few rows of many ends with a whole portion. Its first one is of the usual
    length, the others twice as long; where most rows are wanted, none is."""
    folder = tmp_path / "project"
    folder.mkdir()
    rows = 20_000
    table = pa.table(
        {
            "ts": pa.array([i // 5 * 1_000_000 for i in range(rows)], pa.timestamp("us")),
            "n": pa.array([i % 100 for i in range(rows)], pa.int64()),
        }
    )
    pq.write_table(table, folder / "s.parquet")
    (folder / "ontoweir.toml").write_text(
        """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
n = { type = "int", min = 0, max = 99 }
"""
    )
    sizes: list[int] = []
    plain = vars(prefetch_chunks)["read_chunk"]

    def noted(*given: Any) -> Any:
        chunk = plain(*given)
        sizes.append(len(chunk.slices["s"].times))
        return chunk

    monkeypatch.setattr(prefetch_chunks, "PORTION", 1000)
    monkeypatch.setattr(prefetch_chunks, "FEWEST", 1)
    monkeypatch.setattr(prefetch_chunks, "read_chunk", noted)
    for name in ("_FEWEST", "_MOST"):
        monkeypatch.setattr(replay, name, 1500)
    workspace = Workspace(load_project(folder, environ={}), cache=Cache(tmp_path))
    seen = {}
    for name, where in {"few": "n = 7", "most": "n > 7"}.items():
        (folder / f"{name}.sql").write_text(f"SELECT n FROM s WHERE {where}")
        compiled = workspace.compile_sql(folder / f"{name}.sql")
        sizes.clear()
        replay_query(workspace, compiled, ReplayOptions(tmp_path / "out.parquet", progress=False))
        assert sum(sizes) == rows
        assert name == "most" or min(sizes[:-1]) > 900
        seen[name] = list(sizes)
    assert seen["few"][0] <= 1000
    assert max(seen["few"]) > 1900
    assert max(seen["most"]) < 1900


@pytest.mark.parametrize("change", ["cut short", "other texts", "removed"])
def test_a_file_that_changes_while_texts_are_read_late(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error, as it is of what is read at once."""
    folder = tmp_path / "project"
    folder.mkdir()
    rows = 3_000
    file = folder / "s.parquet"

    def write_texts(letter: str) -> None:
        table = pa.table(
            {
                "n": pa.array([i % 100 for i in range(rows)], pa.int64()),
                "ts": pa.array([i * 1_000_000 for i in range(rows)], pa.timestamp("us")),
                "u": [f"{letter}{i:035}" for i in range(rows)],
            }
        )
        pq.write_table(
            table, file, use_dictionary=False, row_group_size=1_000, data_page_size=2_000
        )

    write_texts("a")
    (folder / "q.sql").write_text("SELECT u FROM s WHERE n = 7")
    (folder / "ontoweir.toml").write_text(
        '[project]\n[streams.s]\nsource = { format = "parquet", path = "s.parquet" }\n'
        'timestamp = { column = "ts", unit = "1 second" }\n'
        'columns = { n = "int", u = "string" }\n'
    )
    monkeypatch.setattr(identify_file, "_SETTLED", -(10**12))
    workspace = Workspace(load_project(folder, environ={}), cache=Cache(tmp_path))
    compiled = workspace.compile_sql(folder / "q.sql")
    output = tmp_path / "o.parquet"
    options = ReplayOptions(output, progress=False)
    replay_query(workspace, compiled, options)
    first = read_rows(output, ["u"])
    assert len(first) == 30
    picked: list[int] = []
    pick = TextPages.pick

    def change_then_pick(pages: TextPages, wanted: Any) -> Any:
        picked.append(len(wanted))
        if len(picked) == 2:
            if change == "cut short":
                os.truncate(file, pq.read_metadata(file).row_group(1).column(2).data_page_offset)
            elif change == "removed":
                file.unlink()
            else:
                write_texts("b")
        return pick(pages, wanted)

    monkeypatch.setattr(TextPages, "pick", change_then_pick)
    output.unlink()
    with pytest.raises(OntoweirError):
        replay_query(workspace, compiled, options)
    assert len(picked) >= 2
    assert not output.exists()
