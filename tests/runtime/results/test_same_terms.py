"""Different values that make the same term are one answer, whatever the chunks and ranges."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.model.spj import Attribute, IriOutput, Output
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import replay_here

TOML = """
[streams.b]
source = { format = "parquet", path = "b.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 30 }, j = { type = "int", min = 0, max = 30 } }
"""
K, J = Attribute("b", "k"), Attribute("b", "j")
TOGETHER = IriOutput(("http://x/", K, J))
APART = IriOutput(("http://x/", K, "/", J))


def _job(folder: Path, sql: str, output: Output) -> QueryJob:
    """A job whose variables are made by `output`, of data where k, j are 1, 12 and then 11, 2."""
    times = pa.array([1_000_000 * n for n in range(40)]).cast(pa.timestamp("us"))
    values = [((1, 12), (11, 2))[n // 10 % 2] for n in range(40)]
    table = pa.table({"ts": times, "k": [k for k, _ in values], "j": [j for _, j in values]})
    pq.write_table(table, folder / "b.parquet", row_group_size=5)
    catalog = make_catalog(folder, TOML)
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    (query,) = union.disjuncts
    made = replace(query, outputs=tuple((name, output) for name, _ in query.outputs))
    union = replace(union, disjuncts=(made,))
    verdict = check_query(union, catalog)
    assert verdict.plans is not None
    assert verdict.bound is not None
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    return QueryJob("q", union, verdict.plans, catalog, verdict.bound.rows, parts=parts)


@pytest.mark.parametrize(("output", "terms"), [(TOGETHER, 1), (APART, 2)])
@pytest.mark.parametrize("options", [{"ranges": 1}, {"ranges": 4}, {"engine": "driver"}], ids=str)
def test_terms_are_distinct(
    output: Output, terms: int, options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out.parquet"
    for size in (7, 1000):
        sizes = {"rows_per_range": 10, "rows_per_chunk": size, **options}
        job = _job(tmp_path, "SELECT DISTINCT b.k AS x FROM b", output)
        rows, _ = replay_here(monkeypatch, job, file, **sizes)
        assert [row["at"].second for row in rows] == [0, 10][:terms]
        job = _job(tmp_path, "SELECT COUNT(DISTINCT b.k) AS n FROM b", output)
        rows, _ = replay_here(monkeypatch, job, file, **sizes)
        assert [(row["at"].second, row["n"]) for row in rows] == [(0, 1), (10, 2)][:terms]
