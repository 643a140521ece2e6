"""What may explode ends with a located error that says what, how many and what to do."""

from pathlib import Path

import pytest

from ontoweir.errors import QueryError
from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.progress.progress import Progress
from ontoweir.progress.show_rewriting import WorkLines
from ontoweir.project.project import load_project
from ontoweir.rewriter.algebra import contain_spj
from ontoweir.rewriter.model.spj import OneOf, SpjUnion
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.ucq import (
    find_homomorphism,
    find_tree_witnesses,
    rewrite_existentials,
    show_ucq,
)
from ontoweir.rewriter.unfold import match_atoms, unfold_query

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "5 minutes" }
max_per_timestamp = 10
columns = { id = "int", v = "int" }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://e/> .
<#S> rr:logicalTable [ rr:tableName "s" ] ;
  rr:subjectMap [ rr:template "http://e/r{ts}/{id}" ; rr:class :R ] ;
  rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://e/{id}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] .
"""
PREFIXES = (
    "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
)


def compile_query(folder: Path, ontology: str, where: str, select: str = "DISTINCT ?x") -> SpjUnion:
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(MAPPING)
    (folder / "o.ttl").write_text(PREFIXES + ontology)
    (folder / "q.rq").write_text(f"PREFIX : <http://e/>\nSELECT {select}\nWHERE {{ {where} }}\n")
    return Workspace(load_project(folder, environ={})).compile("q").union


def people(cls: str, numbers: range) -> str:
    return f":{cls} a owl:Class .\n" + "".join(f":{i} a :{cls} .\n" for i in numbers)


def refused(found: pytest.ExceptionInfo[QueryError], *words: str) -> None:
    text = str(found.value)
    assert found.value.source is not None
    assert found.value.source.line is not None, text
    assert text.count("; ") >= 2
    for word in words:
        assert word in text


def test_many_facts_are_joined_by_the_individual(tmp_path: Path) -> None:
    ontology = people("A", range(2000)) + people("B", range(1000, 3000))
    union = compile_query(tmp_path, ontology, "?x a :A . ?x a :B")
    (view,) = union.views
    assert [[o.table for o in q.occurrences] for q in union.disjuncts] == [[view.name]]
    assert len(view.branches) == 1000


def test_and_whatever_the_order_of_the_patterns(tmp_path: Path) -> None:
    links = ":p a owl:ObjectProperty .\n" + "".join(f":{i} :p :{i + 1000} .\n" for i in range(900))
    ontology = people("A", range(1000)) + people("B", range(1000, 2000)) + links
    union = compile_query(tmp_path, ontology, "?x a :A . ?y a :B . ?x :p ?y")
    assert len(union.disjuncts) == 900


def test_many_facts_meet_a_stream(tmp_path: Path) -> None:
    union = compile_query(
        tmp_path, people("A", range(1000)), "GRAPH ?t { ?r :by ?x } ?x a :A", "DISTINCT ?x"
    )
    assert len(union.disjuncts) == 1000


def test_pairs_of_facts_are_a_join_of_two_views(tmp_path: Path) -> None:
    """14,400 combinations, were each fact a choice."""
    ontology = people("A", range(120)) + people("B", range(120))
    union = compile_query(tmp_path, ontology, "?x a :A . ?y a :B", "DISTINCT ?x ?y")
    (query,) = union.disjuncts
    assert sorted(o.table for o in query.occurrences) == sorted(v.name for v in union.views)
    assert [len(v.branches) for v in union.views] == [120, 120]


def test_disjuncts_over_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfold_query, "MAX_DISJUNCTS", 10)
    patterns = " ".join(f"GRAPH ?t{i} {{ ?x{i} :v ?v{i} }}" for i in range(4))
    apart = " ".join(f"FILTER(?v{i} < 2 || ?v{(i + 1) % 4} > 7)" for i in range(4))
    with pytest.raises(QueryError) as found:
        compile_query(tmp_path, "", f"{patterns} {apart}", "DISTINCT ?v0 ?v1 ?v2 ?v3")
    refused(found, "10 disjuncts", "static relation")


def test_combinations_to_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_atoms, "MAX_COMBINATIONS", 10_000)
    ontology = people("A", range(120)) + people("B", range(120)) + people("C", range(500, 502))
    with pytest.raises(QueryError) as found:
        compile_query(tmp_path, ontology, "?x a :A . ?y a :B . GRAPH ?t { ?y :by ?x }")
    refused(found, "10,000 combinations", "http://e/A in 120")


CYCLE = """
:p a owl:ObjectProperty . :q a owl:ObjectProperty . :A a owl:Class .
:A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :A ] ,
  [ owl:onProperty :q ; owl:someValuesFrom :A ] .
:p rdfs:subPropertyOf :r . :q rdfs:subPropertyOf :r . :r a owl:ObjectProperty .
"""


def tbox_of(folder: Path, turtle: str) -> TBox:
    (folder / "o.ttl").write_text(PREFIXES + turtle)
    return load_ontology([folder / "o.ttl"])


def star(ends: int) -> str:
    atoms = " . ".join(f"?x :r ?y{i}" for i in range(ends))
    return f"PREFIX : <http://e/>\nSELECT DISTINCT ?x\nWHERE {{ {atoms} }}"


def chain(length: int, prop: str = "r") -> str:
    atoms = " . ".join(f"?x{i} :{prop} ?x{i + 1}" for i in range(length))
    return f"PREFIX : <http://e/>\nSELECT DISTINCT ?x0\nWHERE {{ {atoms} }}"


def test_partial_tree_witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_tree_witnesses, "MAX_STEPS", 5_000)
    tbox = tbox_of(tmp_path, CYCLE)
    rewrite_existentials.rewrite_existentials(parse_query(chain(4), name="q", file="q.rq")[0], tbox)
    with pytest.raises(QueryError) as found:
        rewrite_existentials.rewrite_existentials(
            parse_query(chain(16), name="q", file="q.rq")[0], tbox
        )
    refused(found, "5,000 partial tree witnesses")


def test_rewritings_by_existential_axioms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite_existentials, "MAX_REWRITINGS", 500)
    axioms = "".join(
        f":A{i} rdfs:subClassOf [ owl:onProperty :p{i} ; owl:someValuesFrom owl:Thing ] ."
        f" :p{i} a owl:ObjectProperty .\n"
        for i in range(10)
    )
    tbox = tbox_of(tmp_path, axioms)
    atoms = " . ".join(f"?x :p{i} ?y{i}" for i in range(10))
    text = f"PREFIX : <http://e/>\nSELECT DISTINCT ?x\nWHERE {{ {atoms} }}"
    with pytest.raises(QueryError) as found:
        rewrite_existentials.rewrite_existentials(parse_query(text, name="q", file="q.rq")[0], tbox)
    refused(found, "500 rewritings by existential axioms")


def test_disjuncts_of_the_ucq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_ucq, "MAX_REWRITINGS", 2_000)
    below = "".join(
        f":p{i} rdfs:subPropertyOf :r . :p{i} a owl:ObjectProperty .\n" for i in range(12)
    )
    tbox = tbox_of(tmp_path, below + ":r a owl:ObjectProperty .")
    with pytest.raises(QueryError) as found:
        show_ucq.show_ucq(parse_query(chain(5), name="q", file="q.rq")[0], tbox)
    refused(found, "2,000 disjuncts in its UCQ", "--show sql")


def test_homomorphisms_of_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_homomorphism, "MAX_STEPS", 50)
    text = star(60)
    with pytest.raises(QueryError) as found:
        show_ucq.show_ucq(parse_query(text, name="q", file="q.rq")[0], TBox())
    refused(found, "50 ways to map its patterns")


def test_homomorphisms_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contain_spj, "MAX_STEPS", 40)
    patterns = " ".join(f"GRAPH ?t{i} {{ ?r{i} :v ?v{i} }}" for i in range(7))
    heads = " ".join(f"?v{i}" for i in range(7))
    branches = f"{{ {patterns} }} UNION {{ {patterns} FILTER(?v6 > 5) }}"
    assert len(compile_query(tmp_path, "", branches, f"DISTINCT {heads}").disjuncts) == 1
    parts = " ".join(f"GRAPH ?t{i} {{ ?r{i} :v ?v{i} }}" for i in range(1, 7))
    ends = "FILTER(?v1 = ?v2 && ?v3 = ?v4 && ?v5 < ?v6)", "FILTER(?v5 = ?v6 && ?v6 = 3)"
    branches = " UNION ".join(f"{{ {parts} GRAPH ?t {{ ?r :v ?x }} {end} }}" for end in ends)
    with pytest.raises(QueryError) as found:
        compile_query(tmp_path, "", branches, "DISTINCT ?x")
    refused(found, "40 ways to map its tables")


def test_progress_is_reported() -> None:
    reported: list[Progress] = []
    budget = WorkBudget("steps", 1000, "why", "fix", on_progress=reported.append)
    assert sum(budget.over([1] * 1000)) == 1000
    assert reported == [Progress("steps", n, None) for n in (256, 512, 768)]


@pytest.mark.parametrize(
    ("terminal", "quiet", "lines"), [(True, False, 2), (True, True, 0), (False, False, 0)]
)
def test_progress_is_shown_on_a_terminal_after_a_moment(
    terminal: bool,
    quiet: bool,
    lines: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    times = iter((0.0, 0.5, 1.0, 1.9, 2.5, 3.0, 4.4, 4.7))
    progress = WorkLines(quiet=quiet, clock=lambda: next(times))
    for n in range(7):
        progress(Progress("combinations", n, None))
    shown = capsys.readouterr().err
    assert shown.count("so far") == lines


def test_a_thousand_mappings_below_one_class(tmp_path: Path) -> None:
    """They are branches of one view, which one disjunct reads."""
    workspace = open_mapped(tmp_path, "v = {i} AND id < {i}", 600)
    union = workspace.compile("q").union
    (view,) = union.views
    assert len(union.disjuncts) == 1
    assert len(view.branches) == 600


def test_thousands_of_constants_of_one_column_are_one_disjunct(tmp_path: Path) -> None:
    workspace = open_mapped(tmp_path, "v = {i}", 2_000)
    (query,) = workspace.compile("q").union.disjuncts
    (listed,) = (c for c in query.conditions if isinstance(c, OneOf))
    assert listed.values == tuple(range(2_000))


def test_a_join_of_two_classes_with_hundreds_of_constants_is_one_disjunct(tmp_path: Path) -> None:
    """A product of 90,000 combinations, were each constant a choice."""
    where = "GRAPH ?t { ?x a :Top } GRAPH ?u { ?x a :Top }"
    workspace = open_mapped(tmp_path, "v = {i}", 300, where)
    assert len(workspace.compile("q").union.disjuncts) == 1


def open_mapped(
    folder: Path, condition: str, count: int, where: str = "GRAPH ?t { ?x a :Top }"
) -> Workspace:
    """A project with so many triples maps, each of a class below :Top and of the rows that satisfy
    the condition for its number."""
    maps = "".join(
        f'<#M{i}> rr:logicalTable [ rr:sqlQuery "SELECT id FROM s WHERE {condition.format(i=i)}" ] '
        f';\n  rr:subjectMap [ rr:template "http://e/r{{id}}" ; rr:class :C{i} ] .\n'
        for i in range(count)
    )
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(MAPPING + maps)
    axioms = "".join(f":C{i} rdfs:subClassOf :Top .\n" for i in range(count))
    (folder / "o.ttl").write_text(PREFIXES + axioms)
    (folder / "q.rq").write_text(f"PREFIX : <http://e/>\nSELECT DISTINCT ?x WHERE {{ {where} }}")
    return Workspace(load_project(folder, environ={}))
