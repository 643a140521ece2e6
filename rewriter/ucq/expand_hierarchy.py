"""Expand the hierarchy of an ontology in a query: one disjunct for each choice of subconcepts."""

from collections.abc import Iterator
from dataclasses import replace

from ontoweir.ontology.tbox import Because, Exists, NamedClass, Role, TBox
from ontoweir.rewriter.model.query import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom, Term
from ontoweir.rewriter.model.substitute_terms import Fresh, make_atom
from ontoweir.rewriter.ucq.find_homomorphism import reduce_query


def expand_hierarchy(query: ConjunctiveQuery, tbox: TBox) -> Iterator[ConjunctiveQuery]:
    """The disjuncts that find, in plain data, what `query` finds in data closed under the
    hierarchy of `tbox`.

    Properties are chosen first. A class atom that a chosen atom entails is left out: of all its
    subconcepts the one that repeats the chosen atom is the most general, so the other choices
    are contained in it and never made.
    """
    query = reduce_query(query, tbox)
    atoms = sorted(query.atoms, key=lambda a: isinstance(a, ClassAtom))
    fresh = Fresh(query)
    for chosen, why in _choose(tuple(atoms), (), {}, tbox, fresh):
        more = ((because.text, because.source) for because in why)
        axioms = tuple(dict.fromkeys((*query.axioms, *more)))
        yield replace(query, atoms=chosen, axioms=axioms)


def _choose(
    todo: tuple[Atom, ...],
    done: tuple[Atom, ...],
    why: dict[Because, None],
    tbox: TBox,
    fresh: Fresh,
) -> Iterator[tuple[tuple[Atom, ...], dict[Because, None]]]:
    if not todo:
        yield done, why
        return
    atom, rest = todo[0], todo[1:]
    if isinstance(atom, PropertyAtom):
        for role, because in tbox.subroles(Role(atom.prop)):
            ends = (atom.subject, atom.object)
            subject, other = reversed(ends) if role.inverse else ends
            made = replace(atom, prop=role.iri, subject=subject, object=other)
            more = {**why, **dict.fromkeys(because)}
            yield from _choose(rest, (*done, made), more, tbox, fresh)
        return
    below = tbox.subconcepts(NamedClass(atom.cls))
    for basic, because in below:
        if any((basic, atom.time) in _says(d, atom.term) for d in done):
            more = {**why, **dict.fromkeys(because)}
            yield from _choose(rest, done, more, tbox, fresh)
            return
    for basic, because in below:
        extra = make_atom(basic, atom.term, atom.time, atom.source, fresh)
        extra = replace(extra, always=atom.always)
        more = {**why, **dict.fromkeys(because)}
        yield from _choose(rest, (*done, extra), more, tbox, fresh)


def _says(atom: Atom, term: Term) -> set[tuple[NamedClass | Exists, object]]:
    """The basic concepts that an atom says `term` is in, with the time."""
    memberships: set[tuple[NamedClass | Exists, object]] = set()
    if isinstance(atom, ClassAtom):
        if atom.term == term:
            memberships.add((NamedClass(atom.cls), atom.time))
        return memberships
    if atom.subject == term:
        memberships.add((Exists(Role(atom.prop)), atom.time))
    if atom.object == term:
        memberships.add((Exists(Role(atom.prop, inverse=True)), atom.time))
    return memberships
