"""Verdicts on queries that read views: what makes them bounded, what shows that they are not."""

from pathlib import Path

from ontoweir.checker.repair.changes import DeclareDomain, DeclareKey, DeclareReference
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.checker.witness.witness import Witness
from tests.rewriter.views.view_project import TOML, open_project, triples_map


def decide(folder: Path, maps: str, query: str, toml: str = TOML) -> Verdict:
    workspace = open_project(folder, maps, query, toml=toml)
    compiled = workspace.compile("q")
    assert compiled.union.views
    return workspace.check(compiled)


def test_one_time_needs_no_memory(tmp_path: Path) -> None:
    maps = triples_map("T", "s", "http://e/{id}", ":C")
    verdict = decide(tmp_path, maps, "SELECT ?x { GRAPH ?t { ?x a :C } }")
    assert verdict.bound is not None
    assert verdict.bound.rows == 0


def test_a_join_over_times_is_bounded_by_the_domains_of_branches(tmp_path: Path) -> None:
    """A count for each of the 9 + 11 things that either stream may be of."""
    maps = "".join(triples_map(t, t, "http://e/{id}", f":C{t}", ":D") for t in "su")
    maps += triples_map("W", "SELECT id FROM s WHERE n > 2", "http://e/{id}", ":D")
    query = "SELECT ?x { GRAPH ?t { ?x a :Cs } GRAPH ?u { ?x a :D } FILTER(?u > ?t) }"
    verdict = decide(tmp_path, maps, query)
    assert verdict.plans is not None
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert verdict.bound.rows <= 20


TEXTS = "SELECT ?x { GRAPH ?t { ?x :p ?y } GRAPH ?u { ?z :p ?y } FILTER(?u > ?t) }"


def test_of_one_that_is_not_bounded_the_witness_is_over_the_tables(tmp_path: Path) -> None:
    maps = triples_map("T", "s", "http://e/{id}", ":p a")
    verdict = decide(tmp_path, maps, TEXTS)
    assert verdict.plans is None
    assert isinstance(verdict.witness, Witness)
    rows = (*verdict.witness.optional, *(r for suffix in verdict.witness.suffixes for r in suffix))
    assert {row.table for row in rows if row.step is not None} == {"s"}


def test_a_domain_of_the_tables_column_bounds_it(tmp_path: Path) -> None:
    maps = triples_map("T", "s", "http://e/{id}", ":p a")
    toml = TOML.replace('a = "string"', 'a = { type = "string", enum = ["x", "y"] }')
    verdict = decide(tmp_path, maps, TEXTS, toml)
    assert verdict.plans is not None


def test_repairs_name_the_columns_of_the_tables(tmp_path: Path) -> None:
    maps = triples_map("T", "s", "http://e/{id}", ":p a")
    workspace = open_project(tmp_path, maps, TEXTS)
    compiled = workspace.compile("q")
    repairs = find_repairs(compiled.union, workspace.project.catalog)
    changes = [change for repair in repairs for change in repair.changes]
    declared = {c for c in changes if isinstance(c, DeclareDomain | DeclareReference | DeclareKey)}
    assert any(isinstance(c, DeclareDomain) and c.column == "a" for c in declared)
    assert {c.stream for c in declared} == {"s"}
