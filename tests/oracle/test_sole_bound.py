"""`matches = "one"` does not lessen the bound, and cannot: where each match comes as late as the
lag allows, all that the bound counts waits; where matches come sooner, less does."""

from pathlib import Path
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Lag, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.random_queries import Case
from tests.runtime.in_process import replay_here, store

STEPS, WITHIN = 24, 5
SQL = "SELECT s.k FROM s, t WHERE s.k = t.k AND s.ts <= t.ts"


@pytest.mark.parametrize(
    ("one", "after", "kept"), [(True, WITHIN, WITHIN), (True, 2, 2), (False, 2, WITHIN)]
)
def test_what_waits_where_matches_come_so_late(
    one: bool, after: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing, key = DataSource("parquet", "none"), (Column("k", IntType()),)
    rule = Lag("s", ("k",), ("k",), WITHIN, one=one)
    streams = [
        Stream("s", nothing, "ts", 1, 1, key),
        Stream("t", nothing, "ts", 1, 1, key, lags=(rule,)),
    ]
    catalog = Catalog({stream.name: stream for stream in streams})
    union = parse_sql(SQL, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.plans is not None
    assert verdict.bound is not None
    assert verdict.bound.rows == WITHIN
    rows = [(n, n) for n in range(STEPS)]
    late = [(n, n + after) for n in range(STEPS - after)]
    case = Case(catalog, union, {"s": (["k", "ts"], rows), "t": (["k", "ts"], late)}, STEPS)
    stored, statics = store(case, Random(1), tmp_path)
    job = QueryJob("q", union, verdict.plans, stored, WITHIN, verdict.declarations)
    output = tmp_path / "n.parquet"
    answers, summary = replay_here(
        monkeypatch, job, output, statics=statics, ranges=1, rows_per_chunk=1
    )
    assert len(answers) == STEPS - after
    assert summary.state_rows_max == kept
