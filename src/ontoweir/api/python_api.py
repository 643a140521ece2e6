"""The Python API: a project, on your own Spark session."""

import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ontoweir.api.answers import Answers, EmitName, make_folder
from ontoweir.api.check_tables import check_tables
from ontoweir.api.compile_typed import compile_typed, read_typed
from ontoweir.api.enter_query import enter_query
from ontoweir.api.live_query import KEPT, LiveQuery
from ontoweir.api.verdicts import Verdicts
from ontoweir.api.write_frames import name_places
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.edit.describe_repairs import DescribedRepair
from ontoweir.errors import OntoweirError, OntoweirWarning, UsageError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.progress.notebook import NotebookText, in_notebook
from ontoweir.project.refuse_inputs import refuse_inputs
from ontoweir.project.write_project import BuiltProject
from ontoweir.report.describe_rejects import describe_rejects

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener

    from ontoweir.registry.registry_entry import Entry
    from ontoweir.runtime.live.output.sinks.memory import MemorySink
    from ontoweir.runtime.replay.replay_request import Engine
    from ontoweir.runtime.violations.violation import TableViolations

Stage = Literal["ucq", "sql", "spj", "lto", "plan", "trace"]
_NO_OPTIONS: Mapping[str, str] = {}


@dataclass(frozen=True, repr=False)
class OpenProject:
    """An open project. A query is named as in the project, or given as text, SPARQL or SQL.
    `registry`: the folder of its registered queries; `views`: the session that has the sources of
    Spark, where there are any; `frames`: the folder of those of Python, while it lives.
    """

    workspace: Workspace
    spark: "SparkSession | None" = None
    registry: Path = Path("out/registry")
    views: "SparkSession | None" = field(default=None, repr=False)
    built: BuiltProject | None = field(default=None, repr=False)
    frames: object = field(default=None, repr=False, compare=False)
    running: dict[str, LiveQuery] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        count = len(self.queries)
        return f"OpenProject({str(self.folder)!r}, {count} quer{'y' if count == 1 else 'ies'})"

    @property
    def folder(self) -> Path:
        """The folder of its relative paths."""
        return self.workspace.project.root

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the project's queries, in order."""
        return self.workspace.query_names()

    @property
    def refused(self) -> "tuple[OntoweirError, ...]":
        """What is wrong in triples maps (`skip_refused` of `open_project` leaves them out)."""
        with self._names():
            errors = [r.error.again() for r in self.workspace.mappings.refused]
        return tuple(e if self.built is None else self.built.renamed(e) for e in errors)

    @overload
    def check(
        self, query: str, *, model: Literal["application-time", "arrival"] = "application-time"
    ) -> Verdict: ...

    @overload
    def check(self) -> "dict[str, Verdict | OntoweirError]": ...

    def check(
        self,
        query: str | None = None,
        *,
        model: Literal["application-time", "arrival"] = "application-time",
    ) -> "Verdict | dict[str, Verdict | OntoweirError]":
        """Decide a query, or without one all (`check_all`), before anything runs, without Spark.

        Returns:
            the verdict: `name`, `tier`, `bound`, `conditions`, `plans`, and where it is unbounded
            the `witness`.

        Raises:
            OntoweirError: the query, the ontology, the mappings or the catalog have an error.
        """
        if query is None:
            return self.check_all()
        with self._names():
            found = self._compile(query)
            return self.workspace.check_and_warn(found, timed=model == "application-time")

    def check_data(self, *, sample: int | None = None) -> "tuple[TableViolations, ...]":
        """Hold the rows at hand to what is declared, as `ontoweir check --data` does.

        Args:
            sample: of each stream only so many rows, the first.

        Returns:
            for each table `rows`, and the `violations` with `reason`, `rows` and `examples`.

        Raises:
            DataError: data is missing, or cannot be read.
        """
        with self._names():
            return check_tables(self.workspace, self.views or self.spark, sample)

    def check_all(self) -> "dict[str, Verdict | OntoweirError]":
        """Decide all queries: the verdict of each, or why it is refused.

        Raises:
            OntoweirError: the ontology or the catalog has an error.
        """
        verdicts = Verdicts(self.explain)
        with self._names():
            assert self.workspace.mappings is not None
        for name in self.queries:
            try:
                verdicts[name] = self.check(name)
            except OntoweirError as error:
                verdicts[name] = error
        return verdicts

    def explain(self, query: str) -> str:
        """The text of `ontoweir check` for a query: verdict, reasons, repairs."""
        from io import StringIO

        from rich.console import Console

        from ontoweir.report.render_check import render_verdict

        with self._names():
            compiled = self._compile(query)
            verdict = self.workspace.check(compiled)
            mended: tuple[DescribedRepair, ...] = ()
            if verdict.plans is None:
                mended = self.workspace.repair(compiled, text=read_typed(query))
        text = StringIO()
        render_verdict(
            verdict,
            Console(
                file=text,
                width=120,
                highlight=False,
                color_system=None,
                force_jupyter=False,  # which would show it, and write nothing
                force_terminal=False,
            ),
            self.workspace.project.catalog,
            mended,
            width=len(verdict.union.name),
        )
        return self._shown(text.getvalue())

    def rewrite(self, query: str, show: Stage = "sql", *, dialect: str = "spark") -> str:
        """The query after a stage of rewriting, as `ontoweir rewrite --show` prints it."""
        from ontoweir.report.show_stage import show_stage

        with self._names():
            lines, _ = show_stage(
                self.workspace, self._compile(query), show, dialect=dialect, limit=100
            )
        return self._shown("\n".join(lines))

    def replay(
        self,
        query: str,
        *,
        output: str | Path | None = None,
        start: "datetime | date | str | None" = None,
        stop: "datetime | date | str | None" = None,
        final: bool = False,
        emit: EmitName | None = None,
        engine: "Engine" = "auto",
        parts: int | None = None,
        allow_unbounded: bool = False,
        progress: bool | None = None,
    ) -> Answers:
        """Answer a query over the history.

        Args:
            query: a name, or text: SPARQL or SQL.
            output: the file to write: CSV, JSON lines, Parquet, Arrow, Avro, SPARQL's JSON (.srj)
                or N-Quads (.nq), by its name (default: a temporary one).
            start: the first application time, UTC: a date (its midnight), or ISO 8601.
            stop: the first application time that is left out.
            final: for an aggregate, only the last row of each group, not one for every update.
            emit: updates, intervals, changes or those of a kind, or snapshots (default: as fits).
            engine: this process ("driver"), Spark's tasks ("spark"), or what would end earlier.
            parts: among how many processes rows are divided by key (None: as estimated).
            allow_unbounded: run an unbounded query, in memory that grows with the history.
            progress: show a bar, in a notebook or on stderr (default: in notebooks).

        Raises:
            QueryError: the query is not bounded, and that is not allowed.
            DataError: the data is missing, or violates a declaration.
            RunError: the replay failed while running; no file is half written.
        """
        from ontoweir.project.read_moment import check_span, read_moment
        from ontoweir.run import replay_query as replaying

        first, last = read_moment(start, "start"), read_moment(stop, "stop")
        check_span(first, last, "start", "stop")
        wanted = None if output is None else Path(output)
        form = "parquet" if wanted is None else replaying.choose_format(wanted)
        folder = make_folder() if wanted is None or form != "parquet" else None  # loses nothing
        file = folder.path / "answers.parquet" if folder is not None else Path(output or "")
        with self._names():
            compiled = self._compile(query)
            options = replaying.ReplayOptions(
                output=file,
                start=first,
                stop=last,
                final=final,
                emit=emit,
                engine=engine,
                parts=parts,
                allow_unbounded=allow_unbounded,
                progress=in_notebook() if progress is None else progress,
            )
            if wanted is not None:
                replaying.check_output(wanted, form)
                refuse_inputs(self.workspace.project, wanted)
            summary = replaying.replay_query(
                self.workspace, compiled, options, self.views or self.spark
            )
            if wanted is not None and form != "parquet":
                replaying.convert_answers(file, wanted, form, self.workspace, compiled)
        if (rejects := describe_rejects(summary)) is not None:
            warnings.warn(f"{compiled.name}: {rejects}", OntoweirWarning, stacklevel=2)
        return Answers(compiled.union, file, summary, self.spark, folder)

    def register(
        self,
        query: str,
        *,
        name: str | None = None,
        output: str | Path | None = None,
        checkpoint: str | Path | None = None,
        sink: (
            "Literal['parquet', 'jsonl', 'csv', 'arrow', 'avro', 'srj', 'nq', 'console', 'kafka', "
            "'mqtt', 'webhook', 'table', 'postgres', 'delta', 'iceberg'] | MemorySink"
        ) = "parquet",
        sink_options: Mapping[str, str] = _NO_OPTIONS,
        once: bool = False,
        seconds: float = 0.0,
        replace: bool = False,
        allow_unbounded: bool = False,
        listeners: "Sequence[StreamingQueryListener]" = (),
    ) -> LiveQuery:
        """Register a query and run it in this process, until it is stopped. Several can run at
        once; the session's settings do not change.
        If the same query is registered by that name already, it resumes from its checkpoint.

        Args:
            query: a name, or text: SPARQL or SQL.
            name: the name to register (default: its name in the project).
            output: the folder of answers, in files `<name>/part-….parquet` (default: `out/answers`
                in the project's folder).
            checkpoint: the folder of its state (default: in the registry). A given folder is
                resumed from, and never removed.
            sink: where answers go.
            sink_options: of the sinks that take some, as `ontoweir run --sink-option` has them.
            once: stop when all existing data has been read.
            seconds: the least time between micro-batches.
            replace: replace another query of that name, whose state is removed.
            allow_unbounded: register it even if it is not bounded.
            listeners: receive Spark's progress.

        Raises:
            QueryError: the query is not bounded, and that is not allowed.
            UsageError: the name belongs to another query, or the query runs already; or its
                checkpoint belongs to another run, or is damaged; or the session is one of Spark
                Connect.
            DataError: data is missing, or a static relation violates a declaration.
        """
        from ontoweir.registry.start_entry import start_entry
        from ontoweir.run.run_options import RunOptions
        from ontoweir.run.run_queries import open_session, open_sink
        from ontoweir.runtime.spark.refuse_connect import refuse_connect

        place = Path(output or self.workspace.project.root / "out" / "answers")
        options = RunOptions(
            checkpoint=None,
            output=place.absolute(),
            once=once,
            seconds=seconds,
            progress=False,
            sink=sink,
            sink_options=sink_options,
            listeners=tuple(listeners),
        )
        records: deque[dict[str, Any]] = deque(maxlen=KEPT)
        with self._names():
            open_sink(options)
            refuse_connect(self.views or self.spark, options.spark)
            entry = enter_query(
                self.workspace,
                self.registry,
                self.running,
                query,
                name,
                replace=replace,
                allow_unbounded=allow_unbounded,
            )
            home = open_session(options, self.views or self.spark)
            running = start_entry(
                self.workspace,
                self.registry,
                entry,
                home,
                options,
                checkpoint=None if checkpoint is None else Path(checkpoint).absolute(),
                on_published=lambda record: records.append(dict(record)),
            )
            if running.error is not None:
                raise running.error
        handle = LiveQuery(running, records, self.spark or home)
        self.running[entry.name] = handle
        return handle

    def list(self) -> "tuple[Entry, ...]":
        """The registered queries by name, whichever process serves them."""
        from ontoweir.registry.list_entries import list_entries

        return list_entries(self.registry)

    def get(self, name: str) -> LiveQuery:
        """The handle of a query that was registered in this process.

        Raises:
            UsageError: it was not; `list` and `status` include those of other processes.
        """
        from ontoweir.mappings.model.read_table import did_you_mean

        if name not in self.running:
            raise UsageError(
                f"no query was registered as {name!r} in this process",
                why=f"there is {', '.join(self.running) or 'none'}",
                fix=did_you_mean(name, self.running) if self.running else "register it",
            )
        return self.running[name]

    def status(self, name: str) -> dict[str, Any]:
        """The output of `ontoweir status NAME --format json`, whichever process serves it.

        Raises:
            UsageError: nothing is registered by that name.
        """
        from ontoweir.registry.entry_status import read_status
        from ontoweir.registry.list_entries import find_entry

        return read_status(self.registry, find_entry(self.registry, name))

    def drop(self, name: str, *, purge: bool = False) -> None:
        """Remove a query from the registry: its run stops, here or in the process that serves it.
        Its state and its answers are kept, unless `purge`.

        Raises:
            UsageError: nothing is registered by that name.
        """
        from ontoweir.registry.drop_query import drop_query

        if name in self.running:
            self.running[name].stop()
        drop_query(self.registry, name, purge=purge)
        self.running.pop(name, None)

    def _shown(self, text: str) -> str:
        """Text as it is shown, and as a notebook shows it."""
        return NotebookText(text if self.built is None else self.built.rename(text))

    def _compile(self, query: str) -> CompiledQuery:
        return compile_typed(self.workspace, query)

    @contextmanager
    def _names(self) -> Iterator[None]:
        """Errors of what is in memory say `<ontology>`, not where it was written down."""
        try:
            yield
        except OntoweirError as error:
            name_places(error, self.built, self.frames)
            raise


Sources = Mapping[str, Any]
"""By stream or relation: a table of pandas, polars, Arrow, DuckDB or Spark; or a view's name."""
