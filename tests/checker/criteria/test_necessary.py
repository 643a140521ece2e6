"""When failing the lag criterion means that no algorithm has bounded memory."""

import pytest

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Reference,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql

_NOWHERE = DataSource("parquet", None)
_COLUMNS = (
    Column("i", IntType()),
    Column("j", IntType()),
    Column("d", DecimalType(8, 2)),
    Column("f", FloatType()),
    Column("g", StringType()),
    Column("p", IntType(), 0, 2),
)
_CATALOG = Catalog(
    {n: Stream(n, _NOWHERE, "ts", 1, 3, _COLUMNS) for n in ("s", "t")},
    {"r": Relation("r", _NOWHERE, (Column("k", IntType()), Column("v", IntType())), (("k",),))},
)

_FROM = "SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND"
_SET = "SELECT DISTINCT 1 AS one FROM s, t WHERE s.ts < t.ts AND"


@pytest.mark.parametrize(
    ("sql", "necessary"),
    [
        (f"{_FROM} s.i < t.i", True),
        (f"{_FROM} s.g = t.g", True),
        (f"{_FROM} s.d < t.d", True),
        (f"{_FROM} s.f < t.f", False),  # dense
        (f"{_FROM} s.f < t.p", False),  # three values of t.p: bounded, and yet it fails E3
        (f"{_FROM} s.d < t.i", False),  # two grains
        (f"{_FROM} s.i <> t.i", False),
        (f"{_FROM} s.g <> t.g", False),
        (f"{_FROM} s.i < t.i AND s.p <> 0 AND s.p <> 1 AND s.p <> 2", False),  # never true
        (f"{_FROM} s.i < t.i AND s.g < 'a' AND s.g > 'b'", False),  # never true
        (
            f"{_FROM} s.i < t.i AND s.ts <= TIMESTAMP '2020-01-01 00:00'",
            False,
        ),  # finitely many tuples
        ("SELECT 1 AS one FROM s, t, r WHERE s.i < t.i AND s.j = r.k", False),  # r may be empty
        ("SELECT 1 AS one FROM s AS x, s AS y WHERE x.ts < y.ts AND x.i < y.i", False),
        (f"{_SET} s.i < t.i AND t.i <= s.j", True),
        (f"{_SET} s.i < t.i AND t.i <= s.j AND s.i <= 1", False),  # may be split
        (f"{_SET} s.i < t.i AND t.i <= s.j AND s.i <= 1 AND s.j >= 1", False),  # is split
    ],
)
def test_necessary(sql: str, necessary: bool) -> None:
    union = parse_sql(sql, _CATALOG, name="q", file="q.sql")
    form = normalise_query(union.disjuncts[0], distinct=union.distinct, catalog=_CATALOG)
    assert decide_lag(form).necessary is necessary


@pytest.mark.parametrize(
    "sql",
    [
        f"{_FROM} s.i < t.i",
        f"{_FROM} s.g = t.g",
        f"{_FROM} s.d < t.d",
        f"{_SET} s.i < t.i AND t.i <= s.j",
    ],
)
def test_what_fails_and_is_necessary_has_a_witness(sql: str) -> None:
    union = parse_sql(sql, _CATALOG, name="q", file="q.sql")
    assert check_query(union, _CATALOG).witness is not None


def test_a_witness_may_not_let_static_data_grow() -> None:
    """r's greatest k bounds what t.i can be, so that finitely many comparisons with s.f matter,
    however few tuples a layout has and however great a value of r it takes for them."""
    relation = Relation("r", _NOWHERE, (Column("k", IntType()),), (("k",),))
    reference = Reference(("j",), "r", ("k",))
    stream = Stream("s", _NOWHERE, "ts", 1, 3, _COLUMNS, (), (reference,))
    catalog = Catalog({"s": stream, "t": _CATALOG.streams["t"]}, {"r": relation})
    sql = f"{_FROM} s.f > 4 AND t.i < s.f"
    union = parse_sql(f"{sql} AND t.i <= s.j", catalog, name="q", file="q.sql")
    assert check_query(union, catalog).name == "undecided"
    # nor where something else lies far away, so that a layout would have room below it
    far = parse_sql(
        f"{sql} AND t.i <= s.j AND t.j <= 1000 AND t.j >= t.i", catalog, name="q", file="q.sql"
    )
    assert check_query(far, catalog).name == "undecided"
    low = parse_sql(
        f"{_FROM} s.f < 4 AND t.i > s.f AND t.i >= s.j AND t.j >= -1000 AND t.j <= t.i",
        catalog,
        name="q",
        file="q.sql",
    )
    assert check_query(low, catalog).name == "undecided"
    twin = parse_sql(sql, catalog, name="q", file="q.sql")
    assert check_query(twin, catalog).name == "unbounded"
