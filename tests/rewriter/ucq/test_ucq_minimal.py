"""The shown UCQ is the minimal one: as large as a naive PerfectRef's, and the same disjuncts."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ontoweir.ontology.axioms import (
    Axiom,
    Basic,
    Because,
    Exists,
    NamedClass,
    Role,
    SubConcept,
    SubExists,
    SubRole,
)
from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Iri,
    PropertyAtom,
    Term,
    Variable,
)
from ontoweir.rewriter.ucq.show_ucq import format_cq, show_ucq
from tests.rewriter.ucq.perfect_ref import (
    FREE,
    Query,
    TooMany,
    contains,
    minimise_naively,
    rewrite_naively,
)
from tests.rewriter.ucq.perfect_ref import Atom as NaiveAtom
from tests.rewriter.ucq.perfect_ref import Term as NaiveTerm

WHY = Because("axiom")
LIMIT = 600


def instance(draw: random.Random) -> tuple[ConjunctiveQuery, tuple[Axiom, ...]]:
    """A small ontology, cyclic hierarchies included, and a query of two to four atoms."""
    classes, properties = "ABCD"[: draw.randint(1, 4)], "PQR"[: draw.randint(1, 3)]

    def role() -> Role:
        return Role(draw.choice(properties), draw.random() < 0.4)

    def basic() -> Basic:
        return NamedClass(draw.choice(classes)) if draw.random() < 0.6 else Exists(role())

    def axiom() -> Axiom:
        kind = draw.random()
        if kind < 0.5:
            return SubConcept(basic(), basic(), WHY)
        if kind < 0.75:
            return SubRole(role(), role(), WHY)
        fillers = {basic() for _ in range(draw.choice((1, 1, 2)))}
        return SubExists(basic(), role(), tuple(sorted(fillers, key=repr)), WHY)

    variables = [Variable(v) for v in "xyzw"]

    def term() -> Term:
        return Iri("a") if draw.random() < 0.08 else draw.choice(variables)

    def atom() -> Atom:
        if draw.random() < 0.35:
            return ClassAtom(draw.choice(classes), term())
        return PropertyAtom(draw.choice(properties), term(), term())

    body = tuple(atom() for _ in range(draw.randint(2, 4)))
    inside = sorted({t for a in body for t in arguments(a) if isinstance(t, Variable)})
    head = tuple(v for v in inside if draw.random() < 0.4)
    axioms = tuple(axiom() for _ in range(draw.randint(1, 6)))
    return ConjunctiveQuery("q", head, body, (), distinct=True), axioms


def arguments(atom: Atom) -> tuple[Term, ...]:
    return (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)


def in_naive_words(query: ConjunctiveQuery) -> Query:
    """The query in the oracle's words; answer variables with a fixed value become it."""
    fixed: dict[Term, Term] = dict(query.constants)
    assert not query.filters

    def term(given: Term) -> NaiveTerm:
        given = fixed.get(given, given)
        if isinstance(given, Variable):
            return ("var", given.name)
        assert isinstance(given, Iri)
        return ("const", given.value)

    def atom(given: Atom) -> NaiveAtom:
        name = given.cls if isinstance(given, ClassAtom) else given.prop
        return (name, *map(term, arguments(given)))

    return tuple(map(term, query.head)), frozenset(map(atom, query.atoms))


def compare(query: ConjunctiveQuery, axioms: tuple[Axiom, ...], limit: int) -> None:
    wanted = rewrite_naively(in_naive_words(query), axioms, limit)
    shown = show_ucq(query, TBox(axioms))
    found = [in_naive_words(q) for q in shown]
    told = f"{query}\n{axioms}\n" + "\n".join(map(format_cq, shown)) + f"\nwanted {wanted}"
    for one in wanted:
        same = [q for q in found if contains(q, one) and contains(one, q)]
        assert len(same) == 1, told
        (twin,) = same
        assert len(twin[1]) == len(one[1]), f"no core: {told}"
    assert len(found) == len(wanted), told


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**40))
def test_the_union_is_that_of_a_naive_perfect_ref(seed: int) -> None:
    query, axioms = instance(random.Random(seed))
    try:
        compare(query, axioms, LIMIT)
    except TooMany:
        assume(False)


A, B, P, Q = NamedClass("A"), NamedClass("B"), Role("P"), Role("Q")
x, y, z = Variable("x"), Variable("y"), Variable("z")


@pytest.mark.parametrize(
    ("head", "body", "axioms", "size"),
    [
        pytest.param((x,), [ClassAtom("A", x)], [SubConcept(B, A, WHY)], 2, id="hierarchy"),
        pytest.param(
            (x,),
            [ClassAtom("A", x), ClassAtom("B", x)],
            [SubConcept(B, A, WHY), SubConcept(A, B, WHY)],
            2,
            id="cycle",
        ),
        pytest.param(
            (x, y),
            [PropertyAtom("P", x, z), PropertyAtom("P", y, z)],
            [SubConcept(A, Exists(P), WHY)],
            2,
            id="answer variables made equal",
        ),
        pytest.param(
            (),
            [PropertyAtom("P", x, y), PropertyAtom("P", y, z)],
            [SubExists(A, P, (A,), WHY)],
            2,
            id="a tree without end",
        ),
        pytest.param(
            (x,),
            [PropertyAtom("P", x, x)],
            [SubConcept(A, Exists(P), WHY)],
            1,
            id="no witness for a loop",
        ),
    ],
)
def test_sizes(
    head: tuple[Variable, ...], body: Sequence[Atom], axioms: Sequence[Axiom], size: int
) -> None:
    query = ConjunctiveQuery("q", head, tuple(body), (), distinct=True)
    compare(query, tuple(axioms), LIMIT)
    assert len(show_ucq(query, TBox(tuple(axioms)))) == size


def test_the_oracle_itself() -> None:
    """A core and a containment that can be seen with the naked eye."""
    p, q = ("P", ("var", "x"), FREE), ("P", ("var", "x"), ("var", "y"))
    loop = ("P", ("var", "x"), ("var", "x"))
    head = (("var", "x"),)
    assert minimise_naively([(head, frozenset({p, q})), (head, frozenset({loop}))]) == [
        ((("var", "h0"),), frozenset({("P", ("var", "h0"), FREE)}))
    ]
