"""Verdicts on queries that read views: what makes them bounded, what shows that they are not."""

from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.explain.blame_branches import blame_branches
from ontoweir.checker.repair.changes import DeclareDomain, DeclareKey, DeclareReference
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.checker.verdict.verdict import Failing, Verdict
from ontoweir.checker.witness.witness import Witness
from ontoweir.diagnostics import Reason
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
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


def _list_reasons(verdict: Verdict) -> list[str]:
    texts, waiting = list[str](), list[Reason]()
    for disjunct in verdict.disjuncts:
        if isinstance(disjunct, Failing):
            waiting += (r for d in disjunct.because for r in d.because)
    while waiting:
        reason = waiting.pop()
        texts.append(reason.message)
        waiting += reason.because
    return texts


LATER = "SELECT ?x { GRAPH ?t { ?x :p ?y } GRAPH ?u { ?z :p ?y } FILTER(?u > ?t) }"


def test_the_columns_of_the_tables_are_named(tmp_path: Path) -> None:
    """Of the columns that make a view's, those that are unbounded."""
    maps = "".join(triples_map(t, t, "http://e/{id}", ":p a") for t in "su")
    reasons = _list_reasons(decide(tmp_path, maps, LATER))
    assert "s.a is a string without an enumeration or a reference" in reasons
    assert "u.a is a string without an enumeration or a reference" in reasons
    toml = TOML.replace('a = "string"', 'a = { type = "string", enum = ["x"] }', 1)
    reasons = _list_reasons(decide(tmp_path, maps, LATER, toml))
    assert "u.a is a string without an enumeration or a reference" in reasons
    assert not any("s.a" in text for text in reasons)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ((), None),
        ((7,), "without the mapping <#B7> the query would be bounded"),
        ((2, 9), "without the mappings <#B2> and <#B9> the query would be bounded"),
        (
            (0, 2, 3, 4, 9),
            "without the mappings <#B0>, <#B2>, <#B3> and 2 more the query would be bounded",
        ),
    ],
)
def test_of_many_branches_those_to_blame_are_named(
    bad: tuple[int, ...], said: str | None, tmp_path: Path
) -> None:
    """Ten mappings with templates of one shape; `bad`: those whose column has no domain."""
    streams = "".join(
        f'[streams.s{i}]\nsource = {{ format = "csv", path = "s{i}" }}\n'
        'timestamp = { column = "ts", unit = "5 minutes" }\n'
        "columns = { id = "
        + ('"int"' if i in bad else '{ type = "int", min = 0, max = 9 }')
        + " }\n"
        for i in range(10)
    )
    maps = "".join(triples_map(f"B{i}", f"s{i}", "http://e/{id}", ":D") for i in range(10))
    query = "SELECT ?x { GRAPH ?t { ?x a :D } GRAPH ?u { ?x a :D } FILTER(?u > ?t) }"
    workspace = open_project(tmp_path, maps, query, toml=TOML + streams)
    compiled = workspace.compile("q")
    (view,) = compiled.union.views
    assert len(view.branches) == 10
    verdict = check_query(compiled.union, workspace.project.catalog, disprove=False)
    blamed = [t for t in _list_reasons(verdict) if t.startswith("without the mapping")]
    assert set(blamed) == ({said} if said else set())
    assert (verdict.plans is not None) == (not bad)


def test_what_branches_alike_are_blamed_for_is_asked_once(tmp_path: Path) -> None:
    """Forty tables that are declared alike, on lines of their own: without any half of them, and
    with any one alone, it is the same question."""
    streams = "".join(
        f'[streams.s{i}]\nsource = {{ format = "csv", path = "s{i}" }}\n'
        'timestamp = { column = "ts", unit = "5 minutes" }\ncolumns = { id = "int" }\n'
        for i in range(40)
    )
    maps = "".join(triples_map(f"B{i}", f"s{i}", "http://e/{id}", ":D") for i in range(40))
    query = "SELECT ?x { GRAPH ?t { ?x a :D } GRAPH ?u { ?x a :D } FILTER(?u > ?t) }"
    workspace = open_project(tmp_path, maps, query, toml=TOML + streams)
    union = workspace.compile("q").union
    (disjunct,) = union.disjuncts
    asked: list[Catalog] = []

    def holds(catalog: Catalog) -> bool:
        asked.append(catalog)
        return False

    catalog = extend_catalog(workspace.project.catalog, union)
    assert [*blame_branches(disjunct, union, catalog, holds)] == []
    assert 0 < len(asked) <= 2
