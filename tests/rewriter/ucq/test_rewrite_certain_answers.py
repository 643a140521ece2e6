"""The rewriting finds the certain answers: those over the chase of random data and ontologies.

The oracle is written from the definitions: the restricted chase to a depth beyond which neither
a query of this size nor an ontology of this size can look.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from hypothesis import assume, given, settings
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

Fact: TypeAlias = tuple[str, str] | tuple[str, str, str]

WHY = Because("axiom")
DEPTH = 6
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


def arguments(atom: Atom) -> tuple[Term, ...]:
    return (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)


def pairs(data: set[Fact], role: Role) -> set[tuple[str, str]]:
    found = {(f[1], f[2]) for f in data if len(f) == 3 and f[0] == role.iri}
    return {(y, x) for x, y in found} if role.inverse else found


def members(data: set[Fact], basic: Basic) -> set[str]:
    if basic == THING:
        return {x for f in data for x in f[1:]}
    if isinstance(basic, NamedClass):
        return {f[1] for f in data if len(f) == 2 and f[0] == basic.iri}
    return {x for x, _ in pairs(data, basic.role)}


def edge(role: Role, x: str, y: str) -> Fact:
    return (role.iri, y, x) if role.inverse else (role.iri, x, y)


def chase(data: set[Fact], ontology: tuple[Axiom, ...]) -> set[Fact]:
    """The restricted chase; elements it makes start with `_`, one for each step of depth."""
    data = set(data)
    count = 0

    def plain() -> set[Fact]:
        new: set[Fact] = set()
        for axiom in ontology:
            if isinstance(axiom, SubRole):
                new |= {edge(axiom.sup, x, y) for x, y in pairs(data, axiom.sub)}
            elif isinstance(axiom, SubConcept) and isinstance(axiom.sup, NamedClass):
                new |= {(axiom.sup.iri, x) for x in members(data, axiom.sub)}
            elif isinstance(axiom, ReflexiveRole):
                new |= {edge(axiom.role, x, x) for x in members(data, THING)}
        return new - data

    def need(axiom: SubConcept | SubExists) -> Iterator[tuple[str, Role, tuple[Basic, ...]]]:
        if isinstance(axiom, SubExists):
            role, fillers = axiom.role, axiom.fillers
        elif isinstance(axiom.sup, Exists):
            role, fillers = axiom.sup.role, ()
        else:
            return
        inside = [members(data, f) for f in fillers]
        have = {x for x, y in pairs(data, role) if all(y in m for m in inside)}
        for x in sorted(members(data, axiom.sub) - have):
            if x.count("_") < DEPTH:
                yield x, role, fillers

    while True:
        while new := plain():
            data |= new
        grown = False
        for axiom in ontology:
            if not isinstance(axiom, SubConcept | SubExists):
                continue
            for x, role, fillers in list(need(axiom)):
                count += 1
                assume(count < 400)
                y = "_" * (x.count("_") + 1) + str(count)
                data.add(edge(role, x, y))
                for i, filler in enumerate(fillers):
                    if isinstance(filler, NamedClass):
                        data.add((filler.iri, y))
                    else:
                        z = "_" * (x.count("_") + 2) + f"{count}.{i}"
                        data.add(edge(filler.role, y, z))
                grown = True
        if not grown:
            return data


def answers(query: ConjunctiveQuery, data: set[Fact]) -> set[tuple[str, ...]]:
    """All answers over plain data, with anonymous ones."""
    by_name: dict[str, list[Fact]] = {}
    for fact in data:
        by_name.setdefault(fact[0] + str(len(fact)), []).append(fact)
    for x in members(data, THING):
        by_name.setdefault(THING.iri + "2", []).append((THING.iri, x))

    fixed = {v: c.value for v, c in query.constants if isinstance(c, Iri)}

    def join(i: int, env: dict[Variable, str]) -> Iterator[tuple[str, ...]]:
        if i == len(query.atoms):
            if all(
                not isinstance(f.right, Iri) or env[f.left] == f.right.value for f in query.filters
            ):
                yield tuple(fixed.get(v) or env[v] for v in query.head)
            return
        atom = query.atoms[i]
        args = arguments(atom)
        name = atom.cls if isinstance(atom, ClassAtom) else atom.prop
        for fact in by_name.get(name + str(len(args) + 1), ()):
            new = dict(env)
            for term, value in zip(args, fact[1:], strict=True):
                if isinstance(term, Variable):
                    if new.setdefault(term, value) != value:
                        break
                elif not isinstance(term, Iri) or term.value != value:
                    break
            else:
                yield from join(i + 1, new)

    return set(join(0, {}))


def close(data: set[Fact], tbox: TBox) -> set[Fact]:
    """Data closed under the hierarchy, as T-mappings close it."""
    closed: set[Fact] = set(data)
    for iri in (*CLASSES, THING.iri):
        for basic, _ in tbox.subconcepts(NamedClass(iri)):
            closed |= {(iri, x) for x in members(data, basic)}
    for iri in PROPERTIES:
        for role, _ in tbox.subroles(Role(iri)):
            closed |= {(iri, x, y) for x, y in pairs(data, role)}
    return closed


def check(query: ConjunctiveQuery, ontology: tuple[Axiom, ...], data: set[Fact]) -> None:
    tbox = TBox(ontology)
    model = answers(query, chase(data, ontology))
    certain = {row for row in model if not any(x.startswith("_") for x in row)}
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
        model = answers(query, chase(state, ontology))
        certain = {row for row in model if not any(x.startswith("_") for x in row)}
        ucq = show_ucq(timed, tbox)
        assert all(a.time == Variable("t") for q in ucq for a in q.atoms)
        assert {row for q in ucq for row in answers(q, state)} == certain
