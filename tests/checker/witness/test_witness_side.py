"""Verdicts that must not depend on which of two classes that differ is written first, nor on the
values that columns get which the query does not mention."""

import pytest

from ontoweir.checker.decide.check_query import check_query
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

NOWHERE = DataSource("parquet", "none")
SMALL = DecimalType(8, 2)
CATALOG = Catalog(
    {
        "t": Stream(
            "t",
            NOWHERE,
            "ts",
            1,
            2,
            (Column("a", SMALL, enum=(0, 2)), Column("b", StringType())),
            (("b",),),
        ),
        "w": Stream("w", NOWHERE, "ts", 1, 2, (Column("a", IntType()),), (("a", "ts"),)),
        "s": Stream(
            "s",
            NOWHERE,
            "ts",
            1,
            2,
            (Column("b", FloatType()), Column("c", SMALL), Column("d", IntType(), minimum=0)),
            (("c",), ("d",)),
        ),
    },
    {"q": Relation("q", NOWHERE, (Column("k", SMALL),))},
)


@pytest.mark.parametrize(
    "sql",
    [
        # x.a is 2, so that y.a is 0
        "SELECT DISTINCT y.b FROM t y, t x, w z WHERE y.ts <= z.ts AND x.a <> y.a AND x.a > 0.5",
        "SELECT DISTINCT y.b FROM t y, t x, w z WHERE y.ts <= z.ts AND y.a <> x.a AND x.a > 0.5",
        # of two that differ only one is limited
        "SELECT DISTINCT y.a, q.k FROM w x, w y, q WHERE x.ts = y.ts AND x.a <> y.a AND y.a < q.k",
        "SELECT DISTINCT y.a, q.k FROM w y, w x, q WHERE x.ts = y.ts AND y.a <> x.a AND y.a < q.k",
        # keys that are mentioned of one occurrence only
        "SELECT DISTINCT x.b FROM s x, s y WHERE x.c IS NOT NULL AND y.b < -0.75",
        "SELECT DISTINCT x.b FROM s x, s y WHERE x.d IS NOT NULL AND y.b < -0.75",
        "SELECT DISTINCT x.b FROM s x, s y WHERE y.b < -0.75",
    ],
)
def test_unbounded_whichever_way_it_is_written(sql: str) -> None:
    verdict = check_query(parse_sql(sql, CATALOG, name="q", file="q.sql"), CATALOG)
    assert verdict.name == "unbounded"
    assert verdict.witness is not None
