"""Which queries are of what is registered, and which stay as they are, or are refused."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.rewriter.registers.compare_presence import compare_presence
from ontoweir.rewriter.registers.name_presence import name_presence
from ontoweir.rewriter.registers.open_rows import open_rows
from ontoweir.rewriter.sql.parse_sql import parse_sql

NONE = DataSource("parquet", "n")
COLUMNS = (Column("k", IntType()), Column("v", IntType()))
_REGISTER = (Column("id", IntType()), Column("g", StringType()))
CATALOG = Catalog(
    {n: Stream(n, NONE, "ts", 60_000_000, 5, COLUMNS) for n in "st"},
    {
        "r": Relation(
            "r", NONE, (Column("id", IntType()), Column("g", StringType())), (("id",),), max_rows=7
        )
    },
)
AGO = "NOW() - INTERVAL '9' MINUTE"
WINDOW = f"s.ts > {AGO}"
BESIDE = f"(SELECT 1 FROM s WHERE s.k = r.id AND {WINDOW})"


def decide(text: str) -> tuple[Tier, int | None]:
    """The tier and bound of a query."""
    verdict = check_query(parse_sql(text, CATALOG, name="q", file="q.sql"), CATALOG)
    return verdict.tier, None if verdict.bound is None else verdict.bound.rows


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT id FROM r WHERE NOT EXISTS {BESIDE}",
        f"SELECT id FROM r ANTI JOIN s ON s.k = r.id AND {WINDOW}",
        f"SELECT id FROM r LEFT JOIN s ON s.k = r.id AND {WINDOW} WHERE s.k IS NULL",
        # whatever the stream's columns are, the register bounds what is kept of it
        "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.id)",
        (
            f"WITH late AS (SELECT k, ts FROM s WHERE {WINDOW}) SELECT id FROM r WHERE NOT EXISTS "
            "(SELECT 1 FROM late WHERE late.k = r.id)"
        ),
    ],
)
def test_the_register_bounds_it(text: str) -> None:
    tier, rows = decide(text)
    assert tier is Tier.WINDOW_BOUNDED
    assert rows is not None
    assert rows < 60  # whatever R and the length of the window are


def test_what_never_leaves_needs_a_domain() -> None:
    text = (
        "SELECT k, MAX(ts) AS last FROM s GROUP BY k HAVING MAX(ts) < NOW() - INTERVAL '9' MINUTE"
    )
    assert decide(text) == (Tier.UNBOUNDED, None)
    twin = f"SELECT k, MAX(ts) AS last FROM s WHERE {WINDOW} GROUP BY k HAVING COUNT(*) > 1"
    assert decide(twin)[0] is Tier.WINDOW_BOUNDED
    few = text.replace("FROM s", "FROM s JOIN r ON r.id = s.k")
    tier, rows = decide(few)
    assert tier is Tier.WINDOW_BOUNDED
    assert rows is not None


@pytest.mark.parametrize(
    "text",
    [
        # rows of streams, and of static relations alone
        f"SELECT t.k FROM t WHERE NOT EXISTS {BESIDE.replace('r.id', 't.k')}",
        "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM r AS o WHERE o.g = r.g AND o.id > r.id)",
        f"SELECT id FROM r JOIN s ON s.k = r.id AND {WINDOW}",
    ],
)
def test_others_stay(text: str) -> None:
    tree = parse_sql_text(text)
    assert name_presence(tree, CATALOG) is tree
    assert open_rows(tree, CATALOG) is tree


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("WITH x AS (SELECT k FROM s) SELECT id FROM r ANTI JOIN x ON x.k = id", True),
        ("SELECT id FROM r LEFT JOIN (SELECT k AS n FROM s) AS x ON x.n = id", True),
        # rows that are counted are each there once; and a name would be another column's
        ("SELECT id FROM r LEFT JOIN (SELECT DISTINCT k FROM s) AS x ON x.k = id", False),
        ("SELECT id FROM r ANTI JOIN (SELECT k FROM s) AS x ON k = v", False),
        ("SELECT id FROM r ANTI JOIN (SELECT k AS v FROM s) AS x ON x.v = id", True),
        ("SELECT id FROM r LEFT JOIN (SELECT k FROM s LIMIT 3) AS x ON x.k = id", False),
    ],
)  # fmt: skip
def test_rows_of_one_table_are_opened(text: str, opened: bool) -> None:
    tree = parse_sql_text(text)
    assert (open_rows(tree, CATALOG) is not tree) == opened


def test_not_in_has_the_rule_of_null() -> None:
    text = "SELECT id FROM r WHERE id NOT IN (SELECT k FROM s)"
    made = name_presence(parse_sql_text(text), CATALOG)
    assert made.sql("spark").count("NOT EXISTS") == 3  # equal, NULL there, and NULL here
    twin = name_presence(parse_sql_text(text.replace(" NOT", "")), CATALOG)
    assert twin.sql("spark").count("EXISTS") == 1


IN = "id IN (SELECT k FROM s)"
THERE = "EXISTS(SELECT 1 FROM s)"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (f"{THERE} = FALSE", f"NOT {THERE}"),
        (f"{THERE} = TRUE", THERE),
        (f"FALSE <> {THERE}", THERE),
        (f"(NOT {THERE}) IS FALSE", f"NOT NOT {THERE}"),
        (f"({THERE}) IS NOT TRUE", f"NOT {THERE}"),
        (f"NOT ({IN} IS TRUE AND id > 1)", f"NOT ({IN} IS TRUE AND id > 1)"),
        (f"({IN}) = FALSE", f"NOT {IN}"),
        (f"({IN}) IS FALSE OR id > 1", f"NOT {IN} OR id > 1"),
        # NOT IN is unknown beside NULL, which IS NOT TRUE is not
        (f"({IN}) IS NOT TRUE", f"NOT ({IN}) IS TRUE"),
        (f"({THERE}) IS NULL", f"({THERE}) IS NULL"),
        (f"{THERE} = (id > 1)", f"{THERE} = (id > 1)"),
    ],
)
def test_what_is_compared_with_true(said: str, meant: str) -> None:
    tree = parse_sql_text(f"SELECT id FROM r WHERE {said}")
    compare_presence(tree)
    where = tree.args["where"].this.sql("spark")
    assert where == meant


LEFT = f"FROM r LEFT JOIN s ON s.k = r.id AND {WINDOW}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"SELECT id, v {LEFT} LIMIT 3", "LIMIT beside a LEFT JOIN"),
        (f"SELECT k FROM s GROUP BY k HAVING NOT MAX(ts) < {AGO}", "in HAVING"),
        ("SELECT k FROM s GROUP BY k HAVING MAX(v) < 3 AND MIN(ts) < NOW()", "in HAVING"),
        (f"SELECT MAX(id) AS m FROM r WHERE NOT EXISTS {BESIDE} GROUP BY g", "select `r.g` too"),
    ],
)  # fmt: skip
def test_what_is_outside_is_refused(text: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        parse_sql(text, CATALOG, name="q", file="q.sql")
    assert (
        decide(f"SELECT id, COUNT(*) AS n, MIN(v + 1) AS least {LEFT} GROUP BY id")[1] is not None
    )
