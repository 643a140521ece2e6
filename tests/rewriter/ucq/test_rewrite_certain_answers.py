"""The rewriting finds the certain answers: those over the chase of random data and ontologies."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ontoweir.ontology.tbox import (
    THING,
    Axiom,
    Basic,
    Because,
    Exists,
    NamedClass,
    ReflexiveRole,
    Role,
    SubConcept,
    SubExists,
    SubRole,
    TBox,
)
from ontoweir.rewriter.model.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Iri,
    PropertyAtom,
    Term,
    Variable,
)
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from ontoweir.rewriter.ucq.show_ucq import show_ucq
from tests.rewriter.ucq.chase import Fact, answers, arguments, certain_answers, close

WHY = Because("axiom")
CLASSES = ("A", "B", "C")
PROPERTIES = ("P", "Q")

roles = st.builds(Role, st.sampled_from(PROPERTIES), st.booleans())
named = st.builds(NamedClass, st.sampled_from(CLASSES))
basics: st.SearchStrategy[Basic] = st.one_of(named, st.builds(Exists, roles))
lefts: st.SearchStrategy[Basic] = st.one_of(basics, basics, basics, st.just(THING))
axioms: st.SearchStrategy[Axiom] = st.one_of(
    st.builds(SubConcept, lefts, basics, st.just(WHY)),
    st.builds(
        SubExists,
        basics,
        roles,
        st.lists(basics, min_size=1, max_size=2, unique=True).map(tuple),
        st.just(WHY),
    ),
    st.builds(SubRole, roles, roles, st.just(WHY)),
)
reflexive: st.SearchStrategy[Axiom] = st.builds(ReflexiveRole, roles, st.just(WHY))
individuals = st.sampled_from(("a", "b", "c"))
facts: st.SearchStrategy[Fact] = st.one_of(
    st.tuples(st.sampled_from(CLASSES), individuals),
    st.tuples(st.sampled_from(PROPERTIES), individuals, individuals),
)
variables = st.builds(Variable, st.sampled_from(("x", "y", "z", "w")))
terms: st.SearchStrategy[Term] = st.one_of(
    variables, variables, variables, variables, st.just(Iri("a"))
)
atoms: st.SearchStrategy[Atom] = st.one_of(
    st.builds(ClassAtom, st.sampled_from(CLASSES), terms),
    st.builds(PropertyAtom, st.sampled_from(PROPERTIES), terms, terms),
    st.builds(PropertyAtom, st.sampled_from(PROPERTIES), terms, terms),
)


@st.composite
def queries(draw: st.DrawFn) -> ConjunctiveQuery:
    """A query of up to four atoms and two answer variables, under set semantics."""
    body = tuple(draw(st.lists(atoms, min_size=1, max_size=4)))
    inside = sorted({t for a in body for t in arguments(a) if isinstance(t, Variable)})
    head = tuple(v for v in inside[:2] if draw(st.booleans()))
    return ConjunctiveQuery("q", head, body, (), distinct=True)


def check(query: ConjunctiveQuery, ontology: tuple[Axiom, ...], data: set[Fact]) -> None:
    tbox = TBox(ontology)
    certain = certain_answers(query, data, ontology)
    closed = close(data, tbox)
    by_mapping = {r for q in rewrite_existentials(query, tbox) for r in answers(q, closed)}
    assert by_mapping == certain
    by_ucq = {row for q in show_ucq(query, tbox) for row in answers(q, data)}
    assert by_ucq == certain


@settings(max_examples=400, deadline=None)
@given(queries(), st.lists(axioms, max_size=5).map(tuple), st.sets(facts, min_size=1, max_size=5))
def test_the_rewriting_gives_the_answers_of_the_chase(
    query: ConjunctiveQuery, ontology: tuple[Axiom, ...], data: set[Fact]
) -> None:
    check(query, ontology, data)


@settings(max_examples=150, deadline=None)
@given(
    queries(),
    st.lists(axioms, max_size=3).map(tuple),
    reflexive,
    st.sets(facts, min_size=1, max_size=4),
)
def test_reflexive_properties_are_rewritten(
    query: ConjunctiveQuery, ontology: tuple[Axiom, ...], loop: Axiom, data: set[Fact]
) -> None:
    check(query, (*ontology, loop), data)


def _state(data: list[tuple[int, Fact]], time: int) -> set[Fact]:
    return {fact for at, fact in data if at in (0, time)}


@settings(max_examples=150, deadline=None)
@given(
    queries(),
    st.lists(axioms, max_size=4).map(tuple),
    st.lists(st.tuples(st.integers(0, 2), facts), min_size=1, max_size=6),
)
def test_a_query_at_one_time_sees_that_state(
    query: ConjunctiveQuery, ontology: tuple[Axiom, ...], data: list[tuple[int, Fact]]
) -> None:
    """Time 0 is static: it holds in the states 1 and 2."""
    tbox = TBox(ontology)
    timed = replace(query, atoms=tuple(replace(a, time=Variable("t")) for a in query.atoms))
    for time in (1, 2):
        state = _state(data, time)
        certain = certain_answers(query, state, ontology)
        ucq = show_ucq(timed, tbox)
        assert all(a.time == Variable("t") for q in ucq for a in q.atoms)
        assert {row for q in ucq for row in answers(q, state)} == certain
