"""Rewriting by example, and how it is printed."""

from ontoweir.ontology.tbox import (
    Because,
    Exists,
    NamedClass,
    Role,
    SubConcept,
    SubExists,
    SubRole,
    TBox,
)
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from ontoweir.rewriter.ucq.show_ucq import format_cq, show_ucq

E = "http://e/"


def cls(name: str) -> NamedClass:
    return NamedClass(E + name)


def role(name: str) -> Role:
    return Role(E + name)


def parse(text: str) -> ConjunctiveQuery:
    return parse_query(f"PREFIX : <{E}>\n{text}", name="q", file="q.rq")[0]


def shown(text: str, *axioms: SubConcept | SubExists | SubRole) -> list[str]:
    return sorted(format_cq(q) for q in show_ucq(parse(text), TBox(axioms)))


TEACHES = SubExists(cls("Prof"), role("teaches"), (cls("Course"),), Because("Prof teaches"))
QUERY = "SELECT DISTINCT ?x { ?x :teaches ?y . ?y a :Course }"


def test_an_existential_variable_is_folded() -> None:
    assert shown(QUERY, TEACHES) == [
        "q(?x) :- :Prof(?x)",
        "q(?x) :- :teaches(?x, ?y), :Course(?y)",
    ]


def test_an_answer_variable_is_never_folded() -> None:
    assert len(shown("SELECT DISTINCT ?x ?y { ?x :teaches ?y . ?y a :Course }", TEACHES)) == 1


def test_a_filter_variable_is_never_folded() -> None:
    text = "SELECT DISTINCT ?x { ?x :teaches ?y . ?y a :Course FILTER(?y != :z) }"
    assert shown(text, TEACHES) == ["q(?x) :- :teaches(?x, ?y), :Course(?y), ?y <> <http://e/z>"]


def test_roots_of_a_fold_become_equal() -> None:
    text = "SELECT DISTINCT ?x ?z { ?x :teaches ?y . ?z :teaches ?y }"
    assert shown(text, TEACHES) == [
        "q(?x, ?x) :- :Prof(?x)",
        "q(?x, ?z) :- :teaches(?x, ?y), :teaches(?z, ?y)",
    ]


def test_an_answer_equal_to_a_constant_is_that_constant() -> None:
    text = "SELECT DISTINCT ?x { ?x :teaches ?y . :c :teaches ?y }"
    assert "q(?x = <http://e/c>) :- :Prof(<http://e/c>)" in shown(text, TEACHES)


def test_the_generated_atom_has_the_time_of_the_folded_ones() -> None:
    text = "SELECT DISTINCT ?x { GRAPH ?t { ?x :teaches ?y . ?y a :Course } }"
    assert "q(?x) :- :Prof(?x)@?t" in shown(text, TEACHES)


def test_an_anonymous_individual_of_one_state_is_not_in_another() -> None:
    text = "SELECT DISTINCT ?x { GRAPH ?t { ?x :teaches ?y } GRAPH ?u { ?x :teaches ?y } %s }"
    query = parse(text % "FILTER(?t < ?u)")
    (only,) = rewrite_existentials(query, TBox((TEACHES,)))
    assert len(only.atoms) == 2


def test_static_axioms_reach_into_states_where_the_time_stays() -> None:
    text = "SELECT DISTINCT ?x { ?x :teaches ?y GRAPH ?t { ?y a :Course . ?x a :Busy } }"
    assert "q(?x) :- :Busy(?x)@?t, :Prof(?x)" in shown(text, TEACHES)


def test_a_disjunct_names_its_axioms() -> None:
    tbox = TBox((TEACHES, SubConcept(cls("Dean"), cls("Prof"), Because("Dean Prof"))))
    by_text = {format_cq(q): q.axioms for q in show_ucq(parse(QUERY), tbox)}
    assert by_text["q(?x) :- :Dean(?x)"] == (("Prof teaches", None), ("Dean Prof", None))
    assert by_text["q(?x) :- :teaches(?x, ?y), :Course(?y)"] == ()


def test_a_cyclic_ontology_ends() -> None:
    cyclic = SubExists(cls("A"), role("p"), (cls("A"),), Because("cycle"))
    text = "SELECT DISTINCT ?x { ?x :p ?y . ?y :p ?z . ?z :p ?w . ?w a :A }"
    assert "q(?x) :- :A(?x)" in shown(text, cyclic)
    assert len(shown(text, cyclic)) == 4


def test_redundant_atoms_stay_under_bag_semantics_only() -> None:
    text = "SELECT %s ?x { ?x :p ?y . ?x :p ?z }"
    (bag,) = rewrite_existentials(parse(text % ""), TBox())
    (distinct,) = rewrite_existentials(parse(text % "DISTINCT"), TBox())
    assert (len(bag.atoms), len(distinct.atoms)) == (2, 1)


def test_domains_and_unknown_terms() -> None:
    domain = SubConcept(Exists(role("p")), cls("A"), Because("domain"))
    assert shown("SELECT DISTINCT ?x { ?x a :A . ?x :unknown 3 }", domain) == [
        'q(?x) :- :unknown(?x, "3"^^:integer), :A(?x)',
        'q(?x) :- :unknown(?x, "3"^^:integer), :p(?x, _)',
    ]
