"""Verdicts for the pages: of the project's queries, its mappings, and typed queries."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ontoweir.cache.open_cache import open_cache
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.dashboard.steps.replay_steps import Steps, replay_steps
from ontoweir.dashboard.worker import Worker
from ontoweir.errors import OntoweirError
from ontoweir.lint.lint_mappings import MappingLint, lint_mappings
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.refused_query import list_errors
from ontoweir.progress.progress import Progress
from ontoweir.progress.replay_progress import ReplayProgress
from ontoweir.project.language_of import Language, language_of
from ontoweir.project.project import Project, load_project
from ontoweir.registry.register_query import (
    QueryText,
    Registration,
    compile_text,
    register_query,
)
from ontoweir.report.describe import describe_verdict
from ontoweir.report.render_html_query import render_query

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided of a query: `summary`, as `ontoweir check --format json` has it, and the
    section of its page; or what is wrong, and in which line. `warnings`: about the input."""

    name: str
    summary: dict[str, Any] | None = None
    section: str = ""
    error: str | None = None
    line: int | None = None
    warnings: tuple[str, ...] = ()


class Checks:
    """Checks a project's queries, and again when its files change.

    The project is read, and everything is decided, in the worker's thread alone.
    """

    def __init__(
        self, project: Path, overrides: Sequence[str], *, strict: bool, limit: float = 30.0
    ) -> None:
        self.project, self.overrides, self.strict = project, tuple(overrides), strict
        self.worker = Worker(limit)
        self.verdicts: dict[str, Outcome] = {}
        self.sections: dict[str, Outcome] = {}
        self._lints: tuple[MappingLint, ...] | None = None
        self._stamp: object = None
        self._workspace: Workspace | None = None
        self._warnings: dict[str, None] = {}
        self._checking = False
        self._replayed: dict[tuple[Language, str], Steps] = {}

    def close(self) -> None:
        """Stop deciding; returns when nothing is being decided any more."""
        self.worker.close()

    def start(self) -> None:
        """Decide all queries of the project in the background, unless it is done already."""
        if not self._checking:
            self._checking = True
            self._start(self._check_next)

    def _start(self, job: Callable[[], None]) -> None:
        try:
            self.worker.start(job)
        except OntoweirError:  # too many wait: the next page begins again
            self._checking = False

    def names(self) -> tuple[str, ...]:
        """The project's queries.

        Raises:
            OntoweirError: the project is wrong.
        """
        return tuple(p.stem for p in self._load().queries)

    def text_of(self, name: str) -> tuple[str | None, Language]:
        """The text of a query of the project, and its language; None where there is none.

        Raises:
            OntoweirError: the project is wrong.
        """
        for path in self._load().queries:
            if path.stem == name:
                try:
                    return path.read_text(encoding="utf-8-sig"), language_of(path)
                except (OSError, UnicodeDecodeError):
                    return None, language_of(path)
        return None, "sparql"

    def query(self, name: str) -> Outcome:
        """The outcome of a query of the project.

        Raises:
            OntoweirError: the project is wrong, it has no such query, or it takes too long.
        """

        def job() -> Outcome:
            workspace = self._open()
            if name not in self.sections:
                workspace.query_file(name)
                self.sections[name] = self._decide(
                    workspace, name, partial(workspace.compile, name), whole=True
                )
            return self.sections[name]

        return self.worker.do(job)

    def text(self, text: str, language: Language, name: str = "query") -> Outcome:
        """The outcome of a typed query.

        Raises:
            OntoweirError: the project is wrong, or it takes too long.
        """

        def job() -> Outcome:
            workspace = self._open()
            with tempfile.TemporaryDirectory(prefix="ontoweir-") as folder:
                file = Path(os.path.realpath(folder), f"query.{_SUFFIX[language]}")
                file.write_text(text, encoding="utf-8")
                made = self._decide(
                    workspace,
                    name,
                    lambda: compile_text(workspace, QueryText(name, language, text, str(file))),
                    whole=True,
                )
                return _without(made, file.parent)

        return self.worker.do(job)

    def steps(self, text: str, language: Language, *, again: bool) -> Steps:
        """The answers of a typed query over the history; `again`: also if they are known.

        Raises:
            OntoweirError: it is wrong, not bounded, or takes too long.
        """

        def job() -> Steps:
            workspace = self._open()
            key = language, text
            if again or key not in self._replayed:
                self._replayed.pop(key, None)
                while len(self._replayed) >= _REPLAYS:
                    del self._replayed[next(iter(self._replayed))]
                self._replayed[key] = self._replay(workspace, (language, text))
            return self._replayed[key]

        return self.worker.do(job)

    def _replay(self, workspace: Workspace, typed: tuple[Language, str]) -> Steps:
        language, text = typed
        with tempfile.TemporaryDirectory(prefix="ontoweir-") as made:
            folder = Path(os.path.realpath(made))
            file = folder / f"query.{_SUFFIX[language]}"
            file.write_text(text, encoding="utf-8")
            try:
                query = QueryText("query", language, text, str(file))
                compiled = compile_text(workspace, query)
                return replay_steps(workspace, compiled, folder, _Listener(self.worker))
            except OntoweirError as error:
                raise _without_folder(error, folder) from None

    def register(self, registry: Path, query: QueryText, *, replace: bool) -> Registration:
        """Register a query, if it is bounded.

        Raises:
            OntoweirError: it is not, or there is one of its name; the project is wrong, or it takes
                too long.
        """

        def job() -> Registration:
            _, what = register_query(self._open(), registry, query, replace=replace)
            return what

        return self.worker.do(job)

    def lints(self) -> tuple[MappingLint, ...]:
        """What the mappings allow.

        Raises:
            OntoweirError: the project is wrong, or it takes too long.
        """

        def job() -> tuple[MappingLint, ...]:
            workspace = self._open()
            if self._lints is None:
                made = lint_mappings(workspace)
                for refused in workspace.mappings.refused if not made else ():
                    raise refused.error.again()
                self._lints = made
            return self._lints

        return self.worker.do(job)

    def refusals(self) -> tuple[str, ...]:
        """The errors of triples maps, which `lints` leaves out.

        Raises:
            OntoweirError: the project is wrong, or it takes too long.
        """
        errors = self.worker.do(lambda: [r.error for r in self._open().mappings.refused])
        return tuple(map(str, list_errors(errors)))

    def _check_next(self) -> None:
        """Decide a query that is not yet decided; then the next one, after those who wait."""
        try:
            workspace = self._open()
            left = [n for n in workspace.query_names() if n not in self.verdicts]
            if left:
                job = partial(workspace.compile, left[0])
                self.verdicts[left[0]] = self._decide(workspace, left[0], job, whole=False)
        except OntoweirError:
            left = []  # the project is wrong: `names` says it
        except BaseException:
            self._checking = False
            raise
        if left[1:]:
            self._start(self._check_next)
        else:
            self._checking = False

    def _decide(
        self,
        workspace: Workspace,
        name: str,
        compile: Callable[[], CompiledQuery],
        *,
        whole: bool,
    ) -> Outcome:
        """The verdict; `whole`: with repairs and the section of the page."""
        before = len(self._warnings)
        try:
            refused = workspace.mappings.refused
        except OntoweirError as error:  # what is wrong there is no query's fault
            return Outcome(name, error=str(error))
        try:
            compiled = compile()
            verdict = workspace.check_and_warn(compiled)
            repairs = workspace.repair(compiled) if whole and verdict.plans is None else ()
        except OntoweirError as error:
            theirs = str(error) in {str(r.error) for r in refused}
            line = None if error.source is None or theirs else error.source.line
            return Outcome(name, error=str(error), line=line)
        catalog = workspace.project.catalog
        return Outcome(
            name,
            describe_verdict(verdict, catalog, repairs) if whole else _brief(verdict),
            render_query(verdict, repairs, 1, catalog) if whole else "",
            warnings=tuple(self._warnings)[before:] if whole else (),
        )

    def _load(self) -> Project:
        return load_project(self.project, overrides=self.overrides)

    def _open(self) -> Workspace:
        """The project as its files are now; in the worker's thread."""
        project = self._load()
        stamp = project, tuple(_stamp(p) for p in _files(project))
        if self._workspace is None or stamp != self._stamp:
            self._warnings.clear()
            self._workspace = Workspace(
                project,
                strict=self.strict,
                partial=True,
                on_warning=lambda text: self._warnings.setdefault(text),
                on_progress=self.worker.on_progress,
                cache=open_cache(),
            )
            self._stamp, self._lints = stamp, None
            self.verdicts.clear()
            self.sections.clear()
            self._replayed.clear()
        return self._workspace


@dataclass(frozen=True, slots=True)
class _Listener:
    """Ends a replay that takes too long."""

    worker: Worker

    def update(self, progress: ReplayProgress) -> None:
        """Take how far it is."""
        self._look()

    def prepare(self, *, stream: str, tuples: int) -> None:
        """So many tuples of a stream have been read."""
        self._look()

    def _look(self) -> None:
        self.worker.on_progress(Progress("replay", 0, None))


_REPLAYS = 4
"""So many replays are remembered."""
_SUFFIX = {"sparql": "rq", "sql": "sql"}


def _brief(verdict: Verdict) -> dict[str, Any]:
    bound = verdict.bound
    return {
        "query": verdict.union.name,
        "verdict": verdict.name,
        "tier": str(verdict.tier),
        "bound": {
            "rows": None if bound is None else bound.rows,
            "formula": "∞" if bound is None else bound.formula,
        },
    }


def _files(project: Project) -> tuple[Path, ...]:
    used = (project.file, *project.ontology, *project.mappings, *project.queries)
    return (*used, *project.imports.values())


def _stamp(file: Path) -> tuple[str, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return str(file), status.st_mtime_ns, status.st_size


def _without_folder(error: OntoweirError, folder: Path) -> OntoweirError:
    """An error that does not name the temporary folder of the typed text."""

    def strip(text: str) -> str:
        return text.replace(f"{folder}{os.sep}", "")

    source = error.source
    if source is not None:
        source = replace(source, file=strip(source.file))
    return type(error)(strip(error.what), why=strip(error.why), fix=strip(error.fix), source=source)


def _without(outcome: Outcome, folder: Path) -> Outcome:
    """An outcome that does not name the temporary folder of the typed text."""

    def strip(value: Any) -> Any:
        match value:
            case str():
                return value.replace(f"{folder}{os.sep}", "").replace(f"{folder.name}{os.sep}", "")
            case dict():
                return {k: strip(v) for k, v in value.items()}
            case list() | tuple():
                return [strip(v) for v in value]
            case _:
                return value

    return Outcome(
        outcome.name,
        strip(outcome.summary),
        strip(outcome.section),
        strip(outcome.error),
        outcome.line,
        tuple(strip(outcome.warnings)),
    )
