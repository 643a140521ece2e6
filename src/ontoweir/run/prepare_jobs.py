"""Turn decided queries into jobs that run: static data loaded, plans refined by it."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.checker.between.lift_comparisons import read_compared
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.rewriter.model.add_views import add_statics, extend_catalog, tables_of
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit, choose_emit
from ontoweir.run.spare_rules import spare_rules

if TYPE_CHECKING:  # and what decides: a query that is known is not decided again
    import pyarrow as pa

    from ontoweir.run.spill_plans import Spared
    from ontoweir.runtime.engine.query_job import QueryJob, WatchedKey
    from ontoweir.runtime.statics.load_statics import Session
    from ontoweir.runtime.verified.verification import Verification


@dataclass(frozen=True, slots=True)
class PreparedJobs:
    """Queries ready to run: their jobs; their verdicts with what the static data says; and the
    static relations that they read, whole."""

    jobs: "tuple[QueryJob, ...]"
    verdicts: tuple[Verdict, ...]
    statics: "Mapping[str, pa.Table]"


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What is asked of a run besides its queries.

    `allow_unbounded`: a query that is not bounded keeps whatever it needs (plan_unbounded); `emit`:
    what is written of answers (None: what fits each query).
    """

    allow_unbounded: bool = False
    emit: str | None = None


NOTHING_ELSE = AskedFor()


def prepare_jobs(
    workspace: Workspace,
    decided: Sequence[tuple[CompiledQuery, Verdict]],
    spark: "Session",
    *,
    beside: Path | None = None,
    here: bool = True,
    asked: AskedFor = NOTHING_ELSE,
    verification: "Verification | None" = None,
) -> PreparedJobs:
    """Load the static relations of queries, and make their plans again with what these say, which
    only tightens them.

    Args:
        workspace: the project.
        decided: queries, and the verdicts on them from the declarations alone.
        spark: as load_statics takes it, and so are `beside` and `here`.
        beside: large static relations are written next to it for a moment.
        here: local text is read in this process where it can be.
        asked: what else was asked for.
        verification: what an earlier run has found of the relations' files; of these, rows are not
            loaded.

    Raises:
        QueryError: a query is not bounded, and that is not allowed; or its answers are not written
            so.
        DataError: static data is missing, or breaks what is declared of it.
        RunError: Spark does not start.
    """
    from ontoweir.runtime.statics.gather_statistics import gather_statistics
    from ontoweir.runtime.verified.recall_statistics import keep_statistics

    compiled = [query for query, _ in decided]
    catalog = _add_statics(workspace.project.catalog, compiled)
    recalled = _recall(compiled, catalog, verification)
    statics = load_relations(
        workspace, compiled, spark, beside=beside, here=here, without=recalled.rows.keys()
    )
    made = []
    for query, verdict in decided:
        found = gather_statistics(fill_views(query, catalog, statics))
        if verification is not None:
            keep_statistics(verification, found, statics)
        known = Statistics({**found.rows, **recalled.rows}, {**found.columns, **recalled.columns})
        made.append(make_job(workspace, query, verdict, known, asked))
    return PreparedJobs(tuple(job for job, _ in made), tuple(v for _, v in made), statics)


def _add_statics(catalog: Catalog, compiled: Sequence[CompiledQuery]) -> Catalog:
    """The catalog with the relations that queries make of static ones. Those of one name are one
    relation, or a query would read another's rows."""
    for query in compiled:
        catalog = add_statics(catalog, query.union.statics)
    return catalog


def _recall(
    compiled: Sequence[CompiledQuery], catalog: Catalog, verification: "Verification | None"
) -> Statistics:
    """What is known of the relations whose rows need not be loaded to prepare queries: of none
    where a view has to be filled."""
    if verification is None or any(q.union.views or q.union.statics for q in compiled):
        return Statistics()
    from ontoweir.runtime.verified.recall_statistics import recall_statistics

    names = {n for c in compiled for n in list_tables(c, catalog) if n in catalog.relations}
    if any(catalog.relations[name].data.view is not None for name in names):
        return Statistics()
    return recall_statistics(verification, names)


def fill_views(
    compiled: CompiledQuery, catalog: Catalog, statics: "Mapping[str, pa.Table]"
) -> "dict[str, pa.Table]":
    """The static relations, and the rows of a query's views over them."""
    from ontoweir.runtime.views.feed_views import fill_relations

    union = compiled.union
    filled = fill_relations(union.views, extend_catalog(catalog, union), statics)
    return {**statics, **filled}


def load_relations(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    spark: "Session",
    *,
    beside: Path | None = None,
    here: bool = True,
    without: Set[str] = frozenset(),
) -> "dict[str, pa.Table]":
    """The static relations that queries read, or that their streams reference (load_statics), but
    those `without`.

    Raises:
        DataError: static data is missing, or breaks what is declared of it.
        RunError: Spark does not start.
    """
    from ontoweir.runtime.statics.load_statics import load_statics

    catalog = _add_statics(workspace.project.catalog, compiled)
    names = {n for c in compiled for n in list_tables(c, catalog) if n in catalog.relations}
    return load_statics(spark, catalog, names - without, beside, here=here)


def list_tables(compiled: CompiledQuery, catalog: Catalog) -> list[str]:
    """The tables of a catalog that a query reads, those its streams reference, and those views are
    made of."""
    given, catalog = catalog, add_statics(catalog, compiled.union.statics)
    names = tables_of(compiled.union)
    for name in names & catalog.streams.keys():
        names |= {r.relation for r in catalog.streams[name].references}
    unread = list(names)
    while unread:
        view = catalog.table(unread.pop()).data.view
        if view is not None:
            words = set(re.findall(r"\w+", view))
            more = {n for n in catalog.relations if n in words and n not in names}
            names |= more
            unread += more
    return sorted(n for n in names if n in given.streams or n in given.relations)


def make_job(
    workspace: Workspace,
    compiled: CompiledQuery,
    verdict: Verdict,
    known: Statistics,
    asked: AskedFor = NOTHING_ELSE,
) -> "tuple[QueryJob, Verdict]":
    """What runs a query, and its verdict with what the static data says.

    Args:
        workspace: the project.
        compiled: the query.
        verdict: on it, from the declarations alone.
        known: of the static relations that it reads.
        asked: what else was asked for.

    Raises:
        QueryError: it is not bounded, and that is not allowed; or its answers are not written so.
    """
    chosen = choose_emit(compiled.union, asked.emit)
    catalog = workspace.project.catalog
    if chosen in CHANGING:
        from ontoweir.rewriter.tmappings.find_shared_texts import refuse_shared_texts

        refuse_shared_texts(compiled.union, extend_catalog(catalog, compiled.union))
    if verdict.plans is None:
        refined = workspace.check(compiled, statistics=known)
    else:
        refined = workspace.refine(compiled, verdict, known)
    spared = _spare(workspace, compiled, known)
    if spared is not None and (spared.verdict.plans is not None or refined.plans is None):
        # nothing rests on what the rules say, or nothing is bounded by it
        verdict = refined = spared.verdict
        catalog = spared.catalog
        compiled, spared = replace(compiled, union=spared.union), None
    if chosen is Emit.SNAPSHOTS and refined.closes_values:
        raise QueryError(
            f"{compiled.name} with --emit snapshots",
            why="its groups are final when their values are closed, and hold for ever: each "
            "snapshot would repeat all that were found",
            fix="leave --emit out, or write --emit changes",
            source=compiled.union.source,
        )
    if spared is not None:
        return _make_spilling(spared, refined, known, chosen), refined
    inner = [v for v in refined.blocks if v.plans is None]
    if refined.plans is not None and refined.bound is not None:
        plans = refined.plans
        bound = _count_kept(_bound(refined, catalog, chosen), refined)
        parts = tuple((p.part, len(p.plans)) for p in refined.parts)
    elif asked.allow_unbounded and not inner:
        from ontoweir.checker.decide.plan_unbounded import plan_unbounded

        found = plan_unbounded(compiled.union, catalog, statistics=known)
        plans, bound, parts = found.plans, None, found.parts
    else:
        raise refusal(compiled, refined)
    whole = replace(
        plan_job(refined, catalog),
        union=read_compared(compiled.union, refined.union.blocks),
        plans=plans,
        bound=bound,
        declarations=verdict.declarations,
        parts=parts,
        unbounded=refined.plans is None,
        emit=chosen,
        watched=_list_watched(verdict),
    )
    return whole, refined


def _spare(workspace: Workspace, compiled: CompiledQuery, known: Statistics) -> "Spared | None":
    if spare_rules(workspace.project.catalog, tables_of(compiled.union)) is None:
        return None
    from ontoweir.run.spill_plans import spare_query

    return spare_query(workspace, compiled, known)


def _bound(verdict: Verdict, catalog: Catalog, chosen: Emit) -> Bound:
    """Of what is kept, also of answers that are taken back."""
    assert verdict.bound is not None
    if chosen not in CHANGING:
        return verdict.bound
    from ontoweir.checker.decide.bound_changes import bound_changes

    return bound_changes(verdict, catalog)


def _make_spilling(spared: "Spared", ruled: Verdict, known: Statistics, emit: Emit) -> "QueryJob":
    """What runs a query that only rules bound of which what they drop is kept on disk."""
    from ontoweir.run.spill_plans import plan_spilling

    made = plan_spilling(spared, ruled, known, changing=emit in CHANGING)
    return replace(
        plan_job(ruled, spared.catalog),
        union=read_compared(spared.union, ruled.union.blocks),
        plans=made.found.plans,
        bound=made.bound,
        declarations=ruled.declarations,
        watched=tuple(dict.fromkeys((*_list_watched(ruled), *_list_watched(spared.verdict)))),
        parts=made.found.parts,
        unbounded=True,
        emit=emit,
        spill=made.spill,
    )


def plan_job(verdict: Verdict, catalog: Catalog) -> "QueryJob":
    """What runs a query by the plans of its verdict, if it has some, and the queries whose answers
    it reads, which are bounded."""
    from ontoweir.runtime.engine.query_job import BlockJob, QueryJob

    jobs = iter([plan_job(other, catalog) for other in verdict.blocks])
    blocks = tuple(
        BlockJob(
            block.stream,
            tuple(next(jobs) for _ in block.queries),
            block.absence,
            block.meeting,
            block.between,
        )
        for block in verdict.union.blocks
        if block.meeting is None or verdict.tier is not Tier.UNSATISFIABLE
    )
    return QueryJob(
        name=verdict.union.name,
        union=verdict.union,
        plans=verdict.plans or (),
        catalog=catalog,
        bound=None if verdict.bound is None else _count_kept(verdict.bound, verdict),
        declarations=verdict.declarations,
        parts=tuple((p.part, len(p.plans)) for p in verdict.parts),
        watched=_list_watched(verdict),
        blocks=blocks,
    )


def _count_kept(bound: Bound, verdict: Verdict) -> int | None:
    """The most rows of state: of a bound, without the rows that only wait to be read."""
    waiting = sum(b.rows or 0 for b in verdict.waiting)
    return None if bound.rows is None else bound.rows - waiting


def _list_watched(verdict: Verdict) -> "tuple[WatchedKey, ...]":
    """The keys over whole streams that a verdict rests on."""
    from ontoweir.runtime.engine.query_job import WatchedKey

    return tuple(WatchedKey(d.table, d.columns) for d in verdict.conditions if d.kind == "key")


def refusal(compiled: CompiledQuery, verdict: Verdict) -> QueryError:
    """The error that refuses to run a query which is not bounded."""
    source = compiled.union.source
    return QueryError(
        f"{compiled.name} is {verdict.name}: it would need memory that grows with the stream"
        if verdict.name == "unbounded"
        else f"{compiled.name} is {verdict.name}: no plan in bounded memory is known for it",
        why="only queries that are bounded are run; `ontoweir check` says what is in the way",
        fix="change the query or the catalog as `ontoweir check` hints, or add --allow-unbounded "
        "to run it all the same, in memory that grows",
        source=source if source is None else Source(source.file, source.line),
    )
