"""Of many disjuncts that differ in constants, few are compared."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjQuery
from ontoweir.rewriter.passes.index_disjuncts import DisjunctIndex
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.ucq import minimise_ucq
from ontoweir.rewriter.ucq.find_homomorphism import contains_query

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { x = "int", y = "int" }
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    return load_project(tmp_path, environ={}).catalog


def make_disjuncts(condition: str, catalog: Catalog) -> Iterator[SpjQuery]:
    """One for each two constants."""
    for first, second in product(range(6), repeat=2):
        sql = (
            "SELECT DISTINCT a.x FROM s a, s b WHERE a.x = b.x AND a.ts < b.ts "
            f"AND a.y = {first} AND b.y = {second}{condition}"
        )
        yield from parse_sql(sql, catalog, name="q", file="q.sql").disjuncts


@pytest.mark.parametrize(
    ("condition", "fewest", "most"),
    [
        pytest.param("", 1, 5, id="constants of columns that have no order"),
        pytest.param(" AND a.y <= b.y", 36, 36, id="twin: an order that may imply a constant"),
    ],
)
def test_disjuncts_of_other_constants_are_not_compared(
    condition: str, fewest: int, most: int, catalog: Catalog
) -> None:
    index = DisjunctIndex[SpjQuery](catalog, lambda query: query)
    queries = list(make_disjuncts(condition, catalog))
    for query in queries:
        index.add(query)
    for query in queries:
        above = list(index.above(query))
        assert query in above
        assert fewest <= len(above) <= most


def test_branches_of_other_constants_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = " ".join(map(str, range(12)))
    text = (
        f"PREFIX : <http://x/> SELECT DISTINCT ?x {{ VALUES ?n {{ {rows} }} VALUES ?m {{ {rows} }} "
        "GRAPH ?t { ?x :p ?n } GRAPH ?u { ?x :p ?m } FILTER(?t < ?u) }"
    )
    branches = parse_query(text, name="q", file="q.rq")
    compared = 0

    def count(general: ConjunctiveQuery, special: ConjunctiveQuery, tbox: None = None) -> bool:
        nonlocal compared
        compared += 1
        return contains_query(general, special, tbox)

    monkeypatch.setattr(minimise_ucq, "contains_query", count)
    assert len(minimise_ucq.minimise_ucq(branches)) == len(branches) == 144
    assert compared < 6 * 144
