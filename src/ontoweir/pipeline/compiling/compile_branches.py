"""Rewrite and unfold the branches of a query."""

from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.pipeline.compiling.describe_counts import describe_counts
from ontoweir.pipeline.compiling.trace_rewriting import trace_rewriting
from ontoweir.pipeline.refused_query import describe_incomplete
from ontoweir.rewriter.algebra.compile_in_steps import compile_in_steps
from ontoweir.rewriter.algebra.trace_steps import TraceStep
from ontoweir.rewriter.blocks.make_answers import add_blocks
from ontoweir.rewriter.blocks.read_answers import NoTimesError, read_answers
from ontoweir.rewriter.model.query import ConjunctiveQuery, Counts, Variable
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.ucq.minimise_ucq import minimise_ucq
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from ontoweir.rewriter.unfold.unfold_query import Observer, UnfoldOptions, unfold_query


def compile_branches(
    workspace: Compiler,
    branches: tuple[ConjunctiveQuery, ...],
    *,
    catalog: Catalog | None = None,
    quiet: bool = False,
    certain: bool = False,
) -> CompiledQuery:
    """Rewrite and unfold the branches of a query.

    Args:
        workspace: the project; it hears of warnings and progress.
        branches: at least one.
        catalog: to be used instead of the project's: the same tables, declared otherwise.
        quiet: say no warnings.
        certain: what the ontology says is there counts too, where nothing is aggregated: how often
            a solution is found makes no difference to what it is a part of.

    Raises:
        OntoweirError: the query, the ontology or the mappings are wrong.
    """
    while True:
        try:
            return _compile(workspace, branches, catalog, quiet=quiet, certain=certain)
        except NoTimesError as error:
            branches = _parse_values(branches[0], error.values)


def _compile(
    workspace: Compiler,
    branches: tuple[ConjunctiveQuery, ...],
    catalog: Catalog | None,
    *,
    quiet: bool,
    in_steps: bool = True,
    certain: bool = False,
    holds: bool = False,
) -> CompiledQuery:
    """`in_steps`: streams of several units meet in shared steps; `holds`: nothing is told, too."""
    warnings: list[str] = []

    def warn(message: str, source: Source | None) -> None:
        text = message if source is None else f"{source}: {message}"
        if text not in warnings:
            warnings.append(text)
            if not quiet:
                workspace.on_warning(text)

    first = branches[0]
    queries_of = [_rewrite(b, workspace) for b in branches]
    rewritten = tuple(q for queries in queries_of for q in queries)
    groups = first.aggregation
    holds = holds or (groups is not None and not groups.group)
    alike = certain if groups is None else not groups.duplicate_sensitive
    if alike:
        pass  # over certain answers, however often each is found
    elif not first.distinct and rewritten != branches:
        axioms = dict.fromkeys(text for q in rewritten for text, _ in q.axioms)
        warn(
            "SELECT counts what is in the data; what only follows from "
            f"{'; '.join(axioms)} has no number and is not counted; write SELECT DISTINCT "
            "for all certain answers",
            first.source,
        )
        rewritten = branches
    elif first.distinct and len(branches) > 1:
        rewritten = minimise_ucq(rewritten, workspace.tbox, on_progress=workspace.on_progress)
    trace, missing = list[TraceStep](), dict[int, RefusedMap]()
    once = not (alike and workspace.mappings.windowed)

    def unfold(catalog: Catalog) -> SpjUnion:
        trace[:] = trace_rewriting(rewritten)
        mappings = workspace.map_over(catalog)
        if workspace.skip_refused:
            mappings = replace(mappings, on_refused=lambda r: missing.update({id(r): r}))
        reading = read_answers(rewritten, mappings, catalog, compile_inner)
        union = unfold_query(
            reading.branches,
            reading.mappings,
            reading.catalog,
            workspace.tbox,
            observer=Observer(on_warning=warn, on_step=trace.append, on_work=workspace.on_progress),
            options=UnfoldOptions(
                workspace.skip,
                tuple(v.name for v in first.head),
                workspace.project.counts if once else Counts.MATCHES,
                workspace.tmappings,
                holds,
            ),
        )
        return add_blocks(union, reading.blocks)

    def compile_inner(inner: tuple[ConjunctiveQuery, ...], catalog: Catalog) -> SpjUnion:
        made = _compile(workspace, inner, catalog, quiet=True, in_steps=False, holds=holds)
        missing.update({id(r): r for r in made.incomplete})
        for text in made.warnings:
            warn(text, None)
        return made.union

    catalog = catalog or workspace.project.catalog
    union = compile_in_steps(unfold, catalog) if in_steps else unfold(catalog)
    if workspace.warn_counts and (counted := describe_counts(union)) is not None:
        warn(counted, first.source)
    if incomplete := tuple(missing.values()):
        warn(describe_incomplete(first.name, incomplete), first.source)
    return CompiledQuery(
        first.name, branches, rewritten, union, tuple(warnings), tuple(trace), incomplete
    )


def _rewrite(branch: ConjunctiveQuery, workspace: Compiler) -> tuple[ConjunctiveQuery, ...]:
    """A branch with the existential axioms compiled in. Of windows, each of which is a graph of its
    own stream, times that are equal are one state if they see the same."""
    admit, mapped = workspace.mappings.admit, workspace.mappings.assertions

    def may_meet(times: frozenset[Variable]) -> bool:
        try:
            return admit is None or len({admit(t.name, mapped) for t in times}) == 1
        except QueryError:  # a time that is no window's
            return False

    heard = workspace.on_progress
    return rewrite_existentials(branch, workspace.tbox, may_meet=may_meet, on_progress=heard)


def _parse_values(query: ConjunctiveQuery, values: frozenset[str]) -> tuple[ConjunctiveQuery, ...]:
    """A query parsed again, where more of what SELECTs within it show are values, and no times.

    Args:
        query: a branch of it.
        values: their properties.
    """
    inner, file = query.inner[0], "" if query.source is None else query.source.file
    return parse_query(inner.text, name=query.name, file=file, values=inner.values | values)
