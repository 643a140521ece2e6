"""The pipeline: project → TBox, mappings → query → UCQ → SPJ union → verdict."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ontoweir.cache.open_cache import Cache
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import UsageError
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.pipeline.compiled_query import CompiledQuery as CompiledQuery
from ontoweir.pipeline.compiling.compile_sql import compile_sql
from ontoweir.pipeline.known.known_inputs import KnownInputs
from ontoweir.pipeline.known.remembered import Remembered
from ontoweir.pipeline.mappings_over import MappingsOver
from ontoweir.pipeline.read_text import read_text
from ontoweir.progress.progress import FINISHED, OnProgress, ignore_progress
from ontoweir.project.language_of import language_of
from ontoweir.project.project import Project
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import Watch

if TYPE_CHECKING:  # what compiles and decides is imported where it is used: a replay recalls it
    from ontoweir.checker.witness.witness import Witness
    from ontoweir.edit.describe_repairs import DescribedRepair
    from ontoweir.ontology.load_ontology import OntologyReading
    from ontoweir.ontology.tbox import TBox
    from ontoweir.pipeline.known.read_cached import ReadMappings
    from ontoweir.pipeline.known.recall_query import KeptQueries
    from ontoweir.rewriter.tmappings.share_tmappings import TMappings

OnWarning = Callable[[str], None]

SECONDS, REPAIR_SECONDS = 10.0, 3.0
"""How long deciding a query may take, and looking for its repairs."""


@dataclass
class Workspace:
    """An open project: its TBox and mappings are read when first needed.

    `partial`: a triples map that is wrong is listed in `mappings.refused`, and only queries that it
    could concern are refused; else it is an error whatever is asked. `skip_refused`: these queries
    are compiled without it, warned of, and marked as incomplete. `warn_counts`: queries whose
    counts are not those of rows are warned of. `skip` names passes of the rewriter to leave out
    (`PASSES` in run_passes), for measurements.

    Called while work goes on: `on_warning` with every warning, `file:line: what; why; fix`;
    `on_refused` with what is wrong in triples maps, where that is not an error; `on_stage` with
    each stage that is done, and the seconds it took; `on_progress` with how far rewriting (whose
    total is not known), deciding, and the search for repairs are, and when they are finished.
    `time_limit`, `repair_time_limit`: seconds of computing that the decision of a query, and the
    search for its repairs, may take (None or 0: no limit). `ran_out`: a decision has taken all its
    time, so that another one could find more; of a search for repairs that is said in a warning.
    `cache`: where what is read is kept (None: nowhere).
    """

    project: Project
    strict: bool = False
    partial: bool = False
    skip_refused: bool = False
    warn_counts: bool = False
    on_warning: OnWarning = field(default=lambda _: None)
    skip: frozenset[str] = frozenset()
    on_stage: Callable[[str, float], None] = field(default=lambda what, seconds: None)
    on_refused: OnWarning = field(default=lambda _: None)
    on_progress: OnProgress = ignore_progress
    time_limit: float | None = SECONDS
    repair_time_limit: float | None = REPAIR_SECONDS
    cache: Cache | None = None
    ran_out: bool = field(default=False, init=False)
    _known: Remembered[Verdict] = field(default_factory=Remembered, init=False)
    """Bounded verdicts: others depend on the time that was allowed."""
    _made: Remembered[CompiledQuery] = field(default_factory=Remembered, init=False)
    """Queries as they are kept."""
    _over: MappingsOver = field(default_factory=MappingsOver, init=False, repr=False)

    @contextmanager
    def _showing(self) -> Iterator[None]:
        """Whoever shows progress hears when that is over."""
        try:
            yield
        finally:
            self.on_progress(FINISHED)

    @contextmanager
    def _noting(self, what: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        self.on_stage(what, perf_counter() - begun)

    @cached_property
    def _ontology(self) -> "tuple[OntologyReading, KnownInputs]":
        from ontoweir.pipeline.known.read_cached import read_ontology_cached

        with self._noting("the ontology is read"):
            reading, inputs = read_ontology_cached(
                self.project.ontology, self.project.imports, strict=self.strict, cache=self.cache
            )
            reading.warn(self.on_warning)
            return reading, inputs

    @cached_property
    def tbox(self) -> "TBox":
        """The OWL 2 QL axioms and facts of the project's ontologies, with their imports."""
        return self._ontology[0].tbox

    @cached_property
    def _mappings(self) -> "ReadMappings":
        from ontoweir.pipeline.known.read_cached import read_mappings_cached

        tbox, known = self.tbox, self._ontology[1]
        with self._noting("the mappings are read"):
            return read_mappings_cached(
                self.project, tbox, known, partial=self.partial, cache=self.cache
            )

    @property
    def inputs(self) -> KnownInputs:
        """What the ontology and the mappings were made of."""
        return self._mappings.inputs

    @cached_property
    def mappings(self) -> MappingSet:
        """The mapping assertions of the project, and the facts of its ontologies."""
        from ontoweir.mappings.compile.assert_facts import assert_facts

        read = self._mappings
        for refused in read.mappings.refused:
            if refused.predicates is not None:  # else every query is refused with it
                self.on_refused(str(refused.error))
        for text in read.warnings:
            self.on_warning(text)
        return assert_facts(read.mappings, self.tbox.facts)

    def map_over(self, catalog: Catalog) -> MappingSet:
        """The mapping assertions, and facts, read over a catalog."""
        return self._over.map(self, catalog)

    @cached_property
    def tmappings(self) -> "TMappings":
        """The mappings with the hierarchy compiled in, which the queries share."""
        from ontoweir.rewriter.tmappings.share_tmappings import TMappings

        return TMappings(self.mappings, self.tbox, self.project.catalog)

    def share_with(self, other: "Workspace") -> None:
        """Give what is read and compiled to a workspace over the same project and options."""
        other.__dict__.update(tbox=self.tbox, mappings=self.mappings, tmappings=self.tmappings)

    def query_names(self) -> tuple[str, ...]:
        """The names of the project's queries, in order."""
        return tuple(path.stem for path in self.project.queries)

    @cached_property
    def _query_files(self) -> dict[str, Path]:
        """The file of each name."""
        return {path.stem: path for path in self.project.queries}

    def query_file(self, name: str) -> Path:
        """The file of a query.

        Raises:
            UsageError: the project has no query of that name.
        """
        if name in self._query_files:
            return self._query_files[name]
        raise UsageError(
            f"unknown query {name!r}",
            why=f"it is none of the {len(self.project.queries)} that queries in [project] names",
            fix=did_you_mean(name, self.query_names()),
            source=self.project.queries_source,
        )

    def parse(self, name: str) -> tuple[ConjunctiveQuery, ...]:
        """The branches of a query as written."""
        from ontoweir.pipeline.compiling.compile_rsp import open_windows
        from ontoweir.rewriter.sparql.parse_query import parse_query
        from ontoweir.rewriter.syntax.open_ask import open_ask
        from ontoweir.rewriter.syntax.open_construct import open_construct
        from ontoweir.rewriter.tmappings.list_classes import list_classes
        from ontoweir.rewriter.tmappings.name_classes import name_classes

        file = self.query_file(name)
        text = read_text(file)
        windows = open_windows(self, text, str(file), None)
        text = text if windows is None else windows[1].text
        opened = open_ask(open_construct(text, str(file)))
        listed = partial(list_classes, self.mappings, self.tmappings)
        named = name_classes(opened, str(file), listed)
        text = text if named is None else named.text
        return parse_query(text, name=name, file=str(file))

    def compile(self, name: str) -> CompiledQuery:
        """Rewrite and unfold a query; one in a file that ends in .sql is plain SQL.

        Raises:
            OntoweirError: the query, the ontology or the mappings are wrong.
        """
        file = self.query_file(name)
        if language_of(file) == "sql":
            return self.compile_sql(file)
        from ontoweir.pipeline.compiling.compile_text import compile_text

        text, _ = read_text(file), self.mappings  # noted by themselves
        with self._noting(f"{name} is rewritten"):
            return replace(compile_text(self, text, name, str(file)), text=text)

    def compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        *,
        catalog: Catalog | None = None,
        quiet: bool = False,
    ) -> CompiledQuery:
        """Rewrite and unfold the branches of a query (`compile_branches`)."""
        from ontoweir.pipeline.compiling.compile_branches import compile_branches

        return compile_branches(self, branches, catalog=catalog, quiet=quiet)

    def compile_sql(self, file: Path) -> CompiledQuery:
        """Plain SQL over the catalog, no ontology."""
        text, catalog = read_text(file), self.project.catalog  # noted by itself
        with self._noting(f"{file.stem} is read"):
            union = compile_sql(text, catalog, name=file.stem, file=str(file))
        return CompiledQuery(file.stem, (), (), union, text=text)

    def recall(self, file: Path, *, sql: bool) -> CompiledQuery | None:
        """A query in a file as it was compiled before, its verdict known to `check`, where all that
        it depends on has the same content; without branches, and the trace of its rewriting."""
        if (kept := self._kept()) is None:
            return None
        found = kept.recall(file, read_text(file), mapped=not sql)
        if found is None:
            return None
        for text in found.warnings:
            self.on_warning(text)
        self._known.keep(found.compiled, found.verdict)
        return found.compiled

    def keep(self, compiled: CompiledQuery, verdict: Verdict) -> CompiledQuery:
        """Keep a query and its verdict from the declarations alone, where they may be recalled; the
        same query, with what it is kept as."""
        kept = self._kept()
        if self.ran_out or kept is None or compiled.kept_as is not None:
            return compiled
        if (known := self._made.find(compiled)) is not None:
            return known
        made = kept.keep(compiled, self.inputs if compiled.branches else None, verdict)
        if made.kept_as is not None:
            self._known.keep(made, verdict)
            self._made.keep(compiled, made)
        return made

    def refine(self, compiled: CompiledQuery, verdict: Verdict, known: Statistics) -> Verdict:
        """A bounded verdict with what static data says (`refine_plans`), or as it was refined."""
        if not known.rows:
            return verdict
        kept = self._kept()
        if kept is not None and (found := kept.recall_refined(compiled, known)) is not None:
            return found
        from ontoweir.checker.decide.refine_plans import refine_plans

        refined = refine_plans(verdict, self.project.catalog, known)
        if kept is not None:
            kept.keep_refined(compiled, known, refined)
        return refined

    def _kept(self) -> "KeptQueries | None":
        if self.cache is None or self.skip or self.skip_refused:
            return None
        from ontoweir.pipeline.known.recall_query import KeptQueries

        return KeptQueries(self.project, self.cache, self.strict, self.partial)

    def check(
        self, compiled: CompiledQuery, *, statistics: Statistics | None = None, timed: bool = True
    ) -> Verdict:
        """Decide a query; from the declarations alone, once where it is bounded."""
        if statistics is None and (known := self._known.find(compiled)) is not None:
            return known
        from ontoweir.checker.decide.check_query import check_query

        with self._noting(f"{compiled.name} is decided"), self._showing():
            watch, catalog = Watch(self.time_limit, self.on_progress), self.project.catalog
            verdict = check_query(
                compiled.union, catalog, statistics=statistics, timed=timed, watch=watch
            )
            self.ran_out |= watch.is_over()
            if statistics is None and verdict.plans is not None:
                self._known.keep(compiled, verdict)
            return verdict

    def check_and_warn(self, compiled: CompiledQuery, *, timed: bool = True) -> Verdict:
        """As `check`, with a warning of a bounded query that a run refuses all the same."""
        verdict = self.check(compiled, timed=timed)
        if verdict.plans:
            from ontoweir.pipeline.warn_answers import warn_answers

            said = warn_answers(compiled, verdict, self.project.catalog)
            if said is not None:
                self.on_warning(said)
        return verdict

    def find_witness(self, compiled: CompiledQuery, size: int) -> "Witness | None":
        """A confirmed witness with that many optional tuples, or None."""
        from ontoweir.checker.decide.check_query import check_query

        with self._showing():
            watch = Watch(self.time_limit, self.on_progress)
            return check_query(compiled.union, self.project.catalog, size=size, watch=watch).witness

    def repair(
        self, compiled: CompiledQuery, *, timed: bool = True, text: str | None = None
    ) -> "tuple[DescribedRepair, ...]":
        """Minimal changes that make an undecided or unbounded query bounded, the smallest first.

        Each is made in the text of the query and in the catalog, and the text compiled and
        decided again, so that the verdict and the bound are those that `check` finds after it.
        `text`: the query, where it is in no file.
        """
        from ontoweir.pipeline.repair_query import repair_query

        watch = Watch(self.repair_time_limit, self.on_progress)
        with self._showing():
            repairs = repair_query(self, compiled, watch, timed=timed, text=text)
        if watch.stopped:
            self.on_warning(
                f"{compiled.name}: the search for repairs stopped after "
                f"{self.repair_time_limit:g} s; --time-limit 0 lets it go on to its end"
            )
        return repairs

    def recompile(
        self, compiled: CompiledQuery, text: str, before: str, catalog: Catalog
    ) -> SpjUnion:
        """A query compiled again with another text than before, or over a catalog declared
        otherwise.

        Raises:
            OntoweirError: it is not a query any more.
        """
        from ontoweir.pipeline.compiling.recompile_query import recompile_query

        return recompile_query(self, compiled, text, before, catalog)
