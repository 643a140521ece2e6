"""Relations that change in SQL: at whose time they are read, and what is refused."""

from dataclasses import replace

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    BooleanType,
    Catalog,
    Column,
    DataSource,
    IntType,
    Lag,
    Relation,
    Stream,
    VersionsOf,
)
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.sql.parse_sql import parse_sql

NOTHING = DataSource("parquet", "none")
SECOND = 1_000_000
K = Column("k", IntType(), minimum=0, maximum=9)
FREE = tuple(Column(n, IntType()) for n in ("a", "b"))


def make_catalog(key: str = "k", limited: bool = True) -> Catalog:
    """Streams `s` and `w`, and the relation `p` of the versions `u`; `limited`: those declare a
    domain of k."""
    own = K if limited else Column("k", IntType())
    columns = (own, *FREE, Column("gone", BooleanType()))
    updates = Stream("u", NOTHING, "ts", SECOND, 5, columns, keys=((key, "ts"),))
    of = VersionsOf("u", (key,), "gone")
    keys = ((key, AS_OF),)
    relation = Stream("p", ANSWERS, AS_OF, SECOND, None, columns[:3], keys, versions=of)
    rows = [Stream(n, NOTHING, "ts", SECOND, 5, (K, *FREE)) for n in ("s", "w")]
    return Catalog({t.name: t for t in (*rows, updates, relation)})


SOON = "w.ts BETWEEN s.ts AND s.ts + INTERVAL '2' SECOND"
MET = "FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.k = s.k"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"SELECT s.a, p.b {MET}", 10),
        (f"SELECT s.a * p.b AS n {MET}", 10),
        ("SELECT p.b FROM p FOR SYSTEM_TIME AS OF s.ts, s WHERE s.k = p.k", 10),
        ("SELECT p.b FROM s, p WHERE s.k = p.k AND p.as_of = s.ts", 10),
        ("SELECT b FROM (SELECT p.b AS b FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts USING (k))", 10),
        ("SELECT p.b FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.k = 3", 1),
        (f"SELECT p.b, q.a {MET} JOIN p FOR SYSTEM_TIME AS OF s.ts AS q ON q.k = s.k", 20),
        ("SELECT s.a FROM s LEFT JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.k = s.k", 20),
        (f"SELECT w.a {MET} JOIN w ON w.k = s.k AND w.ts > s.ts", 20),
        (f"SELECT p.b {MET} JOIN w ON w.b = p.b AND {SOON}", 30),
        (f"SELECT SUM(p.b * s.a) AS n {MET}", 12),
    ],
)
def test_one_row_is_kept_for_a_key(text: str, rows: int) -> None:
    catalog = make_catalog()
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert tables_of(union) >= {"s", "u"}
    assert "p" not in tables_of(union)
    verdict = check_query(union, catalog)
    assert verdict.tier in (Tier.CONDITIONALLY_BOUNDED, Tier.TREE_BOUNDED)
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert verdict.bound.rows <= rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT p.b FROM s JOIN p ON p.k = s.k", "read at no row's time"),
        ("SELECT p.b FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.a = s.a", "its k equals no"),
        ("SELECT p.b FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.k = s.k + 1", "its k equals no"),
        ("SELECT p.b FROM s JOIN p FOR SYSTEM_TIME AS OF NOW() ON p.k = s.k", "the time of a row"),
        ("SELECT p.b FROM s JOIN p VERSION AS OF 3 ON p.k = s.k", "as of the time of a row"),
        (f"SELECT b {MET}", "the column 'b' is ambiguous"),
        (f"SELECT p.gone {MET}", "unknown column 'gone'"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(text, make_catalog(), name="q", file="q.sql")
    assert message in str(caught.value)
    assert caught.value.source is not None


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
def test_a_static_relation_is_the_same_at_every_time(join: str) -> None:
    plain = make_catalog()
    site = Relation("site", NOTHING, (K, *FREE), keys=(("k",),))
    catalog = replace(plain, relations={"site": site})
    timed, other = (
        parse_sql(
            f"SELECT s.a, x.b FROM s {join} site {read} AS x ON x.k = s.k",
            catalog,
            name="q",
            file="q.sql",
        )
        for read in ("FOR SYSTEM_TIME AS OF s.ts", "")
    )
    assert len(timed.disjuncts) == len(other.disjuncts)
    for mine, twin in zip(timed.disjuncts, other.disjuncts, strict=True):
        assert mine.occurrences == twin.occurrences
        assert mine.conditions == twin.conditions
    assert len(timed.blocks) == len(other.blocks)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT s.a FROM s JOIN w FOR SYSTEM_TIME AS OF s.ts ON w.k = s.k", "w is a stream"),
        (
            "WITH x AS (SELECT k FROM p) SELECT a FROM s JOIN x FOR SYSTEM_TIME AS OF s.ts ON TRUE",
            "x is what a query makes",
        ),
    ],
)
def test_what_has_no_versions_is_not_read_as_of_a_time(text: str, what: str) -> None:
    with pytest.raises(QueryError, match=what) as refused:
        parse_sql(text, make_catalog(), name="q", file="q.sql")
    assert "versions = {" in refused.value.fix


def test_the_domain_of_the_rows_limits_the_versions() -> None:
    catalog = make_catalog(limited=False)
    verdict = check_query(parse_sql(f"SELECT p.b {MET}", catalog, name="q", file="q"), catalog)
    assert verdict.bound is not None
    assert verdict.bound.rows == 10
    assert [c.text for c in verdict.conditions] == ["s.k in 0..9"]


@pytest.mark.parametrize(
    ("shown", "grouped"),
    [("s.k", ""), ("s.b, p.b", ""), ("DISTINCT s.k", ""), ("s.k, COUNT(*) AS n", " GROUP BY s.k")],
)
def test_any_number_of_keys_is_refuted(shown: str, grouped: str) -> None:
    catalog = make_catalog("a")
    joined = "FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.a = s.a"
    union = parse_sql(f"SELECT {shown} {joined}{grouped}", catalog, name="q", file="q")
    verdict = check_query(union, catalog)
    assert verdict.tier is Tier.UNBOUNDED
    assert verdict.witness is not None
    every = [verdict.witness.fixed, verdict.witness.optional, *verdict.witness.suffixes]
    keys = [dict(r.values)["a"] for rows in every[:2] for r in rows if r.table == "u"]
    assert len(set(keys)) == len(keys) == verdict.witness.size  # one version of each key


def test_what_waits_beside_a_version_is_undecided() -> None:
    catalog = make_catalog()
    text = f"SELECT p.b {MET} JOIN w ON w.k = s.k AND w.ts > s.ts"
    verdict = check_query(parse_sql(text, catalog, name="q", file="q"), catalog)
    assert verdict.tier is Tier.UNDECIDED


def test_what_lags_behind_rows_lags_behind_them_with_versions() -> None:
    catalog = make_catalog()
    lag = Lag("s", ("k",), ("k",), 60 * SECOND)
    streams = {**catalog.streams, "w": replace(catalog.streams["w"], lags=(lag,))}
    catalog = replace(catalog, streams=streams)
    text = f"SELECT p.b {MET} JOIN w ON w.k = s.k AND w.ts > s.ts"
    union = parse_sql(text, catalog, name="q", file="q")
    (block,) = union.blocks
    assert (
        replace(lag, behind=block.stream.name) in extend_catalog(catalog, union).streams["w"].lags
    )
    verdict = check_query(union, catalog)
    assert verdict.bound is not None
    assert verdict.bound.rows == 5 * 60 + 10
