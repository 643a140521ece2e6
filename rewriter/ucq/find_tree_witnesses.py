"""Find the tree witnesses of a conjunctive query: parts that anonymous individuals can satisfy.

[K] Kikot, Kontchakov, Zakharyaschev: Conjunctive Query Answering with OWL 2 QL. KR 2012, §3.
A tree witness is a set of atoms with a homomorphism into the tree of anonymous successors below
one element: its roots are mapped to that element, its inner variables into the tree, and every
atom with an inner variable belongs to it.

Deviation from [K]: a witness without roots (the whole of a component is anonymous) may hang
below an element anywhere in the tree; its generators are then all that reach that element.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ontoweir.ontology.saturate_tbox import SaturatedHierarchy
from ontoweir.ontology.tbox import Because, Exists, NamedClass, Role, TBox
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.rewriter.model.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    Iri,
    Term,
    Variable,
    atom_terms,
    filter_variables,
)
from ontoweir.rewriter.model.work_budget import WorkBudget

MAX_STEPS = 500_000
"""How many steps the search for tree witnesses of a query may take."""

_Path: TypeAlias = tuple[Role, ...]
"""An element of the tree: the generators that lead to it; () is the root."""


@dataclass(frozen=True, slots=True)
class TreeWitness:
    """Atoms (by index) that the tree below a `generator` successor satisfies."""

    atoms: frozenset[int]
    roots: frozenset[Term]
    generator: Role
    axioms: tuple[Because, ...]


def find_tree_witnesses(
    query: ConjunctiveQuery, tbox: TBox, *, on_progress: OnProgress = ignore_progress
) -> tuple[TreeWitness, ...]:
    """Every tree witness of `query`, each for each generating role, without repeats.

    Raises:
        QueryError: the search takes more than MAX_STEPS steps.
    """
    budget = WorkBudget(
        "partial tree witnesses",
        MAX_STEPS,
        "existential axioms can satisfy its patterns in very many ways",
        "ask for fewer patterns with variables that are not selected, or select some of these",
        query.source,
        on_progress,
    )
    return tuple(_Search(query, tbox.hierarchy, budget).run())


def free_variables(query: ConjunctiveQuery) -> frozenset[Variable]:
    """The variables that stand for named individuals or values: those of the head and filters; and
    times of which there are buckets."""
    free = {*query.head, *(bucket.time for bucket in query.buckets)}
    free.update(v for f in query.filters for v in filter_variables(f))
    free.update(v for choice in query.choices for v in choice.variables)
    return frozenset(free)


class _Search:
    def __init__(
        self, query: ConjunctiveQuery, hierarchy: SaturatedHierarchy, budget: WorkBudget
    ) -> None:
        self.budget = budget
        self.atoms = query.atoms
        self.hierarchy = hierarchy
        fixed = free_variables(query)
        self.at: dict[Term, list[int]] = {}
        for i, atom in enumerate(query.atoms):
            for term in dict.fromkeys(atom_terms(atom)):
                self.at.setdefault(term, []).append(i)
        self.folds = [t for t in self.at if isinstance(t, Variable) and t not in fixed]

    def run(self) -> Iterator[TreeWitness]:
        seen: set[tuple[frozenset[int], frozenset[Term], Role]] = set()
        for y in self.folds:
            for rooted in (True, False):
                for generator in self._candidates(y, rooted):
                    for mapping in self._extend({y: (generator,)}, self.at[y], 0, rooted):
                        witness = self._witness(mapping, generator)
                        key = (witness.atoms, witness.roots, generator)
                        if bool(witness.roots) == rooted and key not in seen:
                            seen.add(key)
                            yield witness

    def _candidates(self, y: Variable, rooted: bool) -> list[Role]:
        """The generators whose element `y` may be: what no atom of `y` speaks against."""
        roles: set[Role] = set()
        if rooted:
            for role in self._roles_from(y):
                below = self.hierarchy.generators_below(role.inverted())
                roles.update(below)
        else:
            roles.update(self.hierarchy.generators)
            for role in self._roles_from(y):
                inside = self.hierarchy.concepts.subs(Exists(role))
                roles = {g for g in roles if Exists(g.inverted()) in inside}
        return sorted(roles)

    def _roles_from(self, y: Variable) -> Iterator[Role]:
        """The roles that atoms claim to lead away from `y`."""
        for atom in (self.atoms[i] for i in self.at[y]):
            if isinstance(atom, ClassAtom):
                continue
            if atom.subject == y:
                yield Role(atom.prop)
            if atom.object == y:
                yield Role(atom.prop, inverse=True)

    def _extend(
        self, mapping: dict[Term, _Path], agenda: Sequence[int], done: int, rooted: bool
    ) -> Iterator[dict[Term, _Path]]:
        """All ways to satisfy the atoms of the agenda from `done` on, and what they call for."""
        self.budget.step()
        if done == len(agenda):
            yield mapping
            return
        atom = self.atoms[agenda[done]]
        if isinstance(atom, ClassAtom):
            if self._is_in(mapping[atom.term], atom.cls):
                yield from self._extend(mapping, agenda, done + 1, rooted)
            return
        here, there, role = atom.subject, atom.object, Role(atom.prop)
        if not mapping.get(here):
            here, there, role = there, here, role.inverted()
        if here == there:
            return
        for path in self._neighbours(mapping[here], role):
            if there in mapping:
                if mapping[there] == path:
                    yield from self._extend(mapping, agenda, done + 1, rooted)
            elif path == ():
                if rooted and isinstance(there, Variable | Iri):
                    yield from self._extend({**mapping, there: path}, agenda, done + 1, rooted)
            elif there in self.folds:
                more = [i for i in self.at[there] if i not in agenda]
                wider = [*agenda, *more]
                yield from self._extend({**mapping, there: path}, wider, done + 1, rooted)

    def _neighbours(self, path: _Path, role: Role) -> Iterator[_Path]:
        """The elements that are `role`-successors of the anonymous element `path`."""
        if path[-1].inverted() in self.hierarchy.roles.subs(role):
            yield path[:-1]
        for child in self.hierarchy.generators_below(role):
            if self.hierarchy.has_successor(path[-1], child):
                yield (*path, child)

    def _is_in(self, path: _Path, cls: str) -> bool:
        return Exists(path[-1].inverted()) in self.hierarchy.concepts.subs(NamedClass(cls))

    def _witness(self, mapping: dict[Term, _Path], generator: Role) -> TreeWitness:
        inner = [t for t, path in mapping.items() if path]
        atoms = sorted({i for t in inner for i in self.at[t]})
        why: dict[Because, None] = {}
        for path in mapping.values():
            for last, child in pairwise(path):
                below = self.hierarchy.concepts.subs(Exists(child))
                why.update(dict.fromkeys(below[Exists(last.inverted())]))
        for i in atoms:
            why.update(dict.fromkeys(self._reason(self.atoms[i], mapping)))
        roots = frozenset(t for t, path in mapping.items() if not path)
        return TreeWitness(frozenset(atoms), roots, generator, tuple(why))

    def _reason(self, atom: Atom, mapping: dict[Term, _Path]) -> tuple[Because, ...]:
        if isinstance(atom, ClassAtom):
            below = self.hierarchy.concepts.subs(NamedClass(atom.cls))
            return below[Exists(mapping[atom.term][-1].inverted())]
        s, o = mapping[atom.subject], mapping[atom.object]
        made = o[-1] if len(o) > len(s) else s[-1].inverted()
        return self.hierarchy.roles.subs(Role(atom.prop))[made]
