"""Queries over the branches of views say where each branch came from."""

from dataclasses import replace
from pathlib import Path

from ontoweir.rewriter.views.expand_views import expand_unions
from tests.rewriter.views.view_project import open_project, triples_map


def test_a_branch_names_its_own_triples_map_and_axiom(tmp_path: Path) -> None:
    maps = (
        triples_map(
            f"T{n}", f"SELECT id FROM s WHERE a = 'k{n}' AND d = {n}", "http://e/{id}", f":C{n}"
        )
        for n in range(14)
    )
    axioms = " ".join(f":C{n} rdfs:subClassOf :C ." for n in range(14))
    workspace = open_project(
        tmp_path, "".join(maps), "SELECT DISTINCT ?x { GRAPH ?t { ?x a :C } }", axioms
    )
    union = workspace.compile("q").union
    (view,) = union.views
    assert len(view.branches) > 1
    (query,) = union.disjuncts
    ((alias, whole),) = query.provenance
    axiom = replace(whole, axioms=("of the query", *whole.axioms))
    union = replace(union, disjuncts=(replace(query, provenance=((alias, axiom),)),))
    expanded = expand_unions(union, 100)
    assert expanded is not None
    said = [[(p.shown, p.axioms) for _, p in q.provenance] for q in expanded.disjuncts]
    assert said == [[(f"<#T{n}>", ("of the query", f"SubClassOf(:C{n} :C)"))] for n in range(14)]
