"""Which tables, members and streams a plan's partial matches of one size need (its level)."""

from collections.abc import Sequence

from ontoweir.checker.model.plan import SynopsisPlan, SynopsisTable
from ontoweir.rewriter.model.add_views import base_tables
from ontoweir.rewriter.model.spj import View

ALL_SIZES = 0
"""Stands for all levels together: a range that begins without any state needs no other before."""


def tables_of_size(plan: SynopsisPlan, level: int) -> tuple[SynopsisTable, ...]:
    """The stored tables of partial matches of `level` streams (ALL_SIZES: of any number), and all
    that their steps use, in the order of the plan; none where a plan has no such table. The answers
    are not a level."""
    by_members = {t.members: t for t in plan.tables}
    needed: set[frozenset[int]] = set()
    unvisited = [
        t.members for t in plan.tables[:-1] if t.stored and level in (ALL_SIZES, len(t.members))
    ]
    while unvisited:
        members = unvisited.pop()
        if members not in needed:
            needed.add(members)
            unvisited += [past for step in by_members[members].steps for past in step.past]
    return tuple(t for t in plan.tables if t.members in needed)


def count_levels(plans: Sequence[SynopsisPlan]) -> int:
    """The most streams of any stored partial match."""
    return max((len(t.members) for p in plans for t in p.tables[:-1] if t.stored), default=0)


def members_of(tables: Sequence[SynopsisTable]) -> frozenset[int]:
    """The members whose tuples these tables' steps take in."""
    return frozenset(m for t in tables for step in t.steps for m in step.now)


def level_streams(
    plans: Sequence[SynopsisPlan], level: int, views: Sequence[View] = ()
) -> frozenset[str]:
    """The streams that have to be read for a level; of views, those that they are made from."""
    names = {
        plan.form.members[m].stream
        for plan in plans
        for m in members_of(tables_of_size(plan, level))
    }
    return frozenset(base_tables(names, views))
