"""The pipeline: project → TBox, mappings → query → UCQ → SPJ union → verdict."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ontoweir.cache.open_cache import Cache
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import OntoweirError, Source, UsageError
from ontoweir.mappings.compile.assert_facts import assert_facts
from ontoweir.mappings.model.assertion import MappingSet, RefusedMap
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.ontology.load_ontology import OntologyReading
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.compile_sql import compile_sql
from ontoweir.pipeline.compile_text import compile_text
from ontoweir.pipeline.compiled_query import CompiledQuery as CompiledQuery
from ontoweir.pipeline.compiled_query import list_types, parse_values
from ontoweir.pipeline.describe_counts import describe_counts
from ontoweir.pipeline.known_inputs import KnownInputs
from ontoweir.pipeline.read_cached import (
    ReadMappings,
    read_mappings_cached,
    read_ontology_cached,
)
from ontoweir.pipeline.read_text import read_project, read_text
from ontoweir.pipeline.refused_query import describe_incomplete
from ontoweir.pipeline.remember_verdicts import RememberedVerdicts
from ontoweir.pipeline.trace_rewriting import trace_rewriting
from ontoweir.progress.progress import FINISHED, OnProgress, ignore_progress
from ontoweir.project.language_of import language_of
from ontoweir.project.project import Project
from ontoweir.rewriter.algebra.compile_in_steps import compile_in_steps
from ontoweir.rewriter.algebra.trace_steps import TraceStep
from ontoweir.rewriter.blocks.make_answers import add_blocks
from ontoweir.rewriter.blocks.read_answers import NoTimesError, read_answers
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import Watch
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.tmappings.share_tmappings import TMappings
from ontoweir.rewriter.ucq.minimise_ucq import minimise_ucq
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from ontoweir.rewriter.unfold.unfold_query import Observer, UnfoldOptions, unfold_query

if TYPE_CHECKING:
    from ontoweir.checker.repair.changes import Change
    from ontoweir.checker.witness.witness import Witness
    from ontoweir.edit.describe_repairs import DescribedRepair, Draft

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
    search for its repairs, may take (None or 0: no limit). `ran_out`: one of them has taken all its
    time, so that another one could find more. `cache`: where what is read is kept (None: nowhere).
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
    _known: RememberedVerdicts = field(default_factory=RememberedVerdicts, init=False)

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
    def _ontology(self) -> tuple[OntologyReading, KnownInputs]:
        with self._noting("the ontology is read"):
            reading, inputs = read_ontology_cached(
                self.project.ontology, self.project.imports, strict=self.strict, cache=self.cache
            )
            reading.warn(self.on_warning)
            return reading, inputs

    @cached_property
    def tbox(self) -> TBox:
        """The OWL 2 QL axioms and facts of the project's ontologies, with their imports."""
        return self._ontology[0].tbox

    @cached_property
    def _mappings(self) -> ReadMappings:
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
        read = self._mappings
        for refused in read.mappings.refused:
            if refused.predicates is not None:  # else every query is refused with it
                self.on_refused(str(refused.error))
        for text in read.warnings:
            self.on_warning(text)
        return assert_facts(read.mappings, self.tbox.facts)

    @cached_property
    def tmappings(self) -> TMappings:
        """The mappings with the hierarchy compiled in, which the queries share."""
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
        file = self.query_file(name)
        return parse_query(read_text(file), name=name, file=str(file))

    def compile(self, name: str) -> CompiledQuery:
        """Rewrite and unfold a query; one in a file that ends in .sql is plain SQL.

        Raises:
            OntoweirError: the query, the ontology or the mappings are wrong.
        """
        file = self.query_file(name)
        if language_of(file) == "sql":
            return self.compile_sql(file)
        text, _ = read_text(file), self.mappings  # noted by themselves
        with self._noting(f"{name} is rewritten"):
            return compile_text(self, text, name, str(file))

    def compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        *,
        catalog: Catalog | None = None,
        quiet: bool = False,
    ) -> CompiledQuery:
        """Rewrite and unfold the branches of a query.

        Args:
            branches: at least one.
            catalog: to be used instead of the project's: the same tables, declared otherwise.
            quiet: say no warnings.

        Raises:
            OntoweirError: the query, the ontology or the mappings are wrong.
        """
        try:
            return self._compile_branches(branches, catalog, quiet=quiet)
        except NoTimesError as error:
            branches = parse_values(branches[0], error.values)
        return self.compile_branches(branches, catalog=catalog, quiet=quiet)

    def _compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        catalog: Catalog | None,
        *,
        quiet: bool,
        in_steps: bool = True,
    ) -> CompiledQuery:
        """`in_steps`: streams of different units meet in steps that they share; else an error."""
        warnings: list[str] = []

        def warn(message: str, source: Source | None) -> None:
            text = message if source is None else f"{source}: {message}"
            if text not in warnings:
                warnings.append(text)
                if not quiet:
                    self.on_warning(text)

        first, heard = branches[0], self.on_progress
        queries_of = [rewrite_existentials(b, self.tbox, on_progress=heard) for b in branches]
        rewritten = tuple(q for queries in queries_of for q in queries)
        if not first.distinct and rewritten != branches:
            axioms = dict.fromkeys(text for q in rewritten for text, _ in q.axioms)
            warn(
                "SELECT counts what is in the data; what only follows from "
                f"{'; '.join(axioms)} has no number and is not counted; write SELECT DISTINCT "
                "for all certain answers",
                first.source,
            )
            rewritten = branches
        elif first.distinct and len(branches) > 1:
            rewritten = minimise_ucq(rewritten, self.tbox, on_progress=self.on_progress)
        trace, missing = list[TraceStep](), dict[int, RefusedMap]()

        def unfold(catalog: Catalog) -> SpjUnion:
            trace[:] = trace_rewriting(rewritten)
            mappings = self._mappings_over(catalog)
            if self.skip_refused:
                mappings = replace(mappings, on_refused=lambda r: missing.update({id(r): r}))
            reading = read_answers(rewritten, mappings, catalog, compile_inner)
            union = unfold_query(
                reading.branches,
                reading.mappings,
                reading.catalog,
                self.tbox,
                observer=Observer(on_warning=warn, on_step=trace.append, on_work=self.on_progress),
                options=UnfoldOptions(
                    self.skip,
                    tuple(v.name for v in first.head),
                    self.project.counts,
                    self.tmappings,
                ),
            )
            return add_blocks(union, reading.blocks)

        def compile_inner(inner: tuple[ConjunctiveQuery, ...], catalog: Catalog) -> SpjUnion:
            made = self._compile_branches(inner, catalog, quiet=True, in_steps=False)
            missing.update({id(r): r for r in made.incomplete})
            for text in made.warnings:
                warn(text, None)
            return made.union

        catalog = catalog or self.project.catalog
        union = compile_in_steps(unfold, catalog) if in_steps else unfold(catalog)
        if self.warn_counts and (counted := describe_counts(union)) is not None:
            warn(counted, first.source)
        if incomplete := tuple(missing.values()):
            warn(describe_incomplete(first.name, incomplete), first.source)
        return CompiledQuery(
            first.name, branches, rewritten, union, tuple(warnings), tuple(trace), incomplete
        )

    def _mappings_over(self, catalog: Catalog) -> MappingSet:
        """The mappings read over a catalog: types of columns and steps of time are in them."""
        known = self.project.catalog
        if catalog is known or list_types(catalog) == list_types(known):
            return self.mappings
        from ontoweir.mappings.compile.load_mappings import load_mappings

        mappings = load_mappings(self.project.mappings, catalog, partial=self.partial)
        return assert_facts(mappings, self.tbox.facts)

    def compile_sql(self, file: Path) -> CompiledQuery:
        """Plain SQL over the catalog, no ontology."""
        text, catalog = read_text(file), self.project.catalog  # noted by itself
        with self._noting(f"{file.stem} is read"):
            union = compile_sql(text, catalog, name=file.stem, file=str(file))
        return CompiledQuery(file.stem, (), (), union)

    def check(
        self, compiled: CompiledQuery, *, statistics: Statistics | None = None, timed: bool = True
    ) -> Verdict:
        """Decide a query; from the declarations alone, once where it is bounded."""
        if statistics is None and (known := self._known.find(compiled)) is not None:
            return known
        with self._noting(f"{compiled.name} is decided"), self._showing():
            watch, catalog = Watch(self.time_limit, self.on_progress), self.project.catalog
            verdict = check_query(
                compiled.union, catalog, statistics=statistics, timed=timed, watch=watch
            )
            self.ran_out |= watch.is_over()
            if statistics is None:
                self._known.keep(compiled, verdict)
            return verdict

    def find_witness(self, compiled: CompiledQuery, size: int) -> "Witness | None":
        """A confirmed witness with that many optional tuples, or None."""
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
        from ontoweir.checker.repair.find_repairs import find_repairs
        from ontoweir.edit.describe_repairs import DescribedRepair, describe_edits, draft_changes

        union, catalog, sql = compiled.union, self.project.catalog, not compiled.branches
        if union.source is None:
            return ()
        query = read_text(Path(union.source.file)) if text is None else text
        toml = read_project(catalog.file)
        drafts: dict[tuple[Change, ...], Draft] = {}

        def recompile(changes: "tuple[Change, ...]", changed: Catalog) -> SpjUnion | None:
            drafted = draft_changes(changes, union, catalog, query=query, project=toml, sql=sql)
            if drafted is None:
                return None
            drafts[changes] = drafted
            try:
                return self.recompile(compiled, drafted.query, query, changed)
            except OntoweirError:
                return None

        watch = Watch(self.repair_time_limit, self.on_progress)
        with self._showing():
            repairs = find_repairs(union, catalog, recompile, timed=timed, watch=watch)
        self.ran_out |= watch.is_over()
        if watch.stopped:
            self.on_warning(
                f"{compiled.name}: the search for repairs stopped after "
                f"{self.repair_time_limit:g} s; --time-limit 0 lets it go on to its end"
            )
        return tuple(
            DescribedRepair(
                *describe_edits(
                    r.changes, drafts[r.changes], union, catalog, query=query, project=toml, sql=sql
                ),
                r.verdict,
                r.changes,
            )
            for r in repairs
        )

    def recompile(
        self, compiled: CompiledQuery, text: str, before: str, catalog: Catalog
    ) -> SpjUnion:
        """A query compiled again with another text than before, or over a catalog declared
        otherwise.

        Raises:
            OntoweirError: it is not a query any more.
        """
        assert compiled.union.source is not None
        file = compiled.union.source.file
        if not compiled.branches:
            return compile_sql(text, catalog, name=compiled.name, file=file)
        if text == before and not compiled.union.blocks:
            return self.compile_branches(compiled.branches, catalog=catalog, quiet=True).union
        return compile_text(self, text, compiled.name, file, catalog=catalog).union
