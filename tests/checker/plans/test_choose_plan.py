"""Of two plans of a set query the one that keeps less; both give the oracle's answers (fuzzed)."""

from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql

STREAM = """
[streams.{0}]
source = {{ format = "parquet", path = "{0}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = {{ type = "int", min = 1, max = 3 }}, a = {{ type = "int", min = 0, max = 999 }} }}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text("".join(STREAM.format(n) for n in "stu"))
    return load_project(tmp_path, environ={}).catalog


@pytest.mark.parametrize(
    ("sql", "rows", "frontiers"),
    [
        # the least s.a so far, and which k have been answered
        ("SELECT DISTINCT s.k FROM s, t WHERE s.ts < t.ts AND s.k = t.k AND s.a < t.a", 6, 1),
        # a bag counts every value below the greatest
        ("SELECT s.k FROM s, t WHERE s.ts < t.ts AND s.k = t.k AND s.a < t.a", 2_997, 0),
        # a value that is shown has to be kept
        ("SELECT DISTINCT s.a FROM s, t WHERE s.ts < t.ts AND s.a < t.a", None, 0),
    ],
)
def test_what_is_kept(catalog: Catalog, sql: str, rows: int | None, frontiers: int) -> None:
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    assert verdict.plans is not None
    (plan,) = verdict.plans
    assert verdict.bound is not None
    if rows is not None:
        assert verdict.bound.rows == rows
    assert sum(len(t.frontier) for t in plan.tables) == frontiers
