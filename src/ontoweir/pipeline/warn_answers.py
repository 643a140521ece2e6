"""Warn of a query that is bounded, and that a run refuses because of how answers are written."""

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.tmappings.find_shared_texts import refuse_shared_texts
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit, choose_emit


def warn_answers(compiled: CompiledQuery, verdict: Verdict, catalog: Catalog) -> str | None:
    """What a replay and a live run would say, where nothing else is asked of them (None: nothing);
    and, if there is one, the `--emit` with which they do not.

    Args:
        compiled: a query.
        verdict: on it.
        catalog: of its project.
    """
    said, other = refuse_static(compiled, verdict), None
    if said is None:
        said = _refuse(compiled, catalog, None)
        other = next((e for e in Emit if _refuse(compiled, catalog, e) is None), None)
    if said is None:
        return None
    more = "" if other is None else f"; or --emit {other}"
    place = "" if said.source is None else f"{said.source}: "
    return f"{place}replay and run refuse it: {said.what}; {said.why}; {said.fix}{more}"


def refuse_answers(compiled: CompiledQuery, catalog: Catalog) -> QueryError | None:
    """The error of a query whose answers cannot be written, whatever is asked for (None: they
    can)."""
    said = _refuse(compiled, catalog, None)
    return said if all(_refuse(compiled, catalog, e) for e in Emit) else None


def refuse_static(compiled: CompiledQuery, verdict: Verdict) -> QueryError | None:
    """The error of a query of which a part reads no stream (None: each does)."""
    if all(plan.form.members for plan in verdict.plans or ()):
        return None
    return QueryError(
        f"{compiled.name} reads no stream",
        why="a run goes from marker to marker of streams, and of static relations nothing comes",
        fix="join them with a stream, or query them with another program, as `ontoweir rewrite "
        "--show sql` prints it",
        source=compiled.union.source,
    )


def _refuse(compiled: CompiledQuery, catalog: Catalog, wanted: Emit | None) -> QueryError | None:
    try:
        if choose_emit(compiled.union, wanted) in CHANGING:
            refuse_shared_texts(compiled.union, extend_catalog(catalog, compiled.union))
    except QueryError as error:
        return error
    return None
