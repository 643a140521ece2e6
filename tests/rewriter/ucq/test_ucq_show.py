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


def test_a_disjunct_names_its_axioms() -> None:
    tbox = TBox((TEACHES, SubConcept(cls("Dean"), cls("Prof"), Because("Dean Prof"))))
    by_text = {format_cq(q): q.axioms for q in show_ucq(parse(QUERY), tbox)}
    assert by_text["q(?x) :- :Dean(?x)"] == (("Prof teaches", None), ("Dean Prof", None))
    assert by_text["q(?x) :- :teaches(?x, ?y), :Course(?y)"] == ()


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
