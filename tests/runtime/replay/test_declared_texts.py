"""Texts with declared values, as files hold them (dictionaries, plain, both), against DuckDB: what
is not declared is rejected and counted, and conditions that allow less than is declared hold."""

from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.cache.open_cache import Cache
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query

DECLARED = ["", "a", "b", "long " * 20]
OTHERS = ["c", "A", "a "]
PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
t = { type = "string", enum = ["", "a", "b", "%s"] }
u = { type = "string", enum = ["b", "", "x"] }
n = "int"
"""
QUERIES = {
    "all": "SELECT t, n FROM s WHERE n IS NOT NULL",
    "some": "SELECT t, n FROM s WHERE t IN ('a', 'b')",
    "not": "SELECT t, n FROM s WHERE t <> 'a'",
    "equal": "SELECT t, u FROM s WHERE t = u",
    "pairs": "SELECT p.t AS t, q.u AS u FROM s p, s q WHERE p.t = q.u AND p.ts < q.ts AND q.n = 1",
    "groups": "SELECT t, COUNT(*) AS x, MAX(n) AS y, MIN(n) AS z FROM s GROUP BY t",
    "two": "SELECT t, u, COUNT(*) AS x, SUM(n) AS y FROM s GROUP BY t, u",
    "distinct": "SELECT DISTINCT t, u FROM s",
}


def write(folder: Path, seed: int) -> pa.Table:
    """A project with a random history; its rows that are as declared."""
    random = Random(seed)
    rows = random.choice([0, 1, 400, 3000])
    wrong = random.choice([0.0, 0.02])

    def draw(declared: list[str]) -> list[str | None]:
        few = random.sample(declared, random.randint(1, len(declared)))
        drawn = [random.choice([*few, None]) for _ in range(rows)]
        return [random.choice(OTHERS) if random.random() < wrong else v for v in drawn]

    t, u = draw(DECLARED), draw(["b", "", "x"])
    n = [random.choice([None, -5, 0, 1, 7]) for _ in range(rows)]
    times = pa.array([i // 7 * 1_000_000 for i in range(rows)], pa.timestamp("us"))
    table = pa.table(
        {
            "ts": times,
            "t": pa.array(t, pa.string()),
            "u": pa.array(u, pa.string()),
            "n": pa.array(n, pa.int64()),
        }
    )
    if random.random() < 0.3:  # a dictionary of Arrow's, with texts that no row has
        known = pa.array([*reversed(DECLARED), *OTHERS, "never"])
        codes = pa.array([None if v is None else known.to_pylist().index(v) for v in t], pa.int32())
        table = table.set_column(1, "t", pa.DictionaryArray.from_arrays(codes, known))
    folder.mkdir()
    pq.write_table(
        table,
        folder / "s.parquet",
        row_group_size=random.choice([64, 1000, 10_000]),
        use_dictionary=random.choice([True, False, ["t"]]),
        dictionary_pagesize_limit=random.choice([4, 1 << 20]),  # else pages fall back to plain
        data_page_size=random.choice([64, 1 << 20]),
        write_statistics=random.choice([True, False]),
    )
    (folder / "ontoweir.toml").write_text(PROJECT % DECLARED[3])
    good = duckdb.connect().sql(
        f"SELECT * REPLACE (t::VARCHAR AS t) FROM '{folder / 's.parquet'}' WHERE "
        f"(t IS NULL OR t IN ('', 'a', 'b', '{DECLARED[3]}')) "
        "AND (u IS NULL OR u IN ('b', '', 'x')) ORDER BY ts"
    )
    assert good is not None
    return good.to_arrow_table()


@pytest.mark.parametrize("seed", range(12))
def test_declared_texts_against_duckdb(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    s = write(folder, seed)
    rows = pq.read_metadata(folder / "s.parquet").num_rows
    database = duckdb.connect()
    database.register("s", s)
    workspace = Workspace(load_project(folder, environ={}), cache=Cache(tmp_path))
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
        compiled = workspace.compile_sql(folder / f"{name}.sql")
        output = tmp_path / f"{name}.parquet"
        for verify in (True, False):
            final = name in ("groups", "two")
            options = ReplayOptions(output, progress=False, final=final, verify=verify)
            summary = replay_query(workspace, compiled, options)
            assert summary["rejected"] == rows - s.num_rows, (name, verify)
            answer = pq.read_table(output)
            shown = [c for c in answer.column_names if c not in ("at", "multiplicity")]
            filled = " AND ".join(f"{c} IS NOT NULL" for c in shown)
            if not final:
                sql = f"SELECT * FROM ({QUERIES[name]}) WHERE {filled}"
            count = "multiplicity" if "multiplicity" in answer.column_names else "1"
            database.register("answer", answer)
            mine = database.sql(
                f"SELECT {', '.join(shown)}, sum({count}) FROM answer GROUP BY ALL ORDER BY ALL"
            ).fetchall()
            theirs = database.sql(
                f"SELECT {', '.join(shown)}, count(*) FROM ({sql}) GROUP BY ALL ORDER BY ALL"
            ).fetchall()
            assert mine == theirs, (name, verify)
