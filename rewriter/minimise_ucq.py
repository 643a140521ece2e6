"""Minimise a union of conjunctive queries: cores only, and none contained in another."""

from collections.abc import Iterable

from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.find_homomorphism import contains_query, reduce_query
from ontoweir.rewriter.query import ClassAtom, ConjunctiveQuery


def minimise_ucq(
    disjuncts: Iterable[ConjunctiveQuery], tbox: TBox | None = None, *, reduce: bool = True
) -> tuple[ConjunctiveQuery, ...]:
    """An equivalent union of the fewest disjuncts; of equivalent ones the first is kept.

    Args:
        disjuncts: queries with heads of the same length.
        tbox: equivalent over data closed under this hierarchy; None: over any data.
        reduce: replace each disjunct by its core (right under set semantics only).
    """
    queries = [reduce_query(q, tbox) if reduce else q for q in disjuncts]
    order = sorted(range(len(queries)), key=lambda i: len(queries[i].atoms))
    bits: dict[str, int] = {}
    masks = [_mask(q, bits) if tbox is None else 0 for q in queries]
    kept: list[int] = []
    for i in order:
        mask, query = masks[i], queries[i]
        if any(masks[k] & ~mask == 0 and contains_query(queries[k], query, tbox) for k in kept):
            continue
        kept = [
            k for k in kept if mask & ~masks[k] != 0 or not contains_query(query, queries[k], tbox)
        ]
        kept.append(i)
    return tuple(queries[i] for i in sorted(kept))


def _mask(query: ConjunctiveQuery, bits: dict[str, int]) -> int:
    """The predicates of a query as a bit set: a query that contains another has a subset."""
    mask = 0
    for atom in query.atoms:
        key = f"c{atom.cls}" if isinstance(atom, ClassAtom) else f"p{atom.prop}"
        mask |= bits.setdefault(key, 1 << len(bits))
    return mask
