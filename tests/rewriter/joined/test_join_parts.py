"""Rows that come and go, joined: what is read so, and what is not."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.ties.note_ties import list_ties
from tests.paths import ROOT

LATEST = (
    "(SELECT report_id, status FROM traffic QUALIFY RANK() OVER "
    "(PARTITION BY report_id ORDER BY ts DESC) = 1) AS l"
)
FIRST = LATEST.replace("ts DESC", "avg_speed DESC").replace(" AS l", " AS f")
LAST = "t.ts > NOW() - INTERVAL '10' MINUTE"
ON = "l.report_id = t.report_id"
READ = [
    f"SELECT t.id, l.status FROM traffic t JOIN {LATEST} ON {ON} WHERE {LAST}",
    f"SELECT t.id, l.status FROM traffic t LEFT JOIN {LATEST} ON {ON} WHERE {LAST}",
    f"SELECT l.status, f.status AS s FROM {LATEST} JOIN {FIRST} ON f.report_id = l.report_id",
    f"SELECT DISTINCT l.status FROM traffic t, {LATEST} WHERE {ON} AND {LAST} AND l.status <> 'OK'",
    f"WITH l AS {LATEST[:-5]} SELECT t.id FROM traffic t JOIN l ON {ON} WHERE {LAST}",
]
READ += [
    f"SELECT COUNT(*) AS n FROM traffic t JOIN {LATEST} ON {ON} WHERE {LAST}",
    f"SELECT t.id + 1 AS m FROM traffic t JOIN {LATEST} ON {ON} WHERE {LAST}",
]
OTHERWISE = [
    f"SELECT t.id, l.status FROM traffic t JOIN {LATEST} ON {ON}",  # not in a window
    f"SELECT t.id FROM traffic t FULL JOIN {LATEST} ON {ON} WHERE {LAST}",
    f"SELECT t.id FROM traffic t JOIN {LATEST} ON l.status = t.report_id WHERE {LAST}",
]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_project(ROOT / "examples" / "traffic", environ={}).catalog


@pytest.mark.parametrize("sql", READ)
def test_read(sql: str, catalog: Catalog) -> None:
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert union.joined is not None


@pytest.mark.parametrize("sql", OTHERWISE)
def test_twins_are_read_otherwise_or_refused(sql: str, catalog: Catalog) -> None:
    try:
        union = parse_sql(sql, catalog, name="q", file="q.sql")
    except QueryError:
        return
    assert union.joined is None


def test_a_part_without_a_bound_leaves_it_undecided(catalog: Catalog) -> None:
    by_id = LATEST.replace("report_id", "id")
    sql = f"SELECT t.id, l.status FROM traffic t JOIN {by_id} ON l.id = t.id WHERE {LAST}"
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert union.joined is not None
    verdict = check_query(union, catalog)
    assert (verdict.tier, verdict.bound) == (Tier.UNDECIDED, None)


def test_a_part_whose_order_leaves_rows_equal_says_so(catalog: Catalog) -> None:
    ties = LATEST.replace("RANK()", "ROW_NUMBER()").replace("ts DESC", "ts DESC, status")
    sql = f"SELECT t.id, l.status FROM traffic t JOIN {ties} ON {ON} WHERE {LAST}"
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    (said,) = list_ties(union)
    assert said == "rows that are equal in ORDER BY ts DESC, status follow each other by traffic.id"
