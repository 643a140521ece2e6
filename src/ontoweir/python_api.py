"""The Python API: a project, on one's own Spark session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ontoweir.answers import Answers, make_folder
from ontoweir.checker.verdict import Verdict
from ontoweir.pipeline import CompiledQuery, Workspace
from ontoweir.project import load_project
from ontoweir.rewriter.parse_query import parse_union

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Stage = Literal["ucq", "sql", "spj", "lto", "plan", "trace"]


@dataclass(frozen=True)
class OpenProject:
    """An open project. A query is named as in the project, or given as SPARQL text."""

    workspace: Workspace
    spark: "SparkSession | None" = None

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the project's queries, in order."""
        return self.workspace.query_names()

    def check(
        self, query: str, *, model: Literal["application-time", "arrival"] = "application-time"
    ) -> Verdict:
        """Decide a query, before anything runs and without Spark.

        Returns:
            the verdict: `name`, `tier`, `bound` (rows, formula), `conditions`, `plans`, and of an
            unbounded query the `witness`.

        Raises:
            OntoweirError: the query, the ontology, the mappings or the catalog are wrong.
        """
        return self.workspace.check(self._compile(query), timed=model == "application-time")

    def explain(self, query: str) -> str:
        """What `ontoweir check` says of a query: the verdict, why, and what would mend it."""
        from io import StringIO

        from rich.console import Console

        from ontoweir.render_check import render_check

        compiled = self._compile(query)
        verdict = self.workspace.check(compiled)
        text = StringIO()
        render_check(
            [verdict],
            Console(file=text, width=120, highlight=False, color_system=None),
            self.workspace.project.catalog,
            repairs=[() if verdict.plans is not None else self.workspace.repair(compiled)],
        )
        return text.getvalue()

    def rewrite(self, query: str, show: Stage = "sql", *, dialect: str = "spark") -> str:
        """What a stage made of a query, as `ontoweir rewrite --show` prints it."""
        from ontoweir.show_stage import show_stage

        lines, _ = show_stage(
            self.workspace, self._compile(query), show, dialect=dialect, limit=100
        )
        return "\n".join(lines)

    def replay(
        self,
        query: str,
        *,
        output: str | Path | None = None,
        start: datetime | None = None,
        stop: datetime | None = None,
        allow_unbounded: bool = False,
        progress: bool = False,
    ) -> Answers:
        """Answer a query over the history.

        Args:
            query: a name, or SPARQL text.
            output: the Parquet file to write (default: a temporary one).
            start: of application time, UTC; the first.
            stop: the first that is left out.
            allow_unbounded: run what is not bounded by a plain join over the whole history.
            progress: show a progress bar on stderr.

        Raises:
            QueryError: the query is not bounded, and that is not allowed.
            DataError: the data is missing, or breaks what is declared.
            RunError: failed while running; nothing is half written.
        """
        from ontoweir.replaying import ReplayOptions, replay_query

        folder = make_folder() if output is None else None
        file = Path(output or "") if folder is None else folder.path / "answers.parquet"
        compiled = self._compile(query)
        options = ReplayOptions(
            output=file,
            start=start,
            stop=stop,
            allow_unbounded=allow_unbounded,
            progress=progress,
        )
        summary = replay_query(self.workspace, compiled, options, self.spark)
        return Answers(compiled.union, file, summary, self.spark, folder)

    def _compile(self, query: str) -> CompiledQuery:
        if "{" not in query:
            return self.workspace.compile(query)
        return self.workspace.compile_branches(parse_union(query, name="query", file="<query>"))


def open_project(
    path: str | Path = ".",
    *,
    spark: "SparkSession | None" = None,
    settings: Sequence[str] = (),
    strict: bool = False,
    warn: Callable[[str], None] | None = None,
) -> OpenProject:
    """Open a project: its folder, or its `ontoweir.toml`.

    Args:
        path: where it is.
        spark: the session that replays run on (default: one is started when it is needed).
        settings: what the command line's `--set` takes, as `section.key=value`.
        strict: an axiom outside OWL 2 QL is an error.
        warn: is called with every warning (default: they are dropped).

    Raises:
        OntoweirError: the project file is wrong.
    """
    project = load_project(Path(path), overrides=list(settings))
    said = (lambda _: None) if warn is None else warn
    return OpenProject(Workspace(project, strict=strict, warn=said), spark)
