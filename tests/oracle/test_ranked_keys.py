"""Values that only few known partners are compared with: bounded, and right."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.plan import Grid
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.kernel.bucket_values import bucket_values
from ontoweir.runtime.statics.gather_statistics import gather_statistics
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, R, Tables, split_markers, sql_types
from tests.oracle.test_kernel_against_oracle import _check_run, _one_by_one, _oracle

_COLUMNS = (
    Column("f", FloatType()),
    Column("p", IntType(), 0, 2),
    Column("a", IntType()),
    Column("d", DecimalType(6, 1)),
    Column("g", StringType()),
    Column("e", StringType(), None, None, ("x", "y")),
    Column("h", FloatType(), None, None, (0.5, 2.0)),
)
_CATALOG = Catalog(
    {n: Stream(n, DataSource("parquet", None), "ts", 1, R, _COLUMNS) for n in "stu"},
    {
        "r": Relation(
            "r",
            DataSource("parquet", None),
            (Column("k", IntType()), Column("w", FloatType()), Column("n", StringType())),
            (("k",),),
        )
    },
)
_BOUNDED = (
    "s.f < t.p",
    "s.f <= t.p AND s.f <> t.p",
    "t.p <= s.f AND s.ts < t.ts",
    "s.f = t.p",
    "s.f <> t.p",
    "s.d < t.p",
    "s.d <> t.p",
    "s.d = t.p",
    "s.g <> t.e",
    "s.f < t.h",
    "s.a <= t.h",
    "s.d > t.h",
    "s.f < t.f AND s.f <= 1 AND t.f >= 1",
    "s.f <> t.h AND s.f > t.p",
    # only where both lie can they be equal
    "s.a <> t.a AND s.a >= 1 AND t.a <= 3",
    "s.f <> t.f AND s.f <= 1 AND t.f >= 1",
    "s.d <> t.a AND s.d >= 0.5 AND t.a <= 2",
    "s.a <> t.f AND s.a >= 1 AND t.f < 2.5",
    "s.a <> t.a + 1 AND s.a >= 1 AND t.a <= 3 AND s.f < t.p",
)
_STATIC = (
    "s.a < t.a AND t.a = r.k",
    "s.f >= t.a AND t.a = r.k",
    "s.d < t.a AND t.a = r.k",
    "s.f < t.f AND t.f = r.w",
    "s.g <> t.g AND t.g = r.n",
    "s.a > t.f AND t.f = r.w AND s.ts < t.ts",
)
_UNBOUNDED = (
    "s.a <> t.a AND s.a >= 1 AND t.a >= 3",
    "s.f <> t.f AND s.f <= 2 AND t.f >= 1",
    "s.f < t.f",
    "s.f < t.f AND s.f <= 2 AND t.f >= 1",
    "s.g <> t.g",
    "s.d < t.f",
)


def _case(sql: str, random: Random) -> Case:
    data: Tables = {
        "r": (["k", "w", "n"], [(k, k / 2, n) for k, n in ((0, "x"), (2, "z"), (3, "y"))])
    }
    for name in _CATALOG.streams:
        rows = [
            (
                random.choice([-1.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 9.0]),
                random.randrange(3),
                random.randint(-1, 4),
                Decimal(random.randint(-5, 25)) / 10,
                random.choice("wxyz"),
                random.choice("xy"),
                random.choice([0.5, 2.0]),
                ts,
            )
            for ts in range(6)
            for _ in range(random.choice([0, 1, 2, R]))
        ]
        data[name] = ([c.name for c in _COLUMNS] + ["ts"], rows)
    union = parse_sql(sql, _CATALOG, name="q", file="q.sql")
    return Case(_CATALOG, union, data, 6, sql_types(_CATALOG))


def _sql(condition: str, *, distinct: bool, third: bool) -> str:
    tables = ["s", "t", *(["u"] if third else []), *(["r"] if "r." in condition else [])]
    more = " AND s.ts < u.ts AND s.f < u.p" if third else ""
    head = "SELECT DISTINCT s.p" if distinct else "SELECT s.p"
    return f"{head} FROM {', '.join(tables)} WHERE {condition}{more}"


@pytest.mark.parametrize("condition", [*_BOUNDED, *_STATIC])
@budget(0.3)
@given(seed=SEEDS)
def test_ranked_keys_equal_the_oracle(condition: str, seed: int) -> None:
    random = Random(seed)
    sql = _sql(condition, distinct=random.random() < 0.4, third=random.random() < 0.3)
    case = _case(sql, random)
    verdict = check_query(case.query, case.catalog)
    assert verdict.plans, sql
    expected = _oracle(case)
    chunks: Sequence[Sequence[tuple[int, int]]] = (
        _one_by_one(case),
        split_markers(random, case.markers),
    )
    for cut in chunks:
        _check_run(case, verdict.plans, cut, expected)


@pytest.mark.parametrize("condition", _BOUNDED)
def test_a_number_without_static_data(condition: str) -> None:
    verdict = _check(condition)
    assert verdict.tier in (Tier.CONDITIONALLY_BOUNDED, Tier.TREE_BOUNDED, Tier.JOINTLY_BOUNDED)
    assert verdict.bound is not None
    assert verdict.bound.rows is not None


@pytest.mark.parametrize("condition", _UNBOUNDED)
def test_twins_with_room_between_values_are_unbounded(condition: str) -> None:
    assert _check(condition).tier is Tier.UNBOUNDED


def _check(condition: str) -> Verdict:
    sql = _sql(condition, distinct=False, third=False).replace("s.p", "1 AS one", 1)
    return check_query(parse_sql(sql, _CATALOG, name="q", file="q.sql"), _CATALOG)


@pytest.mark.parametrize(
    "condition",
    [
        "s.f > t.f AND t.f = r.w",
        "s.f <= t.f AND t.f = r.w AND s.ts < t.ts",
        "s.f <> t.f AND t.f = r.w",
        "s.a > t.f AND t.f = r.w",
        "s.a <= t.f AND t.f = r.w",
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_infinite_static_values(condition: str, known: bool) -> None:
    """Infinity is a value: nothing is beyond it, and it is not a least or greatest finite one."""
    inf = float("inf")
    case = _case(_sql(condition, distinct=False, third=False), Random(0))
    weights = [-inf, 0.5, inf]
    case.data["r"] = (["k", "w", "n"], [(k, w, "x") for k, w in enumerate(weights)])
    rows = [(w, 1, a, Decimal(0), "x", "x", 0.5) for w, a in ((-inf, -1), (0.0, 0), (inf, 1))]
    rows += [(0.5, 1, 2, Decimal(0), "x", "x", 0.5), *rows[::-1]]
    for name in "st":
        columns = case.data[name][0]
        case.data[name] = (columns, [(*row, ts) for ts, row in enumerate(rows)])
    case = replace(case, markers=len(rows))
    tables = {"r": pa.table({"k": [0, 1, 2], "w": weights, "n": ["x", "x", "x"]})}
    statistics = gather_statistics(tables) if known else None
    verdict = check_query(case.query, case.catalog, statistics=statistics)
    assert verdict.plans
    expected = _oracle(case)
    assert expected[-1]
    _check_run(case, verdict.plans, _one_by_one(case), expected)


def test_ranks_of_the_greatest_whole_numbers() -> None:
    """What lies between is computed without leaving 64 bits."""
    ends = np.iinfo(np.int64)
    column = np.array([ends.min, -6, -5, 0, 5, 6, ends.max], dtype=np.int64)
    ranked = bucket_values(column, (Grid(-5, 5, 1),), text=False)
    assert ranked.tolist() == [-6, -6, -5, 0, 5, 6, 6]


@pytest.mark.parametrize("weight", [4.0, float("inf")])
def test_an_infinite_static_value_limits_nothing(weight: float) -> None:
    sql = "SELECT s.a FROM s, t, r WHERE s.a >= 0 AND s.a <= r.w AND s.ts < t.ts"
    union = parse_sql(sql, _CATALOG, name="q", file="q.sql")
    tables = {"r": pa.table({"k": [0, 1], "w": [1.0, weight], "n": ["x", "x"]})}
    verdict = check_query(union, _CATALOG, statistics=gather_statistics(tables))
    assert bool(verdict.plans) == (weight == 4.0)
