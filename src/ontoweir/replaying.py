"""Replay a checked query: the glue between verdicts and the run-time."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.checker.verdict import Verdict
from ontoweir.errors import QueryError, Source
from ontoweir.pipeline import CompiledQuery, Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What `ontoweir replay` was asked for; times are UTC, [start, stop)."""

    output: Path
    format: str = "parquet"
    start: datetime | None = None
    stop: datetime | None = None
    expand: bool = False
    allow_unbounded: bool = False
    progress: bool = True


def replay_query(
    workspace: Workspace,
    compiled: CompiledQuery,
    options: ReplayOptions,
    spark: "SparkSession | None" = None,
) -> dict[str, Any]:
    """Replay one query over the history and write its answers.

    The verdict is found from the schema first, without a JVM; the plan that runs is made again
    with what the static data says, which only tightens it.

    Returns:
        The summary of the interface contract.

    Raises:
        QueryError: the query is not bounded and that is not allowed.
        DataError: the data is missing or breaks its declarations.
        RunError: failed while running; nothing is half written.
    """
    verdict = workspace.check(compiled)
    if verdict.plans is None and not options.allow_unbounded:
        raise _refusal(compiled, verdict)
    from ontoweir.runtime.load_statics import gather_statistics, load_statics
    from ontoweir.runtime.replay import ReplayJob, replay_history
    from ontoweir.runtime.show_progress import show_progress
    from ontoweir.runtime.start_session import start_session

    session = spark or start_session()
    catalog, union = workspace.project.catalog, compiled.union
    if verdict.plans is None:
        from ontoweir.runtime.replay_naively import UncheckedQuery, replay_naively

        workspace.warn(
            f"{compiled.name} is {verdict.name}: it runs by a plain join over the whole history, "
            "whose memory and time grow with it"
        )
        unchecked = UncheckedQuery(union, catalog, allow_unbounded=True)
        naive = replay_naively(
            unchecked,
            output=options.output,
            format=options.format,
            spark=session,
            start=options.start,
            stop=options.stop,
            expand=options.expand,
        )
        return naive.as_json()
    names = {o.table for q in union.disjuncts for o in q.occurrences}
    names |= {
        r.relation for n in names if n in catalog.streams for r in catalog.streams[n].references
    }
    tables = load_statics(session, catalog, sorted(n for n in names if n in catalog.relations))
    refined = workspace.check(compiled, statistics=gather_statistics(tables))
    plans = refined.plans
    if plans is None or refined.bound is None:
        raise _refusal(compiled, refined)
    job = ReplayJob(
        name=compiled.name,
        union=union,
        plans=plans,
        catalog=catalog,
        bound=refined.bound.rows,
        declarations=verdict.declarations,
    )
    with show_progress(enabled=options.progress, name=compiled.name) as progress:
        summary = replay_history(
            job,
            output=options.output,
            format=options.format,
            spark=session,
            start=options.start,
            stop=options.stop,
            progress=progress,
            expand=options.expand,
        )
    return summary.as_json()


def _refusal(compiled: CompiledQuery, verdict: Verdict) -> QueryError:
    source = compiled.union.source
    return QueryError(
        f"{compiled.name} is {verdict.name}: it would need memory that grows with the stream"
        if verdict.name == "unbounded"
        else f"{compiled.name} is {verdict.name}: no plan in bounded memory is known for it",
        why="only queries that are bounded are run; `ontoweir check` says what is in the way",
        fix="change the query or the catalog as `ontoweir check` hints, or add --allow-unbounded "
        "to run it by a plain join over the whole history",
        source=source if source is None else Source(source.file, source.line),
    )
