"""T-mappings that queries share are those that each would compile by itself."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import MappingSet, RefusedMap
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import Because, NamedClass, SubConcept, TBox
from ontoweir.project.project import load_project
from ontoweir.rewriter.algebra.trace_steps import TraceStep
from ontoweir.rewriter.model.query import ClassAtom, ConjunctiveQuery, Variable
from ontoweir.rewriter.tmappings import share_tmappings
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings
from ontoweir.rewriter.tmappings.share_tmappings import TMappings
from ontoweir.rewriter.unfold.unfold_query import Observer, UnfoldOptions, unfold_query
from ontoweir.rewriter.views import make_sets

TOML = """
[streams.a]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "5 minutes" }
keys = [["x", "ts"]]
REFERENCES
[streams.a.columns]
x = "int"
[relations.b]
source = { format = "csv", path = "b" }
keys = [["x"]]
columns = { x = "int" }
"""
REFERENCES = 'references = [{ columns = ["x"], relation = "b", to = ["x"] }]'
MAPS = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://ex.org/> .
<#A> rr:logicalTable [ rr:tableName "a" ] ;
  rr:subjectMap [ rr:template "http://ex.org/s/{x}" ; rr:class :Sub ; rr:graph :g ] .
<#B> rr:logicalTable [ rr:tableName "b" ] ;
  rr:subjectMap [ rr:template "http://ex.org/s/{x}" ; rr:class :C ] .
<#D> rr:logicalTable [ rr:tableName "a" ] ;
  rr:subjectMap [ rr:template "http://ex.org/s/{x}" ; rr:class :Sub ] .
"""
EX = "http://ex.org/"
TBOX = TBox((SubConcept(NamedClass(EX + "Sub"), NamedClass(EX + "C"), Because("Sub<C")),))
X, T = Variable("x"), Variable("t")


def load(folder: Path, references: str = REFERENCES) -> tuple[Catalog, MappingSet]:
    (folder / "ontoweir.toml").write_text(TOML.replace("REFERENCES", references))
    (folder / "m.ttl").write_text(MAPS)
    catalog = load_project(folder, environ={}).catalog
    return catalog, load_mappings([folder / "m.ttl"], catalog)


def ask(name: str, *graphs: str) -> ConjunctiveQuery:
    return ConjunctiveQuery("q", (X,), (ClassAtom(EX + name, X, T),), (), True, graphs=graphs)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The predicates that are compiled."""
    made: list[str] = []

    def count(
        mappings: MappingSet, tbox: TBox, catalog: Catalog, *, predicates: Sequence[str]
    ) -> MappingSet:
        made.extend(iri.removeprefix(EX) for iri in predicates)
        return compile_tmappings(mappings, tbox, catalog, predicates=predicates)

    monkeypatch.setattr(share_tmappings, "compile_tmappings", count)
    return made


def test_a_predicate_is_compiled_once(tmp_path: Path, compiled: list[str]) -> None:
    catalog, mappings = load(tmp_path)
    shared = TMappings(mappings, TBOX, catalog)
    for query in (ask("C"), ask("Sub"), ask("C"), ask("C", EX + "g"), ask("C", EX + "g")):
        alone = unfold_query([query], mappings, catalog, TBOX)
        compiled.clear()
        options = UnfoldOptions(shared=shared)
        assert unfold_query([query], mappings, catalog, TBOX, options=options) == alone
        again = unfold_query([query], mappings, catalog, TBOX, options=options)
        assert again == alone
        assert len(compiled) == len(set(compiled))
    assert compiled == []  # it was known


def test_graphs_have_t_mappings_of_their_own(tmp_path: Path) -> None:
    catalog, mappings = load(tmp_path)
    shared = TMappings(mappings, TBOX, catalog)
    ids = {
        graphs: [a.id for a in shared.compile(shared.select(mappings, graphs), graphs, [EX + "Sub"])
                 .assertions]
        for graphs in ((), (EX + "g",), ())
    }  # fmt: skip
    assert ids == {(): ["<#D>"], (EX + "g",): ["<#A>"]}


def test_those_of_other_inputs_are_not_taken(tmp_path: Path) -> None:
    """Without the reference, a stream's members are not a relation's."""
    catalog, mappings = load(tmp_path)
    shared = TMappings(mappings, TBOX, catalog)
    options = UnfoldOptions(shared=shared)
    assert len(unfold_query([ask("C")], mappings, catalog, TBOX, options=options).disjuncts) == 1
    other, _ = load(tmp_path, "")
    assert len(unfold_query([ask("C")], mappings, other, TBOX, options=options).disjuncts) == 2
    bare, fewer = TBox(()), MappingSet(mappings.assertions[1:])
    assert shared.are_of(replace(mappings, on_refused=lambda _: None), TBOX, catalog)
    for made in ((mappings, TBOX, other), (mappings, bare, catalog), (fewer, TBOX, catalog)):
        assert not shared.are_of(*made)
    refused = MappingSet(mappings.assertions, refused=(_refused("<#R>", "Sub"),))
    assert not shared.are_of(refused, TBOX, catalog)


def _refused(name: str, *about: str) -> RefusedMap:
    error = MappingError("wrong", why="it is", fix="mend it", source=Source("m.ttl", 1))
    return RefusedMap(name, error, frozenset(EX + a for a in about))


def test_what_is_refused_is_told_every_time(tmp_path: Path, compiled: list[str]) -> None:
    catalog, read = load(tmp_path)
    mappings = replace(read, refused=(_refused("<#R>", "Sub"), _refused("<#N>", "No")))
    shared = TMappings(mappings, TBOX, catalog)
    for _ in range(2):
        with pytest.raises(MappingError, match="wrong"):
            shared.compile(mappings, (), [EX + "C"])
    assert compiled == ["C", "C"]  # errors are not kept
    for _ in range(2):
        told: list[str] = []
        heard = replace(mappings, on_refused=lambda r: told.append(r.id))  # noqa: B023
        assert len(shared.compile(heard, (), [EX + "C"]).assertions) == 1
        assert told == ["<#R>"]
    assert compiled == ["C", "C", "C"]
    with pytest.raises(MappingError, match="wrong"):
        shared.compile(mappings, (), [EX + "C"])


def test_sets_without_a_view_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And told of each time; those that need a view are made in each query."""
    catalog, mappings = load(tmp_path)
    shared = TMappings(mappings, TBOX, catalog)
    count = replace(ask("C"), distinct=False)
    alone = unfold_query([count], mappings, catalog, TBOX)
    steps: list[list[TraceStep]] = []
    for _ in range(2):
        heard: list[TraceStep] = []
        options = UnfoldOptions(shared=shared)
        observer = Observer(on_step=heard.append)
        made = unfold_query([count], mappings, catalog, TBOX, observer=observer, options=options)
        assert made == alone
        steps.append(heard)
        monkeypatch.setattr(make_sets, "find_key", None)  # whatever calls it fails
    assert steps[0] == steps[1]
    assert any(step.name == "triples as sets" for step in steps[0])
