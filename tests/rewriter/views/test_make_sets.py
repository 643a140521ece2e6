"""Which views a query reads, what they are called, and what it says of them."""

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Constant, SpjUnion, TextColumn, View
from ontoweir.rewriter.views.make_sets import SetMaker
from ontoweir.rewriter.views.may_coincide import may_coincide
from tests.rewriter.views.view_project import TOML, open_project, triples_map

STREAM = "SELECT ?x { GRAPH ?t { ?x a :C } }"


def compile_maps(folder: Path, *maps: str, query: str = STREAM, axioms: str = "") -> SpjUnion:
    return open_project(folder, "".join(maps), query, axioms).compile("q").union


def only(union: SpjUnion) -> View:
    """The only view, which every disjunct reads."""
    (view,) = union.views
    assert all([o.table for o in q.occurrences] == [view.name] for q in union.disjuncts)
    return view


def tables(view: View) -> list[list[str]]:
    return [[o.table for o in b.occurrences] for b in view.branches]


def test_rows_that_a_key_tells_apart_are_read_as_they_are(tmp_path: Path) -> None:
    union = compile_maps(tmp_path, triples_map("T", "u", "http://e/{id}", ":C"))
    assert union.views == ()
    assert [[o.table for o in q.occurrences] for q in union.disjuncts] == [["u"]]


def test_the_trace_names_the_key_that_spares_a_view(tmp_path: Path) -> None:
    compiled = open_project(tmp_path, triples_map("T", "u", "http://e/{id}", ":C"), STREAM).compile(
        "q"
    )
    (step,) = (s for s in compiled.trace if s.name == "triples as sets")
    assert (step.subject, step.did) == ("C", "rows of <#T> make each once, by u (id, ts)")


def test_rows_that_may_repeat_are_a_view(tmp_path: Path) -> None:
    view = only(compile_maps(tmp_path, triples_map("T", "s", "http://e/{id}", ":C")))
    assert (view.name, view.distinct, tables(view)) == ("C_members", True, [["s"]])
    assert [c.name for c in view.table.columns] == ["id"]
    assert view.why == "rows of <#T> may make a triple twice; a key (id, ts) of s would spare it"


@pytest.mark.parametrize("head", ["DISTINCT ?x", "(MAX(?v) AS ?most)", "(COUNT(?x) AS ?count)"])
def test_views_are_for_what_counts(head: str, tmp_path: Path) -> None:
    """Not for sets: how often a triple is made does not matter there."""
    union = compile_maps(
        tmp_path,
        triples_map("T", "s", "http://e/{id}", ":v d"),
        query=f"SELECT {head} {{ GRAPH ?t {{ ?x :v ?v }} }}",
    )
    assert [v.name for v in union.views] == (["v_triples"] if "COUNT" in head else [])


def test_matches_are_counted_where_the_project_says_so(tmp_path: Path) -> None:
    toml = TOML.replace("[project]", '[project]\ncounts = "matches"')
    maps = triples_map("T", "s", "http://e/{id}", ":C")
    assert open_project(tmp_path, maps, STREAM, toml=toml).compile("q").union.views == ()


def test_two_maps_that_may_make_one_triple_are_one_view(tmp_path: Path) -> None:
    parts = "SELECT id FROM u WHERE n < 6", "SELECT id FROM u WHERE n > 4"
    view = only(
        compile_maps(
            tmp_path,
            *(triples_map(f"T{n}", sql, "http://e/{id}", ":C") for n, sql in enumerate(parts)),
        )
    )
    assert tables(view) == [["u"], ["u"]]
    assert view.why == "equal triples of <#T0>, <#T1> are one"


def test_maps_that_exclude_each_other_stay_apart(tmp_path: Path) -> None:
    apart = "SELECT id FROM u WHERE n < 5", "SELECT id FROM u WHERE n > 4"
    union = compile_maps(
        tmp_path, *(triples_map(f"T{n}", q, "http://e/{id}", ":C") for n, q in enumerate(apart))
    )
    assert union.views == ()
    assert len(union.disjuncts) == 2


def test_a_class_inferred_of_subclasses_is_one_view(tmp_path: Path) -> None:
    axioms = ":A rdfs:subClassOf :C . :B rdfs:subClassOf :C . "
    maps = [triples_map(c, "u", "http://e/{id}", f":{c}") for c in "AB"]
    kinds = [triples_map("K", "w", "http://e/{id}", ":A"), *maps[1:]]
    union = compile_maps(tmp_path, *maps, axioms=axioms)
    assert union.views == ()  # one row of u is one match of either
    view = only(compile_maps(tmp_path, *kinds, query="SELECT ?x { ?x a :A }", axioms=axioms))
    assert (view.name, tables(view)) == ("static_A_members", [["w"]])


def test_a_symmetric_property_is_a_view_of_both_directions(tmp_path: Path) -> None:
    axioms = ":p a owl:ObjectProperty ; owl:inverseOf :p ."
    pairs = triples_map("T", "s", "http://e/{id}", ":p http://e/{n}")
    query = "SELECT ?x ?y { GRAPH ?t { ?x :p ?y } }"
    view = only(compile_maps(tmp_path, pairs, query=query, axioms=axioms))
    first, second = ([c.column for c in b.columns] for b in view.branches)  # type: ignore[union-attr]
    assert first == second[::-1] == ["id", "n"]


def test_a_constant_beside_a_column_is_a_column_of_the_view(tmp_path: Path) -> None:
    five = (
        '<#F> rr:logicalTable [ rr:tableName "u" ] ; rr:subjectMap [ rr:constant <http://e/25> ] ;'
        f" rr:predicateObjectMap [ rr:predicate {'<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>'}"
        " ; rr:object :C ] .\n"
    )
    view = only(compile_maps(tmp_path, triples_map("T", "u", "http://e/{id}", ":C"), five))
    assert sorted(map(str, (b.columns[0] for b in view.branches))) == sorted(
        map(str, (Constant(25), view.branches[0].columns[0]))
    )


def test_two_properties_of_a_subject_that_is_no_key_are_two_views(tmp_path: Path) -> None:
    """One row does not stand for both: SPARQL has the product of their triples."""
    union = compile_maps(
        tmp_path,
        triples_map("T", "w", "http://e/{id}", ":p k", ":q c"),
        query="SELECT ?x ?v ?y { ?x :p ?v ; :q ?y }",
    )
    assert [v.name for v in union.views] == ["static_p_triples", "static_q_triples"]
    (query,) = union.disjuncts
    assert [o.table for o in query.occurrences] == ["static_p_triples", "static_q_triples"]


def test_and_of_a_subject_that_is_one_are_one_row(tmp_path: Path) -> None:
    union = compile_maps(
        tmp_path,
        triples_map("T", "r", "http://e/{id}", ":p k", ":q c"),
        query="SELECT ?x ?v ?y { ?x :p ?v ; :q ?y }",
    )
    assert union.views == ()
    assert [[o.table for o in q.occurrences] for q in union.disjuncts] == [["r"]]


def test_what_a_static_relation_always_makes_is_told_apart(tmp_path: Path) -> None:
    union = compile_maps(
        tmp_path,
        triples_map("T", "u", "http://e/{id}", ":C"),
        triples_map("R", "r", "http://e/{id}", ":C"),
        triples_map("V", "u", "http://e/{id}", ":v n"),
        query="SELECT ?x ?v { GRAPH ?t { ?x a :C ; :v ?v } }",
    )
    (view,) = union.views
    assert tables(view) == [["u"]]
    assert [[o.table for o in b.occurrences] for b in view.without] == [["r"]]
    assert {o.table for q in union.disjuncts for o in q.occurrences} == {"C_members", "u", "r"}


def test_views_of_one_name_are_numbered(tmp_path: Path) -> None:
    union = compile_maps(
        tmp_path,
        triples_map("T", "w", "http://e/a/{id}", ":C"),
        triples_map("S", "w", "http://e/b/{id}", ":C"),
        query="SELECT ?x { ?x a :C }",
    )
    assert [v.name for v in union.views] == ["static_C_members", "static_C_members_2"]


def test_terms_of_different_shapes_are_told_apart_by_their_texts(tmp_path: Path) -> None:
    view = only(
        compile_maps(
            tmp_path,
            triples_map("T", "w", "http://e/{id}/{k}", ":C"),
            triples_map("S", "w", "http://e/{id}{k}", ":C"),
            query="SELECT ?x { ?x a :C }",
        )
    )
    assert [c.name for c in view.table.columns] == ["iri"]
    assert all(isinstance(c, TextColumn) for b in view.branches for c in b.columns)


def test_blank_nodes_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    blank = triples_map("T", "w", "{id}{k}", ":C").replace(
        '}" ]', '}" ; rr:termType rr:BlankNode ]'
    )
    with pytest.raises(QueryError, match='counts = "matches"') as caught:
        compile_maps(tmp_path, blank, query="SELECT ?x { ?x a :C }")
    assert caught.value.source is not None
    assert caught.value.source.line == 2


def test_facts_are_compared_with_what_is_mapped_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with each other: of thousands, that would be millions of pairs."""
    compared = 0

    def count(first: MappingAssertion, second: MappingAssertion, catalog: Catalog) -> bool:
        nonlocal compared
        compared += 1
        return may_coincide(first, second, catalog)

    monkeypatch.setattr("ontoweir.rewriter.views.make_sets.may_coincide", count)
    facts = ":C a owl:Class .\n" + "".join(f":{i} a :C .\n" for i in range(300))
    maps = triples_map("T", "r", "http://e/{id}", ":C")
    union = compile_maps(tmp_path, maps, query="SELECT ?x { ?x a :C }", axioms=facts)
    assert compared <= 2 * 300
    (view,) = union.views
    assert len(view.branches) == 301  # each of them may be a row, too
    assert view.distinct


@pytest.mark.parametrize("end", [0, 1])
def test_assertions_that_begin_or_end_alike_are_kin(
    monkeypatch: pytest.MonkeyPatch, end: int
) -> None:
    """Two that have different numbers never meet: neither beginning begins the other, and neither
    end ends it."""
    random = Random(7)
    maker = SetMaker(Catalog({}, {}))
    for _ in range(500):
        begins = ["".join(random.choices("ab", k=random.randint(0, 3))) for _ in range(6)]
        begins = begins if random.random() < 0.3 else [b or "c" for b in begins]
        given: list[Any] = [[b] for b in begins]
        pairs = list(zip(given, begins, strict=True))
        both = {b: ((b, "") if end == 0 else ("", b[::-1])) if b else None for b in begins}
        ends = {id(one): (both[b], None) for one, b in pairs}
        monkeypatch.setattr(SetMaker, "_ends_of", lambda self, one, ends=ends: ends[id(one)])
        kin = maker._find_kin(given, end)
        for (one, b), (other, c) in combinations(pairs, 2):
            if b.startswith(c) or c.startswith(b):
                assert kin[id(one)] == kin[id(other)]
        if "" not in begins:
            firsts = [b for b in {*begins} if not any(c != b and b.startswith(c) for c in begins)]
            assert len({*kin.values()}) == len(firsts)


def test_templates_that_end_differently_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a hundred maps that begin alike no two are held against each other, but with itself."""
    compared = 0

    def count(*given: Any) -> bool:
        nonlocal compared
        compared += 1
        return False

    monkeypatch.setattr("ontoweir.rewriter.views.make_sets.differ_at_ends", count)
    maps = "".join(triples_map(f"T{n}", "r", f"http://e/{{id}}/s{n:03}x", ":C") for n in range(100))
    compile_maps(tmp_path, maps, query="SELECT ?x { ?x a :C }", axioms=":C a owl:Class .\n")
    assert compared == 0
