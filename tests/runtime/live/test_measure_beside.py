"""What a query keeps of other queries that it reads, and of rules, is among its synopses."""

from random import Random

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.measure_batch import measure_batch
from ontoweir.runtime.sources.read_source import BAD
from tests.read_given import read_catalog

TOML = """
[streams.page]
source = { format = "parquet", path = "page.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
RULE
[streams.page.columns]
k = { type = "int", min = 0, max = 9 }
v = "int"
[streams.buy]
source = { format = "parquet", path = "buy.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
[streams.buy.columns]
k = { type = "int", min = 0, max = 9 }
v = "int"
"""
RULE = """[[streams.page.clustered]]
columns = ["k"]
gap = "3 seconds"
on_violation = "reject"
remember = "forever"
"""
NOT_EXISTS = """SELECT page.k, page.v FROM page WHERE NOT EXISTS (SELECT 1 FROM buy WHERE
buy.k = page.k AND buy.ts < page.ts AND buy.v > 5)"""
CLOSED = "SELECT k, COUNT(*) AS n FROM page GROUP BY k"


@pytest.mark.parametrize(
    ("rule", "sql", "kept"),
    [("", NOT_EXISTS, "read: buy"), (RULE, CLOSED, "remembered")],
)
def test_all_that_is_kept_is_told(rule: str, sql: str, kept: str) -> None:
    catalog = read_catalog(TOML.replace("RULE", rule))
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    job = make_live_job([plan_job(verdict, catalog)], catalog, {}, {})
    state, random, seen = begin_live(job), Random(1), set[str]()
    for second in range(60):
        count = 3 if second % 7 < 3 else 1
        rows = pa.table(
            {
                "k": [random.randrange(10) for _ in range(count)],
                "v": [random.randrange(10) for _ in range(count)],
                "ts": pa.array([second * 1_000_000] * count, pa.int64()),
                BAD: pa.nulls(count, pa.string()),
            }
        )
        before = state
        streams = {h.stream.name for h in job.histories}
        state = advance_live(job, state, dict.fromkeys(streams, rows), 0.0).state
        told = measure_batch(job, before, state, 1.0, 0.0)["queries"]["q"]
        assert sum(s["rows"] for s in told["synopses"]) == told["state_rows"]
        assert all(s["bytes"] >= 8 * s["rows"] for s in told["synopses"]), told["synopses"]
        seen |= {s["synopsis"] for s in told["synopses"] if s["rows"]}
    assert any(name.startswith(kept) for name in seen), seen
