"""A decision ends, says so where its time was over, and tells how far it is until then."""

from itertools import count, pairwise

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.checker.verdict.verdict import Failing, Verdict
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.progress.progress import Progress
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError, Watch, phase, tick, watching
from ontoweir.rewriter.sql.parse_sql import parse_sql

COLUMNS = (Column("a", IntType()), Column("k", IntType(), 0, 9))
CATALOG = Catalog({"s": Stream("s", DataSource("parquet", None), "ts", 1, 3, COLUMNS)})


def _chain(size: int) -> SpjUnion:
    tables = ", ".join(f"s x{n}" for n in range(size))
    where = " AND ".join(f"x{a}.a < x{b}.a" for a, b in pairwise(range(size)))
    sql = f"SELECT 1 AS one FROM {tables} WHERE {where}"
    return parse_sql(sql, CATALOG, name="q", file="q.sql")


def _check(union: SpjUnion, looks: int) -> Verdict:
    """Decided by a clock that is over after it was looked at so often."""
    clock = count()
    return check_query(union, CATALOG, watch=Watch(looks, clock=lambda: next(clock)))


def _messages(verdict: Verdict) -> list[str]:
    return [d.message for f in verdict.disjuncts if isinstance(f, Failing) for d in f.because]


def test_no_time_at_all() -> None:
    verdict = _check(_chain(3), 1)
    assert verdict.name == "undecided"
    assert verdict.witness is None
    assert any("the search for" in m and "stopped after 1 s" in m for m in _messages(verdict))


def test_a_search_for_a_counterexample_stops() -> None:
    """Wherever it stops, the verdict is the same as ever, or undecided for want of time."""
    for looks in range(1, 12):
        verdict = _check(_chain(4), looks)
        stopped = any("stopped after" in m for m in _messages(verdict))
        assert (verdict.name, stopped) in {("unbounded", False), ("undecided", True)}
    assert _check(_chain(4), 10**6).name == "unbounded"


def test_a_bounded_query_needs_its_plan() -> None:
    sql = "SELECT x.k FROM s x, s y WHERE x.k = y.k AND x.ts < y.ts"
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert _check(union, 10**6).name == "conditionally-bounded"
    hurried = check_query(union, CATALOG, watch=Watch(0.5, clock=count().__next__))
    assert (hurried.name, hurried.plans) == ("undecided", None)
    assert check_query(union, CATALOG, watch=Watch(0, clock=count().__next__)).plans


def test_repairs_stop_too() -> None:
    watch = Watch(2, clock=count().__next__)
    assert find_repairs(_chain(5), CATALOG, watch=watch) == ()
    assert watch.stopped
    watch = Watch(0)
    assert find_repairs(_chain(3), CATALOG, watch=watch)
    assert not watch.stopped


def test_what_is_reported() -> None:
    reported: list[Progress] = []
    check_query(_chain(4), CATALOG, watch=Watch(on_progress=reported.append))
    find_repairs(_chain(3), CATALOG, watch=Watch(on_progress=reported.append))
    names = list(dict.fromkeys(p.phase for p in reported))
    assert names == ["deciding", "looking for a counterexample", "looking for repairs"]
    for name in names:
        own = [p for p in reported if p.phase == name]
        assert [p.done for p in own] == sorted(p.done for p in own)
        assert all(p.total is not None and 0 <= p.done <= p.total for p in own)


def _work() -> None:
    for _ in range(10_000):
        tick()


def test_inner_phases_are_part_of_the_outer_one() -> None:
    reported: list[Progress] = []
    watch = Watch(10, reported.append, count().__next__)
    with watching(watch), phase("outer", 2) as done, phase("inner", 5) as more:
        more(3)
        done(1)
        with pytest.raises(OutOfTimeError):
            _work()
    assert set(reported) == {Progress("outer", 0, 2), Progress("outer", 1, 2)}
    tick()  # nobody watches any more
