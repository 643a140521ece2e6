"""Finds the disjointness axioms that leave a conjunctive query without answers."""

from itertools import combinations

from ontoweir.ontology.tbox import Basic, Exists, NamedClass, Role
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.model.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Literal,
    PropertyAtom,
    Term,
    Variable,
)


def find_disjointness(query: ConjunctiveQuery, tbox: Hierarchy) -> str | None:
    """Why data that is consistent with the ontology cannot match the query; None if it may.

    Two atoms say of one term that it is in disjoint concepts, or of one pair that it is in
    disjoint roles, in one state: at the same time, or one of them what holds always. Or one atom
    says R(x, x) of an irreflexive role. What holds outside GRAPH may have come at any time.

    Rests on the data being consistent, as certain answers do (every tuple is one otherwise).
    Multiplicities are kept: a query without a match is dropped, nothing else changes.
    """
    said = [(t, b, atom) for atom in query.atoms for t, b in _memberships(atom)]
    for term, basic, _ in said:
        if tbox.are_disjoint(basic, basic):
            return f"{_show(term)} would be in {_name(basic)}, which is empty"
    for (term, a, one), (other, b, another) in combinations(said, 2):
        if term == other and _meet(one, another) and tbox.are_disjoint(a, b):
            return f"{_show(term)} would be in {_name(a)} and {_name(b)}, which are disjoint"
    pairs = [a for a in query.atoms if isinstance(a, PropertyAtom)]
    for atom in pairs:
        if atom.subject == atom.object and tbox.is_irreflexive(Role(atom.prop)):
            return (
                f"{atom.prop} would lead from {_show(atom.subject)} to itself, which it never does"
            )
    for first, second in combinations(pairs, 2):
        if not _meet(first, second):
            continue
        ends = (first.subject, first.object)
        for inverse in (False, True):
            others = (second.subject, second.object)
            if ends == (others[::-1] if inverse else others) and tbox.are_disjoint_roles(
                Role(first.prop), Role(second.prop, inverse)
            ):
                return f"a pair would be in {first.prop} and {second.prop}, which are disjoint"
    return None


def _memberships(atom: Atom) -> tuple[tuple[Term, Basic], ...]:
    """What an atom says of its terms."""
    if isinstance(atom, ClassAtom):
        return ((atom.term, NamedClass(atom.cls)),)
    memberships: tuple[tuple[Term, Basic], ...] = ((atom.subject, Exists(Role(atom.prop))),)
    if isinstance(atom.object, Literal):
        return memberships
    return (*memberships, (atom.object, Exists(Role(atom.prop, inverse=True))))


def _meet(first: Atom, second: Atom) -> bool:
    """Whether two atoms are of one state; one atom is."""
    if first is second or first.always or second.always:
        return True
    return first.time is not None and first.time == second.time


def _show(term: Term) -> str:
    match term:
        case Variable(name=name):
            return f"?{name}"
        case Literal(lexical=text):
            return f'"{text}"'
        case _:
            return f"<{term.value}>"


def _name(basic: Basic) -> str:
    match basic:
        case NamedClass(iri=iri):
            return iri
        case Exists(role=role):
            return f"∃{role.iri}" + "⁻" * role.inverse
