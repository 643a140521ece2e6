"""The verdict on a query that reads the answers of others: that of the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from ontoweir.checker.between.bound_begun import bound_begun
from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, share_tuples, total_bound
from ontoweir.checker.plans.bound_preceding import bound_preceding
from ontoweir.checker.plans.bound_standing import bound_standing
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_versions
from ontoweir.checker.plans.bound_waiting import bound_waiting
from ontoweir.checker.verdict.bound_aggregates import bound_aggregates
from ontoweir.checker.verdict.bound_union import bound_union
from ontoweir.checker.verdict.refuse_keys import refuse_keys
from ontoweir.checker.verdict.verdict import DisjunctVerdict, Tier, Unsatisfiable, Verdict
from ontoweir.mappings.model.catalog import Catalog, Meeting
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Block


def join_blocks(
    verdict: Verdict, inner: Sequence[Verdict], catalog: Catalog, known: Statistics
) -> Verdict:
    """The verdict on a query, and on those whose answers it reads: bounded if all are, by the sum
    of their bounds, and the answers that wait for their timestamp to be over.

    A query that selects nothing has no answers, so what reads them selects nothing either.

    Args:
        verdict: on the query alone, over streams of answers.
        inner: on those queries, in the order of the query's blocks, and of each block's queries.
        catalog: the tables.
        known: what is known of the static data.
    """
    blocks = _by_block(verdict.union.blocks, inner)
    dead = {b.stream.name for b, of in blocks if of and of[0].tier is Tier.UNSATISFIABLE}
    wide = extend_catalog(catalog, verdict.union)
    if dead:
        verdict = _without(verdict, dead, wide)
    if verdict.tier is Tier.UNSATISFIABLE:
        return replace(verdict, bound=_bound_nothing(verdict, inner), blocks=tuple(inner))
    kept = {
        b.stream.name: made
        for b in verdict.union.blocks
        if (made := _bound_met(b, wide, known)) is not None
    }
    verdict = refuse_keys(verdict, tuple(kept.values()), kept="the latest rows are kept")
    worst = max((verdict, *inner), key=lambda v: v.tier.rank).tier
    if worst is Tier.UNBOUNDED:
        worst = Tier.UNDECIDED
    if any(b.union.begins for b, _ in blocks) and worst.rank < Tier.WINDOW_BOUNDED.rank:
        worst = Tier.WINDOW_BOUNDED  # late rows wait
    holding = (_tier_kept(b, kept[b.stream.name]) for b, _ in blocks if b.stream.name in kept)
    worst = max((worst, *holding), key=lambda tier: tier.rank)
    names = {block.stream.name for block, _ in blocks}
    own = [d for d in verdict.declarations if d.table not in names]
    declared = dict.fromkeys(
        [
            *own,
            *(d for other in inner for d in other.declarations),
            *(d for one in kept.values() for d in one.conditions if d.table not in names),
        ]
    )
    conditions = dict.fromkeys(
        [
            *(_follows(d) if d.table in names else d for d in verdict.conditions),
            *(d for other in inner for d in other.conditions),
            *(
                _follows(d) if d.table in names else d
                for one in kept.values()
                for d in one.conditions
            ),
        ]
    )
    if conditions and worst.rank < Tier.CONDITIONALLY_BOUNDED.rank:
        worst = Tier.CONDITIONALLY_BOUNDED
    return replace(
        verdict,
        tier=worst,
        bound=_total(verdict, blocks, kept, catalog),
        conditions=tuple(conditions),
        declarations=tuple(declared),
        blocks=tuple(inner),
    )


def _bound_nothing(verdict: Verdict, inner: Sequence[Verdict]) -> Bound | None:
    """What is kept for a query that selects nothing: what it reads runs all the same, as what is
    not grouped begins with the time of its streams, and has one row over nothing (None: what it
    reads is not bounded)."""
    aggregation = verdict.union.aggregation
    single = aggregation is not None and not aggregation.told.group
    own = verdict.bound or (Bound(1, "1") if single else Bound(0, "0"))
    bounds = [one.bound for one in inner if one.plans is not None and one.bound is not None]
    return total_bound([own, *bounds]) if len(bounds) == len(inner) else None


def _bound_met(block: Block, catalog: Catalog, known: Statistics) -> KeptVersions | None:
    """What is kept of versions, or of rows that others meet (None: the block is of answers)."""
    if block.between is not None:
        return bound_begun(block.between, catalog, known)
    match block.meeting:
        case Meeting():
            return bound_versions(block.meeting, catalog, known)
        case Preceding():
            return bound_preceding(block.meeting, block.union.disjuncts, catalog, known)
        case None:
            return None
        case _:
            assert_never(block.meeting)


def _tier_kept(block: Block, kept: KeptVersions) -> Tier:
    """The tier of a query that keeps rows that others meet."""
    if kept.bound is None or kept.bound.rows == 0:
        return Tier.STATELESS
    meeting = block.meeting
    within = isinstance(meeting, Preceding) and (meeting.span_us > 0 or bool(meeting.within))
    return Tier.WINDOW_BOUNDED if within else Tier.TREE_BOUNDED


def _without(verdict: Verdict, dead: set[str], catalog: Catalog) -> Verdict:
    """The verdict where some streams have no rows. Where nothing else fails, the bound is that of
    the disjuncts that are left."""

    def check(decided: Sequence[DisjunctVerdict]) -> tuple[DisjunctVerdict, ...]:
        return tuple(
            Unsatisfiable(d.query) if any(o.table in dead for o in d.query.occurrences) else d
            for d in decided
        )

    disjuncts, union = check(verdict.disjuncts), verdict.union
    parts = tuple(replace(part, disjuncts=check(part.disjuncts)) for part in verdict.parts)
    bound = verdict.bound
    if bound is None and parts:
        bound = bound_aggregates(union, parts, find_closing(union, catalog), catalog)
    elif bound is None:
        bound = bound_union(union, disjuncts, catalog)
    return replace(
        verdict,
        bound=bound,
        disjuncts=disjuncts,
        parts=parts,
        tier=max((d.tier for d in disjuncts), key=lambda t: t.rank, default=Tier.UNSATISFIABLE),
    )


def _follows(declaration: Declaration) -> Declaration:
    """What is not declared, but follows for answers."""
    return replace(declaration, text=f"{declaration.text}, which follows from its query")


def _by_block(
    blocks: Sequence[Block], inner: Sequence[Verdict]
) -> list[tuple[Block, tuple[Verdict, ...]]]:
    """Every block with the verdicts on its queries."""
    given = iter(inner)
    return [(block, tuple(next(given) for _ in block.queries)) for block in blocks]


def _is_found(block: Block, waiting: Sequence[Bound], hits: Sequence[Verdict]) -> bool:
    """Whether what waits is counted by the keys that are kept of what was found beside it: each
    row of both is of another tuple, and an answer beside which something was found waits no more;
    of keys that are fewer than the tuples may be, more may wait than are counted there.
    """
    assert block.absence is not None
    if len(block.absence.parts) != 1 or block.absence.parts[0].present or block.absence.held:
        return False
    plans = [plan for verdict in hits for plan in verdict.plans or ()]
    if len(plans) != 1 or len(share_tuples(waiting)) != 1:
        return False
    last = plans[0].tables[-1]
    tuples = [of and (of.stream, of.most, of.formula) for of in (b.of for b in waiting)]
    of = last.bound.of
    if not last.stored or of is None or last.bound.rows != of.most:
        return False
    return {*tuples} == {(of.stream, of.most, of.formula)}


def _total(
    verdict: Verdict,
    blocks: Sequence[tuple[Block, tuple[Verdict, ...]]],
    kept: Mapping[str, KeptVersions],
    catalog: Catalog,
) -> Bound | None:
    bounds = [verdict.bound]
    for block, others in blocks:
        bounds += [other.bound for other in others]
        if block.meeting is not None or block.between is not None:
            held = kept[block.stream.name].bound
            bounds += [] if held is not None and held.rows == 0 else [held]
            continue
        first = others[0]
        if block.absence is not None:
            wide = extend_catalog(catalog, block.union)
            waiting = [bound_waiting(p.form, block.absence, wide) for p in first.plans or ()]
            bounds += [] if _is_found(block, waiting, others[1:]) else share_tuples(waiting)
        elif block.union.begins:
            wide, begins = extend_catalog(catalog, block.union), block.union.begins
            late = [
                bound_standing(p.form, begins, wide, distinct=False, paired=True)
                for p in first.plans or ()
            ]
            bounds += share_tuples(late)
        if block.absence is None and first.bound is not None:
            rows = block.stream.max_per_timestamp
            most = first.bound.rows if rows is None else rows
            bounds.append(Bound(most, f"answers of {block.stream.name} at a time"))
    known = [bound for bound in bounds if bound is not None]
    return total_bound(known) if len(known) == len(bounds) else None
