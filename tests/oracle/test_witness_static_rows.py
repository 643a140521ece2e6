"""Counterexamples that need several rows of one static relation, whose columns are compared:
confirmed by DuckDB on all subsets."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Reference,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.random_queries import Case
from tests.oracle.test_witness_against_oracle import check_subsets, check_witness

NOTHING = DataSource("parquet", "none")
JOIN = """SELECT DISTINCT a.id FROM line a JOIN line b ON a.id = b.id AND {}
JOIN product p ON p.sku = a.sku JOIN product q ON q.sku = b.sku WHERE {}"""


def make_catalog(rows: int) -> Catalog:
    line = Stream(
        "line",
        NOTHING,
        "ts",
        1_000_000,
        6,
        (Column("id", StringType()), Column("pos", IntType()), Column("sku", StringType())),
        keys=(("id", "pos", "ts"),),
        references=(Reference(("sku",), "product", ("sku",)),),
    )
    columns = (
        Column("sku", StringType()),
        Column("kind", StringType()),
        Column("price", IntType()),
    )
    product = Relation("product", NOTHING, columns, (("sku",),), max_rows=rows)
    return Catalog({"line": line}, {"product": product})


@pytest.mark.parametrize("near", ["a.ts = b.ts", "a.ts <= b.ts"])
@pytest.mark.parametrize(
    "said",
    [
        "p.kind = 'book' AND q.kind = 'toy'",
        "p.kind = 'book' AND q.kind <> 'book'",
        "p.kind <> q.kind",
        "p.price > 10 AND q.price < 5",
        "p.price > q.price",
        "p.kind = q.kind AND p.price + 3 < q.price",
    ],
)
def test_rows_that_differ_are_several(near: str, said: str) -> None:
    catalog = make_catalog(20)
    union = parse_sql(JOIN.format(near, said), catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.tier is Tier.UNBOUNDED
    assert verdict.witness is not None
    texts = ("line.id", "line.sku", "product.sku", "product.kind")
    case = Case(catalog, union, {}, 1, dict.fromkeys(texts, "VARCHAR"))
    check_witness(case, verdict.witness)
    check_subsets(case, verdict.witness)


def test_of_one_row_there_are_not_two() -> None:
    catalog = make_catalog(1)
    text = JOIN.format("a.ts = b.ts", "p.kind = 'book' AND q.kind = 'toy'")
    verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
    assert verdict.witness is None
