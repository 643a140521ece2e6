"""Other words for what is latest, there, or not there: what they are made of, and what is left."""

from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.latest.choose_values import choose_values
from ontoweir.rewriter.latest.compare_all import compare_all
from ontoweir.rewriter.latest.join_latest import join_latest
from ontoweir.rewriter.latest.name_later import name_later

CATALOG = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
columns = { k = "int", v = "int" }
[streams.t]
source = { format = "parquet", path = "t" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
columns = { k = "int", w = "int" }
"""
LATER = "FROM s AS a LEFT JOIN s AS b ON a.k = b.k AND b.ts > a.ts"
LATERAL = "SELECT s.v, x.w FROM s CROSS JOIN LATERAL (SELECT t.w FROM t WHERE t.k = s.k"


@pytest.fixture(name="catalog")
def load(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text(CATALOG, encoding="utf-8")
    return load_project(tmp_path, environ={}).catalog


def _settle(text: str, catalog: Catalog) -> str:
    tree = sqlglot.parse_one(text, read="spark")
    assert isinstance(tree, sqlglot.exp.Select)
    compare_all(tree, catalog)
    join_latest(tree, catalog)
    name_later(tree)
    choose_values(tree, catalog)
    return str(tree.sql("spark"))


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("SELECT s.v FROM s WHERE (SELECT COUNT(*) FROM t WHERE t.k = s.k) = 0", "NOT EXISTS"),
        ("SELECT s.v FROM s WHERE 1 <= (SELECT COUNT(t.w) FROM t WHERE t.k = s.k)", "EXISTS"),
        ("SELECT s.v FROM s WHERE s.ts >= ALL (SELECT b.ts FROM s AS b)", "NOT EXISTS"),
        ("SELECT s.v FROM s WHERE s.k = ANY (SELECT t.k FROM t)", "s.k IN (SELECT"),
        (
            f"SELECT a.v {LATER} WHERE b.k IS NULL",
            "NOT EXISTS",
        ),
        (
            f"{LATERAL} AND t.ts <= s.ts ORDER BY t.ts DESC LIMIT 1) AS x",
            "ASOF JOIN",
        ),
        (
            "SELECT DISTINCT k, FIRST_VALUE(v) OVER (PARTITION BY k ORDER BY ts) AS v FROM s",
            "ROW_NUMBER() OVER",
        ),
    ],
)
def test_other_words(text: str, made: str, catalog: Catalog) -> None:
    assert made in _settle(text, catalog)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s.v FROM s WHERE (SELECT COUNT(*) FROM t WHERE t.k = s.k) = 1",
        "SELECT s.v FROM s WHERE (SELECT COUNT(DISTINCT t.w) FROM t WHERE t.k = s.k) = 0",
        f"SELECT a.v {LATER} WHERE b.v IS NULL",
        f"SELECT a.v, b.v {LATER} WHERE b.k IS NULL",
        f"{LATERAL} ORDER BY t.ts DESC LIMIT 1) AS x",
        "SELECT k, FIRST_VALUE(v) OVER (PARTITION BY k ORDER BY ts) AS v FROM s",
    ],
)
def test_twins_are_left_as_they_are(text: str, catalog: Catalog) -> None:
    assert _settle(text, catalog) == sqlglot.parse_one(text, read="spark").sql("spark")


def test_values_that_may_be_null_are_neither_less_nor_greater(catalog: Catalog) -> None:
    """Declared so or not: a row may have NULL in a column of which nothing is declared."""
    text = "SELECT s.v FROM s WHERE s.v >= ALL (SELECT b.v FROM s AS b)"
    stream = catalog.streams["s"]
    columns = tuple(replace(c, nullable=True) for c in stream.columns)
    null = replace(catalog, streams={**catalog.streams, "s": replace(stream, columns=columns)})
    for known in (catalog, null):
        assert _settle(text, known).endswith("WHERE (s.v < b.v OR s.v IS NULL OR b.v IS NULL))")


def test_values_that_conditions_want_are_less_or_greater(catalog: Catalog) -> None:
    inner = "SELECT b.v FROM s AS b WHERE b.v IS NOT NULL"
    text = f"SELECT s.v FROM s WHERE s.v >= ALL ({inner}) AND s.v IS NOT NULL"
    made = _settle(text, catalog)
    assert "s.v < b.v" in made
    assert " OR " not in made
