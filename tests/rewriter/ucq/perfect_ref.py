"""PerfectRef, written naively from [C] Calvanese et al. 2007, Fig. 13: the oracle for UCQs.

It shares nothing with the rewriter but the words: axioms are applied to atoms backwards, and atoms
of one query are unified, until nothing new is found. Then every query is reduced to its core, and
every query that another one contains is dropped, by trying all homomorphisms, under no ontology.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, count, permutations
from typing import TypeAlias

from ontoweir.ontology.axioms import (
    Axiom,
    Basic,
    Exists,
    NamedClass,
    Role,
    SubConcept,
    SubExists,
    SubRole,
)

Term: TypeAlias = tuple[str, str]
"""("var", name), ("const", iri), or ("free", ""): a variable that occurs once, not an answer."""
Atom: TypeAlias = tuple[str, *tuple[Term, ...]]
"""A predicate and its one or two arguments."""
Query: TypeAlias = tuple[tuple[Term, ...], frozenset[Atom]]
"""A head and a body."""

FREE: Term = ("free", "")
AUXILIARY = "auxiliary "


class TooMany(Exception):
    """The rewriting is larger than the caller wants to wait for."""


def rewrite_naively(query: Query, axioms: Iterable[Axiom], limit: int) -> list[Query]:
    """The minimal union of conjunctive queries for the certain answers.

    Raises:
        TooMany: more than `limit` queries were found on the way.
    """
    concepts, roles = _encode(axioms)
    start = _canonical(query)
    found = {start}
    todo = [start]
    while todo:
        for made in _successors(todo.pop(), concepts, roles):
            new = _canonical(made)
            if new not in found:
                found.add(new)
                todo.append(new)
                if len(found) > limit:
                    raise TooMany
    return minimise_naively([q for q in found if not any(a[0].startswith(AUXILIARY) for a in q[1])])


def minimise_naively(queries: Iterable[Query]) -> list[Query]:
    """The cores of the queries that no other one contains."""
    cores = sorted({_canonical(_core(q)) for q in queries}, key=lambda q: (len(q[1]), repr(q)))
    kept: list[Query] = []
    for query in cores:
        if not any(contains(k, query) for k in kept):
            kept = [k for k in kept if not contains(query, k)]
            kept.append(query)
    return kept


def contains(general: Query, special: Query) -> bool:
    """Whether a homomorphism leads from `general` to `special`."""
    start: dict[Term, Term] = {}
    for old, new in zip(general[0], special[0], strict=True):
        if old[0] == "const":
            if old != new:
                return False
        elif start.setdefault(old, new) != new:
            return False
    return _maps(_name_free(general)[1], _name_free(special)[1], start)


def _maps(atoms: Iterable[Atom], target: frozenset[Atom], mapping: dict[Term, Term]) -> bool:
    todo = list(atoms)
    if not todo:
        return True
    first, rest = todo[0], todo[1:]
    for other in target:
        if other[0] != first[0] or len(other) != len(first):
            continue
        extended = dict(mapping)
        for old, new in zip(first[1:], other[1:], strict=True):
            if old[0] == "const":
                if old != new:
                    break
            elif extended.setdefault(old, new) != new:
                break
        else:
            if _maps(rest, target, extended):
                return True
    return False


def _core(query: Query) -> Query:
    """The smallest part of a query that the whole can be mapped to, heads fixed."""
    head, body = _name_free(query)
    fixed = {t: t for t in head if t[0] == "var"}
    for size in range(1, len(body) + 1):
        for part in combinations(sorted(body), size):
            inside = {t for atom in part for t in atom[1:]}
            if set(fixed) <= inside and _maps(body, frozenset(part), dict(fixed)):
                return head, frozenset(part)
    raise AssertionError(query)


def _encode(
    axioms: Iterable[Axiom],
) -> tuple[list[tuple[Basic, Basic]], list[tuple[Role, Role]]]:
    """Inclusions of basic concepts and of roles; ∃R.C needs a role of its own ([C] 2.2)."""
    concepts: list[tuple[Basic, Basic]] = []
    roles: list[tuple[Role, Role]] = []
    for number, axiom in enumerate(axioms):
        if isinstance(axiom, SubConcept):
            concepts.append((axiom.sub, axiom.sup))
        elif isinstance(axiom, SubRole):
            roles.append((axiom.sub, axiom.sup))
        elif isinstance(axiom, SubExists):
            extra = Role(f"{AUXILIARY}{number}")
            roles.append((extra, axiom.role))
            concepts.append((axiom.sub, Exists(extra)))
            concepts.extend((Exists(extra.inverted()), filler) for filler in axiom.fillers)
        else:
            raise TypeError(axiom)
    return concepts, roles


def _successors(
    query: Query, concepts: list[tuple[Basic, Basic]], roles: list[tuple[Role, Role]]
) -> Iterator[Query]:
    """One step: an inclusion applied to an atom, or two atoms unified."""
    head, body = query
    for atom in body:
        for new in _apply(atom, concepts, roles):
            yield head, (body - {atom}) | {new}
    named = _name_free(query)
    for a, b in combinations(sorted(named[1]), 2):
        unifier = _unify(a, b)
        if unifier is not None:
            yield _substitute(named, unifier)


def _apply(
    atom: Atom, concepts: list[tuple[Basic, Basic]], roles: list[tuple[Role, Role]]
) -> Iterator[Atom]:
    for sub, sup in concepts:
        if isinstance(sup, NamedClass):
            if len(atom) == 2 and atom[0] == sup.iri:
                yield _member(sub, atom[1])
        elif len(atom) == 3 and atom[0] == sup.role.iri:
            here, there = (atom[2], atom[1]) if sup.role.inverse else (atom[1], atom[2])
            if there == FREE:
                yield _member(sub, here)
    for low, high in roles:
        if len(atom) == 3 and atom[0] == high.iri:
            turned = low.inverse != high.inverse
            yield (low.iri, atom[2], atom[1]) if turned else (low.iri, atom[1], atom[2])


def _member(basic: Basic, term: Term) -> Atom:
    if isinstance(basic, NamedClass):
        return (basic.iri, term)
    role = basic.role
    return (role.iri, FREE, term) if role.inverse else (role.iri, term, FREE)


def _unify(a: Atom, b: Atom) -> dict[Term, Term] | None:
    if a[0] != b[0] or len(a) != len(b):
        return None
    unifier: dict[Term, Term] = {}

    def find(term: Term) -> Term:
        while term in unifier:
            term = unifier[term]
        return term

    for left, right in zip(a[1:], b[1:], strict=True):
        x, y = find(left), find(right)
        if x == y:
            continue
        if x[0] == "const":
            x, y = y, x
        if x[0] == "const":
            return None
        unifier[x] = y
    return {t: find(t) for t in unifier}


def _substitute(query: Query, mapping: dict[Term, Term]) -> Query:
    head, body = query
    return (
        tuple(mapping.get(t, t) for t in head),
        frozenset((a[0], *(mapping.get(t, t) for t in a[1:])) for a in body),
    )


def _name_free(query: Query) -> Query:
    """The query with a name for each free term."""
    names = count()
    head, body = query
    return head, frozenset(
        (a[0], *(("var", f"_{next(names)}") if t == FREE else t for t in a[1:]))
        for a in sorted(body)
    )


def _canonical(query: Query) -> Query:
    """One query for all that differ in the names of variables; lonely variables become free.

    Two atoms that are equal once lonely variables have no name say the same."""
    head, body = query
    while True:
        terms = [t for a in body for t in a[1:]]
        lonely = {t: FREE for t in terms if t[0] == "var" and terms.count(t) == 1}
        lonely = {t: f for t, f in lonely.items() if t not in head}
        if not lonely:
            break
        _, body = _substitute((head, body), lonely)
    answers = {t: ("var", f"h{i}") for i, t in reversed(list(enumerate(head))) if t[0] == "var"}
    others = sorted({t for a in body for t in a[1:] if t[0] == "var"} - set(answers))
    best: tuple[list[Atom], Query] | None = None
    for order in permutations(range(len(others))):
        names = {t: ("var", f"y{order[i]}") for i, t in enumerate(others)}
        made = _substitute((head, body), {**answers, **names})
        key = sorted(made[1])
        if best is None or key < best[0]:
            best = (key, made)
    assert best is not None
    return best[1]
