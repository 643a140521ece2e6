"""Saturate the hierarchy of an OWL 2 QL ontology: what is below what, and because of which axioms.

Positive inclusions between basic concepts and between roles are the edges of two graphs, and
T ⊨ B ⊑ C iff C is reachable from B ([C] §3: in DL-Lite_R only inclusions chain). B ⊑ ∃R.C is
normalised with an auxiliary role X: B ⊑ ∃X, X ⊑ R, ∃X⁻ ⊑ C. Reachability is searched when asked
for and kept, so that an ontology with a deep hierarchy costs no quadratic closure on loading.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable
from functools import reduce
from operator import or_
from typing import Generic, TypeVar, assert_never

from ontoweir.ontology.axioms import (
    THING,
    Axiom,
    Basic,
    Because,
    DataRange,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    IrreflexiveRole,
    NamedClass,
    ReflexiveRole,
    Role,
    SubConcept,
    SubExists,
    SubRole,
)

AUXILIARY = "urn:ontoweir:auxiliary:"
"""Auxiliary roles, which no data has, have IRIs that start so."""

Node = TypeVar("Node", bound=Hashable)


class Inclusions(Generic[Node]):
    """A graph of inclusions; an edge carries the axiom it comes from (None: it needs none)."""

    def __init__(self) -> None:
        self._below: defaultdict[Node, dict[Node, Because | None]] = defaultdict(dict)
        self._above: defaultdict[Node, dict[Node, Because | None]] = defaultdict(dict)
        self._subs: dict[Node, dict[Node, tuple[Because, ...]]] = {}
        self._supers: dict[Node, frozenset[Node]] = {}

    def add(self, sub: Node, sup: Node, because: Because | None) -> None:
        """Add sub ⊑ sup; the first reason for an edge is kept."""
        if sub != sup:
            self._below[sup].setdefault(sub, because)
            self._above[sub].setdefault(sup, because)

    def add_all(self, subs: Iterable[Node], sup: Node) -> None:
        """Add sub ⊑ sup for others than `sup`, which needs no reason."""
        below, above = self._below[sup], self._above
        for sub in subs:
            below.setdefault(sub, None)
            above[sub].setdefault(sup, None)

    def subs(self, node: Node) -> dict[Node, tuple[Because, ...]]:
        """All that is below `node`, nearest first, with a shortest justification."""
        below = self._subs.get(node)
        if below is None:
            below = self._subs[node] = self._search_down(node)
        return below

    def supers(self, node: Node) -> frozenset[Node]:
        """All that is above `node`, itself included."""
        cached = self._supers.get(node)
        if cached is None:
            seen = {node}
            todo = [node]
            while todo:
                for above in self._above.get(todo.pop(), ()):
                    if above not in seen:
                        seen.add(above)
                        todo.append(above)
            cached = self._supers[node] = frozenset(seen)
        return cached

    def children(self, node: Node) -> Iterable[Node]:
        """What is directly below `node`."""
        return self._below.get(node, ())

    def spread(self, bits: dict[Node, int]) -> dict[Node, int]:
        """For every node below one with a bit, the bits of all that is above it or itself."""
        masks = dict(bits)
        order = self._downwards(bits)
        changed = True
        while changed:  # one round, and one that changes nothing, unless there are cycles
            changed = False
            for node in order:
                mask = masks[node]
                for below in self._below.get(node, ()):
                    old = masks.get(below, 0)
                    if old | mask != old:
                        masks[below] = old | mask
                        changed = True
        return masks

    def _downwards(self, starts: Iterable[Node]) -> list[Node]:
        """The nodes below `starts` and these, each after all above it, as far as cycles allow."""
        done: set[Node] = set()
        order: list[Node] = []
        for start in starts:
            todo: list[tuple[Node, bool]] = [(start, False)]
            while todo:
                node, leaving = todo.pop()
                if leaving:
                    order.append(node)
                elif node not in done:
                    done.add(node)
                    todo.append((node, True))
                    todo.extend((below, False) for below in self._below.get(node, ()))
        return order[::-1]

    def _search_down(self, top: Node) -> dict[Node, tuple[Because, ...]]:
        """0-1 breadth-first search: an edge that repeats the axiom above it costs nothing."""
        done: dict[Node, tuple[Because, ...]] = {}
        todo: deque[tuple[Node, tuple[Because, ...]]] = deque([(top, ())])
        while todo:
            node, why = todo.popleft()
            if node in done:
                continue
            done[node] = why
            for below, because in self._below.get(node, {}).items():
                if below in done:
                    continue
                if because is None or (why and why[0] == because):
                    todo.appendleft((below, why))
                else:
                    todo.append((below, (because, *why)))
        return done


class SaturatedHierarchy:
    """The saturated ontology. Answers are computed once and kept; the object is otherwise
    immutable."""

    def __init__(self) -> None:
        self.concepts: Inclusions[Basic] = Inclusions()
        self.roles: Inclusions[Role] = Inclusions()
        self._generating: frozenset[Role] = frozenset()
        self.reflexive: dict[Role, Because] = {}
        self.irreflexive: set[Role] = set()
        self._disjoint: dict[Basic, set[Basic]] = {}
        self._disjoint_roles: dict[Role, set[Role]] = {}
        self._empty: frozenset[Basic] | None = None

    def subconcepts(self, basic: Basic) -> tuple[tuple[Basic, tuple[Because, ...]], ...]:
        """See `TBox.subconcepts`."""
        below = self.concepts.subs(basic).items()
        return tuple((b, why) for b, why in below if not is_auxiliary(b))

    def subroles(self, role: Role) -> tuple[tuple[Role, tuple[Because, ...]], ...]:
        """See `TBox.subroles`."""
        below = self.roles.subs(role).items()
        return tuple((r, why) for r, why in below if not r.iri.startswith(AUXILIARY))

    def has_successor(self, role: Role, generator: Role) -> bool:
        """Has an anonymous element made by `role` a successor made by `generator`?"""
        return Exists(role.inverted()) in self.concepts.subs(Exists(generator))

    def predecessors(self, generator: Role) -> tuple[Role, ...]:
        """The generators whose elements have a successor made by `generator`."""
        below = self.concepts.subs(Exists(generator))
        return tuple(
            b.role.inverted()
            for b in below
            if isinstance(b, Exists) and b.role.inverted() in self._generating
        )

    def generators_below(self, role: Role) -> tuple[Role, ...]:
        """The generators that are subroles of `role`."""
        return tuple(r for r in self.roles.subs(role) if r in self._generating)

    def are_disjoint(self, a: Basic, b: Basic) -> bool:
        """See `TBox.are_disjoint`."""
        if self._is_empty(a) or self._is_empty(b):
            return True
        if a == b:
            return False
        above = self.concepts.supers(b)
        return any(not above.isdisjoint(self._disjoint.get(x, ())) for x in self.concepts.supers(a))

    def are_disjoint_roles(self, a: Role, b: Role) -> bool:
        """See `TBox.are_disjoint_roles`."""
        above = self.roles.supers(b)
        return (
            any(not above.isdisjoint(self._disjoint_roles.get(x, ())) for x in self.roles.supers(a))
            or self.are_disjoint(Exists(a), Exists(b))
            or self.are_disjoint(Exists(a.inverted()), Exists(b.inverted()))
        )

    def is_irreflexive(self, role: Role) -> bool:
        """See `TBox.is_irreflexive`."""
        return not self.roles.supers(role).isdisjoint(self.irreflexive) or (
            self.are_disjoint_roles(role, role.inverted())
        )

    def _is_empty(self, basic: Basic) -> bool:
        """Is the concept unsatisfiable?"""
        if self._empty is None:
            self._empty = self._find_empty()
        return basic in self._empty

    def _find_empty(self) -> frozenset[Basic]:
        """The unsatisfiable concepts: those below both sides of a disjointness, all below them,
        and ∃R with ∃R⁻. What is above each node, and what is disjoint from that, are bit sets."""
        bits = {x: 1 << i for i, x in enumerate(self._disjoint)}
        rivals = {x: reduce(or_, (bits[y] for y in ys)) for x, ys in self._disjoint.items()}
        above, forbidden = self.concepts.spread(bits), self.concepts.spread(rivals)
        todo: list[Basic] = [node for node, mask in above.items() if mask & forbidden[node]]
        for r, others in self._disjoint_roles.items():
            for s in others:
                both = self.roles.subs(r).keys() & self.roles.subs(s).keys()
                todo.extend(Exists(role) for role in both)
        empty: set[Basic] = set()
        while todo:
            node = todo.pop()
            if node not in empty:
                empty.add(node)
                todo.extend(self.concepts.children(node))
                if isinstance(node, Exists):
                    todo.append(Exists(node.role.inverted()))
        return frozenset(empty)

    @property
    def generators(self) -> frozenset[Role]:
        """The roles whose anonymous successors the canonical model makes."""
        return self._generating

    def set_generators(self, roles: Iterable[Role]) -> None:
        """Set the generators (only while saturating)."""
        self._generating = frozenset(roles)

    def add_disjoint(self, a: Basic, b: Basic) -> None:
        """Add a ⊓ b ⊑ ⊥ (only while saturating)."""
        self._disjoint.setdefault(a, set()).add(b)
        self._disjoint.setdefault(b, set()).add(a)

    def add_disjoint_roles(self, a: Role, b: Role) -> None:
        """Add R1 ⊓ R2 ⊑ ⊥ and its inverse (only while saturating)."""
        for x, y in ((a, b), (a.inverted(), b.inverted())):
            self._disjoint_roles.setdefault(x, set()).add(y)
            self._disjoint_roles.setdefault(y, set()).add(x)

    def add_subrole(self, sub: Role, sup: Role, because: Because) -> None:
        """Add R1 ⊑ R2 with all that follows at once (only while saturating)."""
        for r, s in ((sub, sup), (sub.inverted(), sup.inverted())):
            self.roles.add(r, s, because)
            self.concepts.add(Exists(r), Exists(s), because)


def is_auxiliary(basic: Basic) -> bool:
    """Is it ∃X or ∃X⁻ for an auxiliary role X?"""
    return isinstance(basic, Exists) and basic.role.iri.startswith(AUXILIARY)


def saturate_tbox(
    axioms: Iterable[Axiom],
    classes: frozenset[str],
    object_properties: frozenset[str],
    data_properties: frozenset[str],
) -> SaturatedHierarchy:
    """The saturated hierarchy of the axioms over a vocabulary.

    Everything is below owl:Thing, but the values of data properties.
    """
    made = SaturatedHierarchy()
    generators: dict[Role, None] = {}
    auxiliary: dict[tuple[Role, tuple[Basic, ...]], Role] = {}
    for axiom in axioms:
        match axiom:
            case SubConcept(sub=sub, sup=sup, because=because):
                made.concepts.add(sub, sup, because)
                if isinstance(sup, Exists):
                    generators.setdefault(sup.role)
            case SubExists(sub=sub, role=role, fillers=fillers, because=because):
                key = (role, fillers)
                extra = auxiliary.get(key)
                if extra is None:
                    extra = auxiliary[key] = Role(f"{AUXILIARY}{len(auxiliary)}")
                    generators.setdefault(extra)
                made.add_subrole(extra, role, because)
                made.concepts.add(sub, Exists(extra), because)
                for filler in fillers:
                    made.concepts.add(Exists(extra.inverted()), filler, because)
                    if isinstance(filler, Exists):
                        generators.setdefault(filler.role)
            case SubRole(sub=r, sup=s, because=because):
                made.add_subrole(r, s, because)
            case DisjointConcepts(left=a, right=b):
                made.add_disjoint(a, b)
            case DisjointRoles(left=r, right=s):
                made.add_disjoint_roles(r, s)
            case ReflexiveRole(role=role, because=because):
                made.reflexive.setdefault(role, because)
                made.reflexive.setdefault(role.inverted(), because)
                for r in (role, role.inverted()):
                    made.concepts.add(THING, Exists(r), because)
            case IrreflexiveRole(role=role):
                made.irreflexive |= {role, role.inverted()}
            case DataRange():
                pass  # Constrains data, entails no inclusion.
            case _:
                assert_never(axiom)
    made.set_generators(generators)
    made.concepts.add_all((NamedClass(iri) for iri in sorted(classes) if iri != THING.iri), THING)
    for iri in sorted(object_properties | {r.iri for r in generators}):
        if iri not in data_properties:
            made.concepts.add(Exists(Role(iri)), THING, None)
            made.concepts.add(Exists(Role(iri, inverse=True)), THING, None)
    for iri in sorted(data_properties):
        made.concepts.add(Exists(Role(iri)), THING, None)
    return made
