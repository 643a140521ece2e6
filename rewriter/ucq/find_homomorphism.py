"""Containment of conjunctive queries by homomorphism, plain or modulo a hierarchy.

Chandra, Merlin: Optimal Implementation of Conjunctive Queries in Relational Data Bases. STOC 1977.
"""

from collections.abc import Iterator
from dataclasses import replace

from ontoweir.ontology.tbox import THING, Basic, Exists, NamedClass, Role, TBox
from ontoweir.rewriter.model.query import (
    AnyFilter,
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Filter,
    PropertyAtom,
    Term,
    Variable,
)
from ontoweir.rewriter.model.work_budget import WorkBudget
from ontoweir.rewriter.ucq.find_tree_witnesses import free_variables

MAX_STEPS = 200_000
"""How many steps the search for a homomorphism may take."""

_Pairs = tuple[tuple[Term, Term], ...]


def contains_query(
    general: ConjunctiveQuery, special: ConjunctiveQuery, tbox: TBox | None = None
) -> bool:
    """Are all answers of `special` answers of `general`, over all data?

    Args:
        general: the query that may contain the other.
        special: the query that may be contained.
        tbox: over data closed under the hierarchy of this ontology; None: over any data.

    Iff there is a homomorphism from `general` to `special`. Filters must be mapped onto filters,
    atoms onto atoms at the same time: that is sound, and complete without filters.
    """
    start: dict[Term, Term] = {}
    fixed, values = dict(general.constants), dict(special.constants)
    for old, new in zip(general.head, special.head, strict=True):
        value: Term = values.get(new, new)
        if old in fixed:
            if fixed[old] != value:
                return False
        elif start.setdefault(old, value) != value:
            return False
    for mine, other in zip(general.buckets, special.buckets, strict=True):
        if start.setdefault(mine.time, other.time) != other.time:
            return False
    filters = (*special.filters, *special.choices)
    return find_homomorphism(general, special.atoms, filters, start, tbox)


def find_homomorphism(
    query: ConjunctiveQuery,
    atoms: tuple[Atom, ...],
    filters: tuple[Filter | AnyFilter, ...],
    start: dict[Term, Term],
    tbox: TBox | None,
) -> bool:
    """Is there a homomorphism from `query` to `atoms` and `filters` that extends `start`?

    Raises:
        QueryError: the search takes more than MAX_STEPS steps, as containment is NP-complete.
    """
    options = [
        [pairs for b in atoms for pairs in _cover(a, b, tbox) if _agree(start, pairs) is not None]
        for a in query.atoms
    ]
    if not all(options):
        return False
    wanted = {_bare(f, {}) for f in filters}

    budget = WorkBudget(
        "ways to map its patterns onto each other",
        MAX_STEPS,
        "whether patterns are redundant is decided by trying all",
        "ask for fewer patterns of the same property, or join them by more shared variables",
        query.source,
    )

    def search(todo: list[list[_Pairs]], mapping: dict[Term, Term]) -> bool:
        budget.step()
        if not todo:
            return all(_bare(f, mapping) in wanted for f in (*query.filters, *query.choices))
        todo = [[p for p in option if _agree(mapping, p) is not None] for option in todo]
        todo.sort(key=len)
        for pairs in todo[0]:
            extended = _agree(mapping, pairs)
            if extended is not None and search(todo[1:], extended):
                return True
        return False

    return search(options, start)


def _agree(mapping: dict[Term, Term], pairs: _Pairs) -> dict[Term, Term] | None:
    """`mapping` and the pairs, if they agree; a constant is mapped to itself."""
    agreed = dict(mapping)
    for old, new in pairs:
        if isinstance(old, Variable):
            if agreed.setdefault(old, new) != new:
                return None
        elif old != new:
            return None
    return agreed


def _bare(f: Filter | AnyFilter, mapping: dict[Term, Term]) -> Filter | AnyFilter | None:
    """The filter under a mapping, without its place; None if it is not a filter then."""
    if isinstance(f, AnyFilter):
        cases = tuple(tuple(_bare_one(part, mapping) for part in case) for case in f.cases)
        made = tuple(tuple(part for part in case if part is not None) for case in cases)
        return AnyFilter(made) if list(map(len, made)) == list(map(len, cases)) else None
    return _bare_one(f, mapping)


def _bare_one(f: Filter, mapping: dict[Term, Term]) -> Filter | None:
    left = mapping.get(f.left, f.left)
    if not isinstance(left, Variable):
        return None
    if isinstance(f.right, Variable):
        right = mapping.get(f.right, f.right)
        if not isinstance(right, Variable):
            return None
        return replace(f, left=left, right=right, source=None)
    return replace(f, left=left, source=None)


def _cover(general: Atom, special: Atom, tbox: TBox | None) -> Iterator[_Pairs]:
    """The ways in which `special` makes `general` true, as bindings of its terms."""
    if (general.time is None) != (special.time is None) or (general.always and not special.always):
        return
    time: _Pairs = ()
    if general.time is not None and special.time is not None:
        time = ((general.time, special.time),)
    if isinstance(general, ClassAtom):
        for basic, term in _memberships(special):
            if _is_below(basic, NamedClass(general.cls), tbox):
                yield ((general.term, term), *time)
    elif isinstance(special, PropertyAtom):
        role, wanted = Role(special.prop), Role(general.prop)
        here, there = special.subject, special.object
        if _is_subrole(role, wanted, tbox):
            yield ((general.subject, here), (general.object, there), *time)
        if tbox is not None and _is_subrole(role.inverted(), wanted, tbox):
            yield ((general.subject, there), (general.object, here), *time)


def _memberships(atom: Atom) -> Iterator[tuple[Basic, Term]]:
    """What an atom says of its terms."""
    if isinstance(atom, ClassAtom):
        yield NamedClass(atom.cls), atom.term
    else:
        yield Exists(Role(atom.prop)), atom.subject
        yield Exists(Role(atom.prop, inverse=True)), atom.object


def _is_below(sub: Basic, sup: NamedClass, tbox: TBox | None) -> bool:
    if tbox is None or sub == sup:
        return sub == sup
    return sup in tbox.hierarchy.concepts.supers(sub) or (
        sup == THING and isinstance(sub, NamedClass)
    )


def _is_subrole(sub: Role, sup: Role, tbox: TBox | None) -> bool:
    return sub == sup if tbox is None else sup in tbox.hierarchy.roles.supers(sub)


def reduce_query(query: ConjunctiveQuery, tbox: TBox | None = None) -> ConjunctiveQuery:
    """The core of a query: without the atoms that the others make redundant (set semantics)."""
    fixed: dict[Term, Term] = {v: v for v in free_variables(query)}
    atoms = tuple({replace(a, source=None): a for a in reversed(query.atoms)}.values())[::-1]
    for atom in sorted(atoms, key=lambda a: not isinstance(a, ClassAtom)):
        rest = tuple(a for a in atoms if a is not atom)
        if not any(True for a in rest for _ in _cover(atom, a, tbox)):
            continue
        filters = (*query.filters, *query.choices)
        if find_homomorphism(replace(query, atoms=atoms), rest, filters, fixed, tbox):
            atoms = rest
    return query if atoms == query.atoms else replace(query, atoms=atoms)
