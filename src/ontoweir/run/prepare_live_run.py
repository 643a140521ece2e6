"""Prepare checked queries for a live run: static data loaded, plans made with what it says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.warn_answers import refuse_static
from ontoweir.project.refuse_inputs import refuse_folders
from ontoweir.report.describe_plan import describe_plan
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import AskedFor, prepare_jobs, refusal
from ontoweir.run.run_options import RunOptions
from ontoweir.run.spare_rules import spare_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.runtime.engine.query_job import QueryJob
    from ontoweir.runtime.live.model.live_job import LiveJob


def check_live(
    workspace: Workspace, compiled: CompiledQuery, *, allow_unbounded: bool = False
) -> Verdict:
    """Decide whether a query can run live, from the declarations alone.

    Raises:
        QueryError: it is not bounded, and that is not allowed; or it selects nothing.
    """
    verdict = workspace.check(compiled)
    if verdict.plans is None and not allow_unbounded:
        raise refusal(compiled, verdict)
    if (static := refuse_static(compiled, verdict)) is not None:
        raise static
    catalog = workspace.project.catalog
    # what contradicts a rule that spills only may have answers
    if verdict.plans == () and spare_rules(catalog, tables_of(compiled.union)) is None:
        raise QueryError(
            f"{compiled.name} selects nothing",
            why="its conditions contradict each other, or the ontology or the catalog",
            fix="leave it out: --query names the queries to run",
            source=compiled.union.source,
        )
    return verdict


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """What runs, the fingerprint that its checkpoint carries, and the verdicts that it rests on."""

    job: "LiveJob"
    fingerprint: str
    verdicts: tuple[Verdict, ...]
    jobs: "tuple[QueryJob, ...]" = ()
    """The queries as they were prepared."""


def prepare_run(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    verdicts: Sequence[Verdict],
    spark: "SparkSession",
    options: RunOptions,
) -> PreparedRun:
    """Prepare queries with their verdicts, of check_live: they are bounded, and select something.

    Large static relations are written beside the output for a moment. Where it is allowed, a query
    that is not bounded keeps whatever it needs (plan_unbounded).

    Raises:
        QueryError: a query is not bounded, and that is not allowed.
        DataError: data is missing, or breaks what is declared of static relations.
        UsageError: what is written would be read as a stream's.
    """
    from ontoweir.runtime.live.make_live_job import make_live_job

    catalog = workspace.project.catalog
    prepared = prepare_jobs(
        workspace,
        list(zip(compiled, verdicts, strict=True)),
        spark,
        beside=options.output,
        asked=AskedFor(options.allow_unbounded, options.emit),
    )
    jobs, statics = prepared.jobs, prepared.statics
    idle = {s.name: s.idle_us / 1e6 for s in catalog.streams.values() if s.idle_us is not None}
    job = make_live_job(jobs, catalog, statics, idle, options.most_waiting)
    folders = [options.output, *([options.checkpoint] if options.checkpoint else [])]
    refuse_folders([history.stream for history in job.histories], folders)
    fingerprint = _fingerprint(workspace, compiled, jobs, statics)
    return PreparedRun(job, fingerprint, prepared.verdicts, tuple(jobs))


def _describe_joined(joined: Joined[SpjUnion]) -> list[str | bytes]:
    """How the rows of parts are joined, those of parts that are joined themselves too."""
    parts: list[str | bytes] = [repr((joined.part, joined.shown, joined.distinct))]
    parts += [] if joined.row is None else [repr(joined.row)]
    parts += [] if joined.numbered is None else [repr(joined.numbered)]
    more = ((p.groups, p.on, p.since) for p in joined.parts if p.groups or p.on or p.since)
    parts += [repr(one) for one in more]
    how = ((p.equal, p.said, p.kind, p.until, p.query.standing) for p in joined.parts)
    parts += [repr(one) for one in how]
    for part in joined.parts:
        parts += ["NULL equals NULL"] if part.nulls else []
        parts += [] if part.query.joined is None else _describe_joined(part.query.joined)
    return parts


def _describe_job(name: str, job: "QueryJob") -> list[str | bytes]:
    """A query as unfolded, with the functions that it calls, its plans, and those of the queries
    whose answers it reads."""
    grouped = job.union.aggregation
    gap = None if grouped is None else grouped.session_us
    around = None if grouped is None else grouped.around
    numbered = None if grouped is None else grouped.numbered
    plain = grouped
    if grouped is not None:
        plain = replace(grouped, session_us=None, around=None, numbered=None)
    alone = replace(job.union, blocks=(), standing=None, joined=None, aggregation=plain)
    catalog = extend_catalog(job.catalog, job.union)
    printed = print_sql(alone, catalog, comments=False)
    parts: list[str | bytes] = [name, printed]
    for called, function in sorted(catalog.functions.items()):
        if f"{called}(".lower() in printed.lower():
            parts.append(f"{called} {function.digest}")
    parts += [line for plan in job.plans for line in describe_plan(plan)]
    parts += [] if job.union.standing is None else [repr(job.union.standing)]
    parts += [] if gap is None else [f"sessions {gap}"]
    parts += [] if numbered is None else [repr(numbered)]
    if job.union.joined is not None:
        parts += _describe_joined(job.union.joined)
    parts += [] if around is None else [f"around {Aggregation.shape_of(around)} {around.columns}"]
    parts += [] if around is None else [repr((around.computed, around.having))]
    for block in job.blocks:
        for other in block.queries:
            parts += _describe_job(block.stream.name, other)
        if block.meeting is not None:
            parts.append(repr(block.meeting))
        if block.absence is not None:
            known = [(part.deadlines, part.present) for part in block.absence.parts]
            parts.append(repr((block.absence.keys, known)))
        if block.between is not None:
            of = block.between
            ends = [(e.key, e.own, e.at_once) for e in of.ends]
            parts.append(repr(("between", of.key, of.own, of.once, ends)))
    return parts


_WHERE = ("subscribe", "subscribepattern", "assign")


def _fingerprint(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    jobs: "Sequence[QueryJob]",
    statics: Any,
) -> str:
    """What a run is made of: the queries as unfolded, their plans, what is declared of their
    tables, and the static data."""
    from ontoweir.runtime.live.checkpoint.save_state import hash_parts, hash_table

    catalog = workspace.project.catalog
    parts: list[str | bytes] = []
    for query, job in zip(compiled, jobs, strict=True):
        parts += _describe_job(query.name, job)
        parts += [job.emit.value] if job.emit is not Emit.ANSWERS else []
    for name, stream in sorted(catalog.streams.items()):
        columns = [(c.name, c.type, c.minimum, c.maximum, c.enum) for c in stream.columns]
        parts.append(
            repr(
                (
                    name,
                    stream.timestamp,
                    stream.step_us,
                    stream.start_us,
                    stream.max_per_timestamp,
                    columns,
                )
            )
        )
        parts.append(repr((stream.keys, stream.references)))
        # other files, or another topic, are other offsets; how they are read may change
        where = [(k, v) for k, v in stream.data.options if k.lower() in _WHERE]
        parts.append(repr((stream.data.format, stream.data.path, sorted(where))))
    for name, table in sorted(statics.items()):
        parts += [name, hash_table(table)]
    return hash_parts(parts)
