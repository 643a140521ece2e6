"""Queries of many attributes, constants and streams: decided, or refused by name."""

import pytest

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.criteria.derive_lto import derive_lto
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.normalise.split_times import MAX_PARTS, split_times
from ontoweir.checker.plans.make_plan import MAX_STEPS, make_plan
from ontoweir.checker.verdict.verdict import Bounded, Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)


def _catalog(streams: int) -> Catalog:
    columns = (*(Column(f"c{k}", IntType()) for k in range(3)), Column("c3", IntType(), 0, 9))
    return Catalog(
        {
            f"s{i}": Stream(f"s{i}", DataSource("parquet", None), "ts", 1, 3, columns)
            for i in range(streams)
        }
    )


def _query(streams: int, conditions: list[Condition]) -> SpjQuery:
    output = LiteralOutput(Attribute("s0", "c3"))
    return SpjQuery(
        tuple(Occurrence(f"s{i}", f"s{i}") for i in range(streams)),
        tuple(conditions),
        (("v", output),),
    )


def _time(i: int, op: Op, j: int) -> Compare:
    return Compare(Attribute(f"s{i}", "ts"), op, Attribute(f"s{j}", "ts"))


def _normal(query: SpjQuery) -> NormalForm:
    return normalise_query(query, distinct=False, catalog=_catalog(len(query.occurrences)))


@pytest.mark.parametrize("distinct", [False, True])
def test_twelve_attributes_and_eight_constants(distinct: bool) -> None:
    """Four streams of three columns: more LTO queries than anyone can count, decided at once."""
    columns = [Attribute(f"s{i}", f"c{k}") for i in range(4) for k in range(3)]
    conditions: list[Condition] = [_time(i, Op.LT, i + 1) for i in range(3)]
    conditions += [Compare(columns[3 * i], Op.GE, Constant(10 * i)) for i in range(4)]
    conditions += [Compare(columns[3 * i + 1], Op.LE, Constant(70 + i)) for i in range(4)]
    conditions += [Compare(columns[i], Op.LT, columns[i + 3]) for i in range(9)]
    query = _query(4, conditions)
    verdict = check_query(SpjUnion("q", ("v",), (query,), distinct), _catalog(4))
    assert verdict.tier is Tier.UNBOUNDED


def test_a_chain_of_twelve_streams_has_a_table_for_each() -> None:
    form = _normal(_query(12, [_time(i, Op.LT, i + 1) for i in range(11)]))
    plan = make_plan(form)
    assert isinstance(plan, SynopsisPlan)
    assert len(plan.tables) == 12
    assert all(len(table.steps) == 1 for table in plan.tables)


def test_streams_that_nothing_orders_are_refused_beyond_a_limit() -> None:
    assert isinstance(make_plan(_normal(_query(10, []))), SynopsisPlan)
    many = _normal(_query(16, []))
    assert decide_lag(many).holds
    with pytest.raises(QueryError, match=f"more than {MAX_STEPS} steps.*order the timestamps"):
        make_plan(many)
    with pytest.raises(QueryError, match="more than"):
        check_query(SpjUnion("q", ("v",), (_query(16, []),), False), _catalog(16))


def test_orders_of_timestamps_are_split_up_to_a_limit() -> None:
    """`<=` in a chain of n streams: 2^(n-1) orders."""
    chain: list[Condition] = [_time(i, Op.LE, i + 1) for i in range(11)]
    parts = split_times(_normal(_query(9, chain[:8])))
    assert parts is not None
    assert len(parts) == 256 <= MAX_PARTS
    form = _normal(_query(12, chain))
    assert split_times(form) is None
    with pytest.raises(QueryError, match="ordered in more than"):
        next(derive_lto(form))
    verdict = check_query(SpjUnion("q", ("v",), (form.query,), False), _catalog(12))
    (decided,) = verdict.disjuncts
    assert isinstance(decided, Bounded)
    assert decided.criteria.tree.failed == ("orders",)


def test_all_pairs_by_not_after_are_no_more_orders_than_the_chain() -> None:
    pairs: list[Condition] = [_time(i, Op.LE, j) for j in range(8) for i in range(j)]
    parts = split_times(_normal(_query(8, pairs)))
    assert parts is not None
    assert len(parts) == 128
