"""The certain answers of a query over plain data, from the definitions.

The restricted chase, to a depth beyond which neither a small query nor a small ontology can look.
"""

from collections.abc import Iterator
from typing import TypeAlias

from hypothesis.errors import UnsatisfiedAssumption

from ontoweir.ontology.tbox import (
    THING,
    Axiom,
    Basic,
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
    Term,
    Variable,
)

Fact: TypeAlias = tuple[str, str] | tuple[str, str, str]
"""A class and an individual, or a property and two."""

DEPTH, MOST = 6, 400
"""How far the chase goes, and how many elements it may make (others are not examples)."""


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
                if count >= MOST:
                    raise UnsatisfiedAssumption
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
    for iri in {*tbox.classes, THING.iri, *(fact[0] for fact in data if len(fact) == 2)}:
        for basic, _ in tbox.subconcepts(NamedClass(iri)):
            closed |= {(iri, x) for x in members(data, basic)}
    for iri in tbox.object_properties | {fact[0] for fact in data if len(fact) == 3}:
        for role, _ in tbox.subroles(Role(iri)):
            closed |= {(iri, x, y) for x, y in pairs(data, role)}
    return closed


def certain_answers(
    query: ConjunctiveQuery, data: set[Fact], ontology: tuple[Axiom, ...]
) -> set[tuple[str, ...]]:
    """The answers over the chase that name no element that it makes."""
    found = answers(query, chase(data, ontology))
    return {row for row in found if not any(x.startswith("_") for x in row)}
