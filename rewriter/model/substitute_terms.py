"""Replace terms in atoms and filters, and make fresh variables."""

from dataclasses import replace

from ontoweir.errors import Source
from ontoweir.ontology.tbox import Basic, NamedClass
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    Literal,
    PropertyAtom,
    Term,
    Variable,
)


def substitute_terms(atom: Atom, mapping: dict[Term, Term]) -> Atom:
    """The atom with its arguments replaced; the time stays."""
    if isinstance(atom, ClassAtom):
        return replace(atom, term=mapping.get(atom.term, atom.term))
    subject = mapping.get(atom.subject, atom.subject)
    return replace(atom, subject=subject, object=mapping.get(atom.object, atom.object))


def substitute_filter(f: Filter, mapping: dict[Term, Term]) -> Filter:
    """The filter with its variables renamed (`mapping` maps them to variables)."""
    left = mapping.get(f.left, f.left)
    assert isinstance(left, Variable)
    if isinstance(f.right, Variable):
        right = mapping.get(f.right, f.right)
        assert isinstance(right, Variable)
        return replace(f, left=left, right=right)
    return replace(f, left=left)


def substitute_choice(choice: AnyFilter, mapping: dict[Term, Term]) -> AnyFilter:
    """The filter with its variables renamed (`mapping` maps them to variables)."""
    return AnyFilter(tuple(tuple(substitute_filter(f, mapping) for f in c) for c in choice.cases))


class Fresh:
    """Makes variables that do not occur in a query."""

    def __init__(self, query: ConjunctiveQuery) -> None:
        self._used: set[str] = {v.name for v in query.head}
        for atom in query.atoms:
            args = (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)
            self._used.update(t.name for t in args if isinstance(t, Variable))
        self._next = 0

    def variable(self) -> Variable:
        """A new variable, `_w0`, `_w1` …"""
        while True:
            name = f"_w{self._next}"
            self._next += 1
            if name not in self._used:
                return Variable(name)


def make_atom(
    basic: Basic, term: Term, time: Variable | None, source: Source | None, fresh: Fresh
) -> Atom:
    """B(term): a class atom, or R(term, y) with a fresh y."""
    if isinstance(basic, NamedClass):
        return ClassAtom(basic.iri, term, time, source)
    other = fresh.variable()
    assert not isinstance(term, Literal)
    if basic.role.inverse:
        return PropertyAtom(basic.role.iri, other, term, time, source)
    return PropertyAtom(basic.role.iri, term, other, time, source)
