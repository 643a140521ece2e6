"""Prunes disjuncts whose answers another disjunct gives."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.progress import OnProgress, Progress, ignore_progress
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.trace_steps import OnStep, TraceStep, ignore_steps
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjQuery
from ontoweir.rewriter.passes.index_disjuncts import DisjunctIndex


@dataclass(frozen=True, slots=True)
class Candidate:
    """An unfolded disjunct, the conjunctive query it came from, and its number."""

    query: SpjQuery
    origin: ConjunctiveQuery
    number: int = 0


def prune_disjuncts(
    candidates: Sequence[Candidate],
    catalog: Catalog,
    *,
    distinct: bool,
    on_step: OnStep = ignore_steps,
    on_progress: OnProgress = ignore_progress,
) -> tuple[Candidate, ...]:
    """Drops redundant disjuncts.

    Set semantics: a disjunct contained in another adds nothing.

    Bag semantics: multiplicities are those of the query as the user wrote it, over the triples
    that the mappings and the hierarchy make. Dropping is right only where two disjuncts are the
    same rows reached twice, by different axioms: equal up to the names of occurrences, from two
    conjunctive queries of one branch, at least one made by axioms. Equal disjuncts of one
    conjunctive query are different matches (q(x) ← P(x,y), P(x,z)) and stay, as do the
    user's own equal UNION branches. Contained assertions of one predicate are gone already
    (compile_tmappings).
    """
    kept = DisjunctIndex[Candidate](catalog, lambda candidate: candidate.query)
    for done, candidate in enumerate(candidates, 1):
        if done % 64 == 0:
            on_progress(Progress(f"of {len(candidates):,} disjuncts compared", done, None))
        by = next(
            (k for k in kept.above(candidate) if _covers(k, candidate, catalog, distinct)), None
        )
        if by is not None:
            on_step(_step(candidate, by))
            continue
        if distinct:
            for k in [k for k in kept.below(candidate) if _covers(candidate, k, catalog, distinct)]:
                on_step(_step(k, candidate))
                kept.remove(k)
        kept.add(candidate)
    return tuple(kept)


def _step(gone: Candidate, by: Candidate) -> TraceStep:
    return TraceStep(
        "contained disjuncts", f"disjunct {gone.number}", f"dropped: disjunct {by.number} covers it"
    )


def _covers(big: Candidate, small: Candidate, catalog: Catalog, distinct: bool) -> bool:
    if distinct:
        return is_contained(small.query, big.query, catalog)
    if big.origin is small.origin or big.origin.branch != small.origin.branch:
        return False
    if not (big.origin.axioms or small.origin.axioms):
        return False
    return is_contained(small.query, big.query, catalog, one_to_one=True) and is_contained(
        big.query, small.query, catalog, one_to_one=True
    )
