"""Replay a checked query: the glue between verdicts and the run-time."""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import DataError, UsageError
from ontoweir.files.find_output import FileOutput, StreamOutput, find_output, require_folder
from ontoweir.files.name_formats import OUTPUTS
from ontoweir.files.require_ending import require_ending
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.warn_answers import refuse_static
from ontoweir.project.refuse_inputs import refuse_inputs
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit, choose_emit
from ontoweir.run.prepare_jobs import AskedFor, list_tables, prepare_jobs, refusal
from ontoweir.run.spare_rules import spare_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.progress.replay_progress import ProgressListener
    from ontoweir.runtime.replay.replay_request import Engine
    from ontoweir.runtime.replay.replay_summary import ReplaySummary
    from ontoweir.runtime.results.write_results import OutputFormat
    from ontoweir.runtime.verified.verification import Verification


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What `ontoweir replay` was asked for; times are UTC, [start, stop)."""

    output: Path
    format: "OutputFormat" = "parquet"
    start: datetime | None = None
    stop: datetime | None = None
    expand: bool = False
    allow_unbounded: bool = False
    progress: bool = True
    spark: Mapping[str, str] = field(default_factory=dict)
    """Properties of the session that is started."""
    final: bool = False
    """Of an aggregate query, the last row of each group alone."""
    engine: "Engine" = "auto"
    """What replays: this process (`driver`), Spark's tasks, or what is estimated to end earlier."""
    parts: int | None = None
    """Among how many processes rows are divided by key (None: as estimated)."""
    verify: bool = False
    """Hold all rows to what is declared, also of files that were held to it before."""
    rejects: Path | None = None
    """The folder where the rejected rows are written."""
    emit: str | None = None
    """What is written of answers: `answers`, `intervals`, `changes` or `snapshots` (None: what
    fits)."""
    listener: "ProgressListener | None" = None
    """Is told how far it is, where no progress is shown."""


def check_replay(workspace: Workspace, compiled: CompiledQuery, options: ReplayOptions) -> Verdict:
    """Refuse what cannot be replayed before anything is started: no JVM, nothing written.

    Raises:
        UsageError: the answers cannot be written there.
        QueryError: the query is not bounded and that is not allowed.
        DataError: there is no data.
    """
    check_output(options.output, options.format)
    chosen = choose_emit(compiled.union, options.emit)
    if chosen in (Emit.SNAPSHOTS, Emit.INSERTIONS, Emit.DELETIONS) and options.final:
        raise UsageError(
            f"--final with --emit {chosen}",
            why="what holds at the end is what the changes lead to",
            fix="write --emit changes, which gives what holds at the end"
            if compiled.union.told
            else "leave --emit out, which gives what holds at the end",
        )
    if options.engine != "auto" and (options.parts or 1) > 1:
        raise UsageError(
            f"--parts {options.parts} with --engine {options.engine}",
            why="processes of this machine replay the parts, neither this one alone nor Spark",
            fix="leave one of them out",
        )
    refuse_inputs(workspace.project, options.output)
    verdict = workspace.check(compiled)
    if verdict.plans is None and not options.allow_unbounded:
        raise refusal(compiled, verdict)
    if (static := refuse_static(compiled, verdict)) is not None:
        raise static
    catalog = workspace.project.catalog
    for name in list_tables(compiled, catalog):
        table = catalog.table(name)
        if table.data.view is None:
            _check_data(table)
    return verdict


def check_output(output: Path, form: "OutputFormat") -> None:
    """Refuse an output that cannot be written, before anything is started.

    Raises:
        UsageError: it is neither a file nor a pipe, or its folder is not there; or it is a pipe,
            and Parquet is asked for; or what writes Avro is not installed.
    """
    from ontoweir.runtime.packed.write_avro import require_avro
    from ontoweir.runtime.results.write_results import refuse_parquet

    if form == "avro":
        require_avro("--output")
    place = find_output(output)
    if isinstance(place, StreamOutput) and form == "parquet":
        raise refuse_parquet(output)
    require_folder(output, place)


def choose_format(output: Path) -> "OutputFormat":
    """The format that an output's name asks for: by its suffix; without one Parquet, and CSV where
    it is no file.

    Raises:
        UsageError: the suffix is of no format.
    """
    named = OUTPUTS.get(output.suffix.lower())
    if named is not None:
        return named
    require_ending(output, tuple(OUTPUTS), "name such a file; with replay --format, any")
    return "csv" if isinstance(find_output(output), StreamOutput) else "parquet"


def convert_answers(
    file: Path, output: Path, form: "OutputFormat", workspace: Workspace, compiled: CompiledQuery
) -> None:
    """Write the answers of a Parquet file in another format.

    Raises:
        UsageError: they cannot be written there, or not so.
    """
    import pyarrow.parquet as pq

    from ontoweir.rewriter.model.add_views import extend_catalog
    from ontoweir.runtime.rdf.find_terms import RDF_FORMATS, find_terms, require_terms
    from ontoweir.runtime.results.write_results import ResultWriter

    terms = None
    with pq.ParquetFile(file) as answers:
        if form in RDF_FORMATS:
            catalog = extend_catalog(workspace.project.catalog, compiled.union)
            terms = find_terms(compiled.union, catalog)
            require_terms(terms, answers.schema_arrow.names, form)
        with ResultWriter(output, form, answers.schema_arrow, terms) as writer:
            for group in range(answers.metadata.num_row_groups):
                writer.write(answers.read_row_group(group))
            writer.commit()


def _find_beside(output: Path) -> Path | None:
    """A file beside which Spark's tasks can write (None: it is not a file)."""
    match find_output(output):
        case FileOutput(path=path):
            return path
        case StreamOutput():
            return None


def _check_data(table: Stream | Relation) -> None:
    from ontoweir.runtime.located.locate_source import locate_source

    try:
        located = locate_source(table.data, table.name, "")
    except DataError as error:
        raise DataError(
            f"{error.what}: {table.data.path}" if table.data.path else error.what,
            why=error.why,
            fix=error.fix,
            source=table.source,
        ) from None
    if located.files == ():
        raise DataError(
            f"there is no data for {table.name}: {table.data.path}",
            why="the folder that the catalog names is empty",
            fix="put the data there, or correct the path of its source",
            source=table.source,
        )


def replay_query(
    workspace: Workspace,
    compiled: CompiledQuery,
    options: ReplayOptions,
    spark: "SparkSession | None" = None,
) -> dict[str, Any]:
    """Replay one query over the history and write its answers. Spark is started where it is
    needed: not for a short history of local Parquet files.

    The verdict is found from the schema first, without a JVM; the plan that runs is made again
    with what the static data says, which only tightens it. Where it is allowed, a query that is not
    bounded keeps whatever it needs (plan_unbounded).

    Returns:
        The summary of the interface contract, and `spark_start_seconds`: 0 where no session was
        started.

    Raises:
        UsageError: the answers cannot be written there.
        QueryError: the query is not bounded and that is not allowed.
        DataError: the data is missing or breaks its declarations.
        RunError: failed while running; nothing is half written.
    """
    from ontoweir.runtime.located.hold_archive import read_archives

    with read_archives(s.data for s in workspace.project.catalog.streams.values()):
        return _replay(workspace, compiled, options, spark)


def _replay(
    workspace: Workspace,
    compiled: CompiledQuery,
    options: ReplayOptions,
    spark: "SparkSession | None",
) -> dict[str, Any]:
    verdict = check_replay(workspace, compiled, options)
    from ontoweir.progress.show_replay import show_replay
    from ontoweir.runtime.replay.replay import replay_history
    from ontoweir.runtime.replay.replay_request import ReplayRequest

    if spare_rules(workspace.project.catalog, tables_of(compiled.union)) is None:
        compiled = workspace.keep(compiled, verdict)  # else it is compiled once more, without rules
    verification = _identify(workspace, compiled, again=options.verify)
    starting: list[float] = []

    @cache
    def session() -> "SparkSession":
        if spark is not None:
            return spark
        if options.engine == "driver":
            raise _needs_spark(compiled.name)
        begun = perf_counter()
        started = _start(options.spark)
        starting.append(perf_counter() - begun)
        workspace.on_stage("Spark is started", starting[0])
        return started

    here = not _is_cluster(options.spark, spark)
    prepared = prepare_jobs(
        workspace,
        [(compiled, verdict)],
        session,
        beside=_find_beside(options.output),
        here=here,
        asked=AskedFor(options.allow_unbounded, options.emit),
        verification=verification,
    )
    (job,), statics = prepared.jobs, prepared.statics
    changing = job.emit in CHANGING
    final = options.final and not changing
    _warn(workspace, compiled, final=final, unbounded=job.unbounded and not job.spill)
    _warn_of_nulls(workspace, compiled)
    request = ReplayRequest(
        options.output,
        options.format,
        start=options.start,
        stop=options.stop,
        expand=options.expand,
        final=options.final,
        text_here=here,
        engine=options.engine,
        parts=options.parts,
        verification=verification,
        most_rejected=False,
        rejects=options.rejects,
    )
    shown = show_replay(compiled.name) if options.progress else nullcontext(options.listener)
    with shown as progress:
        summary = replay_history(job, request, spark=session, progress=progress, statics=statics)
    return {**_as_json(summary), "spark_start_seconds": round(sum(starting), 3)}


def _warn(workspace: Workspace, compiled: CompiledQuery, *, final: bool, unbounded: bool) -> None:
    """What may not be what was meant."""
    if final and compiled.union.aggregation is None:
        workspace.on_warning(
            f"--final changes nothing for {compiled.name}: it is not an aggregate, and each of its "
            "answers is final when it is reported"
        )
    if unbounded:
        workspace.on_warning(
            f"{compiled.name} is not known to be bounded: its memory and time may grow with the "
            "history"
        )


def _warn_of_nulls(workspace: Workspace, compiled: CompiledQuery) -> None:
    """Rows that are no results, as a column is NULL that the catalog does not declare nullable."""
    if not compiled.union.hidden:
        return
    from ontoweir.runtime.violations.count_hidden import count_hidden

    for found in count_hidden(compiled.union, workspace.project.catalog):
        column = found.column
        which = f"which are no results of {compiled.name}"
        if not found.alone:
            which = f"and what {compiled.name} computes of them is no result where it is NULL"
        workspace.on_warning(
            f"{found.table}.{column} is NULL in {found.rows:,} rows, {which}: "
            f"declare {column} with nullable = true to have them, or add {column} IS NOT NULL"
        )


def _identify(
    workspace: Workspace, compiled: CompiledQuery, *, again: bool
) -> "Verification | None":
    """How the files of the query's tables are, before any is read (None: nothing is kept)."""
    from ontoweir.runtime.verified.verification import begin_verification

    cache, catalog = workspace.cache, workspace.project.catalog
    if cache is None:
        return None
    return begin_verification(cache, catalog, list_tables(compiled, catalog), again=again)


def _needs_spark(name: str) -> UsageError:
    return UsageError(
        f"{name} cannot be replayed without Spark",
        why="one of its streams or relations is of a format that only Spark reads here",
        fix="leave out `--engine driver`, or provide the data as Parquet, CSV or JSON lines in "
        "local files; Avro and Delta are read with ontoweir[avro] and ontoweir[delta]",
    )


def _start(settings: Mapping[str, str]) -> "SparkSession":
    from ontoweir.runtime.spark.start_session import start_session

    return start_session(settings)


def _is_cluster(settings: Mapping[str, str], spark: "SparkSession | None") -> bool:
    """Whether a Spark is named that runs elsewhere: then it reads text, too."""
    if spark is not None:
        return not str(spark.conf.get("spark.master", "")).startswith("local")
    master = settings.get("spark.master") or os.environ.get("SPARK_MASTER", "local")
    return bool(os.environ.get("SPARK_REMOTE")) or not master.startswith("local")


def _as_json(summary: "ReplaySummary") -> dict[str, Any]:
    """The fields of the interface contract; `rejects` says why tuples were rejected, `ranges` how
    many Spark tasks shared the history, `one_range_because` why it was one, `parts` among how many
    processes rows were divided by key, and `engine_because` why `engine` replayed it so."""
    return {
        "markers": summary.markers,
        "tuples": summary.tuples,
        "results": summary.results,
        "state_rows_max": summary.state_rows_max,
        "bound_rows": summary.bound_rows,
        "seconds": round(summary.seconds, 3),
        "tuples_per_second": round(summary.tuples_per_second, 1),
        "late": summary.late,
        "rejected": summary.rejected_total,
        "rejects": dict(summary.rejected),
        "broken": dict(summary.broken),
        "on_disk": dict(summary.on_disk),
        "late_rows": {n: late.describe() for n, late in summary.late_rows.items()},
        "ranges": summary.ranges,
        "one_range_because": summary.one_range_because,
        "parts": summary.parts,
        "engine": summary.engine,
        "engine_because": summary.engine_because,
    }
