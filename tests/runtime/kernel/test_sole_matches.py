"""What is kept where one row at most joins another, replayed and live."""

from pathlib import Path
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.witness.is_legal import is_legal
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from tests.oracle.random_queries import Case, Tables
from tests.read_given import read_catalog
from tests.runtime.in_process import replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_job

TOML = """
[streams.page]
source = {{ format = "parquet", path = "page.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 3
{back}
[streams.page.columns]
k = "int"
[streams.buy]
source = {{ format = "parquet", path = "buy.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 3
lags = [{{ behind = "page", columns = ["k"], to = ["k"], within = "9 seconds"{more} }}]
[streams.buy.columns]
k = "int"
kind = "int"
"""
SECOND = 1_000_000
ONE = ', matches = "one"'
BACK = 'lags = [{ behind = "buy", columns = ["k"], to = ["k"], within = "4 seconds" }]'
SQL = "SELECT p.k, b.kind FROM page p JOIN buy b ON p.k = b.k"

PAGES = [(1, 0), (2, 0), (3, 1), (1, 3), (4, 6), (2, 6), (9, 11)]
BUYS = [(1, 10, 2), (2, 20, 2), (1, 11, 5), (3, 30, 9), (4, 40, 9), (8, 80, 11)]


def _case(more: str, sql: str = SQL, *, back: bool = True) -> Case:
    catalog = read_catalog(TOML.format(more=more, back=BACK if back else ""))
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    pages = [(k, ts * SECOND) for k, ts in PAGES]
    buys = [(k, kind, ts * SECOND) for k, kind, ts in BUYS]
    data: Tables = {"page": (["k", "ts"], pages), "buy": (["k", "kind", "ts"], buys)}
    return Case(catalog, union, data, 12)


def _replay(case: Case, tmp_path: Path, per_chunk: int) -> "tuple[list[tuple[int, ...]], object]":
    verdict = check_query(case.query, case.catalog)
    assert verdict.plans is not None
    assert verdict.bound is not None
    with pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, Random(1), tmp_path)
        job = QueryJob("q", case.query, verdict.plans, stored, verdict.bound.rows)
        rows, summary = replay_here(
            patch,
            job,
            tmp_path / "n.parquet",
            statics=statics,
            rows_per_range=1,
            ranges=3,
            rows_per_chunk=per_chunk,
            most_rejected=True,
        )
    return _show(rows), summary


def _show(rows: list[dict[str, int]]) -> list[tuple[int, ...]]:
    return sorted((r["k"], r["kind"]) for r in rows for _ in range(r.get("multiplicity", 1)))


def _live(case: Case, seed: int) -> "tuple[list[tuple[int, ...]], list[int]]":
    job = make_job(case, check_query(case.query, case.catalog))
    state, rows, sizes = begin_live(job), [], []
    for batch in cut_arrivals(case, Random(seed), {"page", "buy"}):
        outcome = advance_live(job, state, batch, 0.0)
        state = outcome.state
        rows += outcome.answers[0].to_pylist()
        (query,) = state.queries
        assert isinstance(query, ExecutionState)
        sizes.append(sum(kernel.rows for kernel in query.kernels))
    return _show(rows), sizes


EVERY = [(1, 10), (1, 10), (1, 11), (1, 11), (2, 20), (2, 20), (3, 30), (4, 40)]
"""The matches of the lags alone."""
FIRST = [(1, 10), (1, 10), (2, 20), (2, 20), (3, 30), (4, 40)]
"""Page 1 of 0 met its purchase at 2, and so did page 1 of 3, which came after it."""


@pytest.mark.parametrize("per_chunk", [1, 3, 100])
def test_a_page_joins_the_first_of_two_that_should_be_one(tmp_path: Path, per_chunk: int) -> None:
    found, _ = _replay(_case(ONE), tmp_path, per_chunk)
    assert found == FIRST
    (tmp_path / "twin").mkdir()
    assert _replay(_case(""), tmp_path / "twin", per_chunk)[0] == EVERY


@pytest.mark.parametrize("seed", range(6))
def test_live_it_is_the_same(seed: int) -> None:
    found, _ = _live(_case(ONE), seed)
    assert found == FIRST
    assert _live(_case(""), seed)[0] == EVERY


def test_what_was_matched_is_not_kept(tmp_path: Path) -> None:
    for seed in range(6):
        ones, all_ = _live(_case(ONE), seed)[1], _live(_case(""), seed)[1]
        assert all(mine <= theirs for mine, theirs in zip(ones, all_, strict=True))
        assert sum(ones) < sum(all_)


def test_a_second_one_is_counted_or_rejected(tmp_path: Path) -> None:
    case = _case(ONE + ', on_violation = "count"')
    found, summary = _replay(case, tmp_path, 100)
    assert summary.broken == {  # type: ignore[attr-defined]
        "buy comes more than 9 seconds after a row of page with the same k": 0,
        "buy comes after a row with the same k": 1,
    }
    (tmp_path / "twin").mkdir()
    case = _case(ONE + ', on_violation = "reject", remember = "1 hour"')
    kept, rejecting = _replay(case, tmp_path / "twin", 100)
    assert kept == found
    assert rejecting.rejected_total == 1  # type: ignore[attr-defined]
    bound = check_query(case.query, case.catalog).bound
    assert bound is not None
    assert "of remembered k" in bound.formula


def test_ranges_and_parts_are_one() -> None:
    verdict = check_query(_case(ONE).query, _case(ONE).catalog)
    assert verdict.plans is not None
    assert any(t.matched for p in verdict.plans for t in p.tables)
    twin = check_query(_case("").query, _case("").catalog)
    assert twin.plans is not None
    assert not any(t.matched for p in twin.plans for t in p.tables)


def test_a_witness_keeps_the_rule() -> None:
    """Two purchases of one page are no data of a counterexample; without the rule they are."""
    rows = [
        WitnessRow("page", 0, (("k", 1),)),
        WitnessRow("buy", 1, (("k", 1), ("kind", 1))),
        WitnessRow("buy", 2, (("k", 1), ("kind", 2))),
    ]
    witness = Witness(1, tuple(rows), (), ((),))
    assert not is_legal(witness, _case(ONE).catalog)
    assert is_legal(witness, _case("").catalog)
