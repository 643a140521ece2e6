"""Repairs: minimal sets of changes that make a query bounded, each checked again (theory §9)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ontoweir.checker.changes import Change, apply_change, rank_change
from ontoweir.checker.check_query import check_query, has_plan, undecided_forms
from ontoweir.checker.propose_changes import propose_changes
from ontoweir.checker.verdict import Tier, Verdict
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.spj import SpjUnion

Recompile = Callable[[Sequence[Change], Catalog], SpjUnion | None]
"""The query compiled again with changes of its own, or None where they are not in its language."""

MOST = 5
"""How many repairs are given."""
TRIES = 300
"""How many sets of changes are tried; those that alter the answer least come first."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Changes that together make a query bounded, and of which none can be left out; the verdict
    with them."""

    changes: tuple[Change, ...]
    verdict: Verdict


def find_repairs(
    union: SpjUnion, catalog: Catalog, recompile: Recompile | None = None
) -> tuple[Repair, ...]:
    """The repairs of a query, the smallest first, of those the ones that alter the answer least.

    Larger sets are tried only where no smaller one helps. At most MOST repairs are given and at
    most TRIES sets tried.

    Args:
        union: a query that is undecided or unbounded.
        catalog: its tables.
        recompile: compiles the query again where a change may alter the union itself (DISTINCT, a
            variable less: both change what existential axioms contribute); None for plain SQL.
    """
    changes = propose_changes(union, undecided_forms(union, catalog), catalog)
    tries = 0
    for size in range(1, len(changes) + 1):
        found: list[Repair] = []
        sets = sorted(combinations(changes, size), key=lambda s: sum(rank_change(c) for c in s))
        for chosen in sets[: TRIES - tries]:
            tries += 1
            repaired = _apply(chosen, union, catalog)
            if not has_plan(*repaired):
                continue
            verdict = _verify(chosen, repaired, recompile)
            if verdict is not None:
                found.append(Repair(chosen, verdict))
            if len(found) == MOST:
                break
        if found or tries >= TRIES or size == 3:
            return tuple(found)
    return ()


def _apply(
    changes: Sequence[Change], union: SpjUnion, catalog: Catalog
) -> tuple[SpjUnion, Catalog]:
    for change in changes:
        union, catalog = apply_change(change, union, catalog)
    return union, catalog


def _verify(
    changes: Sequence[Change], repaired: tuple[SpjUnion, Catalog], recompile: Recompile | None
) -> Verdict | None:
    union, catalog = repaired
    if recompile is not None:
        again = recompile(changes, catalog)
        if again is None:
            return None
        union = again
    verdict = check_query(union, catalog, disprove=False)
    return None if verdict.tier in (Tier.UNDECIDED, Tier.UNSATISFIABLE) else verdict
