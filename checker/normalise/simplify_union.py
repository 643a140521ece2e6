"""The same query in fewer pieces, so that how it is written does not change its verdict."""

from dataclasses import replace

from ontoweir.checker.normalise.merge_disjuncts import merge_disjuncts
from ontoweir.checker.normalise.normalise_equalities import normalise_equalities
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Compare,
    Condition,
    Constant,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins


def simplify_union(union: SpjUnion, catalog: Catalog, *, whole: bool = True) -> SpjUnion:
    """The union with equalities stated, occurrences of one row merged (as in unfolding), and
    disjuncts that differ in one comparison. Answers and multiplicities stay.

    `whole`: occurrences are one row by keys that no run can enforce, too.
    """
    stated = (normalise_equalities(q, catalog) for q in union.disjuncts)
    disjuncts = tuple(remove_self_joins(q, catalog, whole=whole) for q in stated)
    if len(disjuncts) < 2:
        return replace(union, disjuncts=disjuncts)
    short = tuple(map(_drop_implied, disjuncts))
    merged = merge_disjuncts(replace(union, disjuncts=short), catalog)
    if len(merged.disjuncts) > 1 and short != disjuncts:
        # as written `a >= 1 AND a < 3` and `a >= 1 AND a = 3` differ in one comparison
        written = merge_disjuncts(replace(union, disjuncts=disjuncts), catalog)
        short = tuple(map(_drop_implied, written.disjuncts))
        merged = min(
            merged,
            merge_disjuncts(replace(union, disjuncts=short), catalog),
            key=lambda candidate: len(candidate.disjuncts),
        )
    # what is contradictory by a declared domain only may still have been needed for merging
    possible = tuple(q for q in merged.disjuncts if find_contradiction(q, catalog) is None)
    if 0 < len(possible) < len(merged.disjuncts):
        merged = merge_disjuncts(replace(merged, disjuncts=possible), catalog)
    return merged


def _drop_implied(query: SpjQuery) -> SpjQuery:
    """Without comparisons with constants that `attribute = constant` implies."""
    values = {
        c.left: c.right.value
        for c in query.conditions
        if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Constant)
    }

    def said(c: Condition) -> bool:
        return (
            isinstance(c, Compare)
            and isinstance(c.right, Constant)
            and c.op is not Op.EQ
            and c.left in values
            and compare_scalars(values[c.left], c.op, c.right.value)
        )

    kept = tuple(c for c in query.conditions if not said(c))
    return query if len(kept) == len(query.conditions) else replace(query, conditions=kept)
