"""Minimise a union of conjunctive queries: cores only, and none contained in another."""

from collections import Counter
from collections.abc import Iterable

from ontoweir.ontology.tbox import TBox
from ontoweir.progress.progress import OnProgress, Progress, ignore_progress
from ontoweir.rewriter.model.query import (
    ClassAtom,
    ConjunctiveQuery,
    Term,
    Variable,
    atom_terms,
)
from ontoweir.rewriter.ucq.find_homomorphism import contains_query, reduce_query


def minimise_ucq(
    disjuncts: Iterable[ConjunctiveQuery],
    tbox: TBox | None = None,
    *,
    reduce: bool = True,
    on_progress: OnProgress = ignore_progress,
) -> tuple[ConjunctiveQuery, ...]:
    """An equivalent union of the fewest disjuncts; of equivalent ones the first is kept.

    Args:
        disjuncts: queries with heads of the same length.
        tbox: equivalent over data closed under this hierarchy; None: over any data.
        reduce: replace each disjunct by its core (right under set semantics only).
    """
    queries = [reduce_query(q, tbox) if reduce else q for q in disjuncts]
    order = sorted(range(len(queries)), key=lambda i: len(queries[i].atoms))
    kept = _Kept(queries, indexed=tbox is None)
    for done, i in enumerate(order, 1):
        if done % 64 == 0:
            on_progress(Progress(f"of {len(order):,} rewritings minimised", done, None))
        query = queries[i]
        if any(contains_query(queries[k], query, tbox) for k in kept.above(i)):
            continue
        for k in [k for k in kept.below(i) if contains_query(query, queries[k], tbox)]:
            kept.remove(k)
        kept.add(i)
    return tuple(queries[i] for i in sorted(kept.all))


class _Kept:
    """Queries by their constants and predicates: one that contains another has a subset of the
    other's constants, and over any data of its predicates. Each is filed under the rarest of its
    predicates, and listed under all."""

    def __init__(self, queries: list[ConjunctiveQuery], *, indexed: bool) -> None:
        self.indexed = indexed
        self.constants = [_constants(q) for q in queries]
        self.sets = [_predicates(q) for q in queries] if indexed else []
        self.often = Counter(p for predicates in self.sets for p in predicates)
        self.all: set[int] = set()
        self.filed: dict[str, set[int]] = {}
        self.listed: dict[str, set[int]] = {}

    def _rarest(self, i: int) -> str:
        return min(self.sets[i], key=lambda p: (self.often[p], p))

    def add(self, i: int) -> None:
        self.all.add(i)
        if self.indexed:
            self.filed.setdefault(self._rarest(i), set()).add(i)
            for p in self.sets[i]:
                self.listed.setdefault(p, set()).add(i)

    def remove(self, i: int) -> None:
        self.all.remove(i)
        if self.indexed:
            self.filed[self._rarest(i)].remove(i)
            for p in self.sets[i]:
                self.listed[p].remove(i)

    def above(self, i: int) -> list[int]:
        """Those that may contain query i, in order."""
        constants = self.constants[i]
        if not self.indexed:
            return sorted(k for k in self.all if self.constants[k] <= constants)
        own = self.sets[i]
        found = (k for p in own for k in self.filed.get(p, ()) if self.sets[k] <= own)
        return sorted(k for k in found if self.constants[k] <= constants)

    def below(self, i: int) -> list[int]:
        """Those that query i may contain, in order."""
        constants = self.constants[i]
        if not self.indexed:
            return sorted(k for k in self.all if constants <= self.constants[k])
        candidates = min((self.listed.get(p, set()) for p in self.sets[i]), key=len)
        found = (k for k in candidates if self.sets[i] <= self.sets[k])
        return sorted(k for k in found if constants <= self.constants[k])


def _predicates(query: ConjunctiveQuery) -> frozenset[str]:
    return frozenset(f"c{a.cls}" if isinstance(a, ClassAtom) else f"p{a.prop}" for a in query.atoms)


def _constants(query: ConjunctiveQuery) -> frozenset[Term]:
    """Those in patterns: a homomorphism maps each onto itself."""
    terms = (term for atom in query.atoms for term in atom_terms(atom))
    return frozenset(term for term in terms if not isinstance(term, Variable))
