"""A plan with its static data encoded, ready for chunks of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.model.units import choose_units
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.add_views import used_views
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.ingest.encode_statics import (
    StaticData,
    encode_statics,
    needed_columns,
)
from ontoweir.runtime.ingest.resolve_breakpoints import list_static_breaks, resolve_breaks
from ontoweir.runtime.ingest.select_candidates import Selection, select_candidates
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import TEXT, TextTable
from ontoweir.runtime.turns.watch_stream import WatchedStream, watch_stream
from ontoweir.runtime.views.prepare_view import PreparedView, prepare_view


class TextMemory:
    """The strings beside the permanent ones that a process has seen of late in the chunks of some
    plans, which have the same permanent ones.

    `used`: of a plan, by its number, how many of them its state used when that was looked at last,
    and their bytes.
    """

    def __init__(self) -> None:
        self.table = TextTable()
        self.used: dict[int, tuple[int, int]] = {}

    def begin_chunk(self, grouped: int) -> None:
        """Remember nothing where neither a plan nor groups, which have so many, use any: a chunk's
        own strings are found sooner."""
        if len(self.table) and not grouped and not any(n for n, _ in self.used.values()):
            self.table = TextTable()
            self.used.clear()


@dataclass(frozen=True, slots=True)
class PreparedPlan:
    """A plan with its static data encoded; `texts`: strings with permanent codes; `selections`: of
    every member, what its candidates keep; `injective`: different results are different answers."""

    plan: SynopsisPlan
    columns: Mapping[str, set[str]]
    statics: Mapping[str, StaticData]
    texts: TextTable
    step_us: int
    selections: tuple[Selection, ...]
    injective: bool
    number: int
    """Its place among the plans of its query."""

    memory: TextMemory
    views: tuple[PreparedView, ...] = ()
    """Those that members are of."""

    watches: tuple[WatchedStream, ...] = ()
    """For each equality by closed values, the rows that say when these are closed."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """What plans with the same strings share; `statics`: relations that are encoded already."""

    pool: StringPool
    memory: TextMemory
    statics: dict[object, StaticData] = field(default_factory=dict)


def plan_step(plan: SynopsisPlan, catalog: Catalog) -> int:
    """The step of a plan's streams, in µs.

    Raises:
        QueryError: it has no stream, or streams with different steps.
    """
    steps = {catalog.streams[m.stream].step_us for m in plan.form.members}
    if len(steps) == 1:
        return steps.pop()
    raise QueryError(
        "the query reads no stream" if not steps else "its streams have different units of time",
        why="a replay goes from marker to marker of its streams",
        fix="query static data with Spark SQL directly (`ontoweir rewrite --show sql` prints it)"
        if not steps
        else "declare the same unit for the streams' timestamps",
    )


def list_wanted(plans: Sequence[PreparedPlan]) -> dict[str, set[Selection]]:
    """By stream, what the candidates of all members of plans keep."""
    wanted: dict[str, set[Selection]] = {}
    for prepared in plans:
        for member, selection in zip(prepared.plan.form.members, prepared.selections, strict=True):
            wanted.setdefault(member.stream, set()).add(selection)
        for watched in prepared.watches:
            wanted.setdefault(watched.open.stream, set()).add(())
    return wanted


def prepare_plans(work: ExecutionContext) -> tuple[PreparedPlan, ...]:
    """The plans of a query, with static data encoded: once for all that have the same strings."""
    shared: dict[tuple[str, ...], _Shared] = {}
    prepared = []
    for number, plan in enumerate(work.plans):
        strings = tuple(sorted(choose_units(plan.form.query, work.catalog).strings))
        if strings not in shared:
            shared[strings] = _Shared(StringPool(), TextMemory())
        prepared.append(_prepare_plan(plan, number, work, strings, shared[strings]))
    return tuple(prepared)


def _prepare_plan(
    plan: SynopsisPlan,
    number: int,
    work: ExecutionContext,
    strings: tuple[str, ...],
    shared: _Shared,
) -> PreparedPlan:
    """Encode static data. The codes of the query's strings are those the checker gave them."""
    form, catalog, pool = plan.form, work.catalog, shared.pool
    pool.encode(pa.array(strings, TEXT))
    columns = needed_columns(form, catalog)
    places = list_static_breaks(plan)
    statics = encode_statics(form, catalog, work.statics, pool, shared.statics, places)
    for group in form.classes:
        if group.kind is Kind.STRING:
            pool.encode(pa.array([str(c) for c in group.domain.values or ()], TEXT))
    ready = resolve_breaks(plan, statics, pool)
    selections = tuple(
        select_candidates(m, ready.form, catalog.streams[m.stream]) for m in ready.form.members
    )
    step = plan_step(plan, catalog)
    read = used_views((m.stream for m in ready.form.members), work.views)
    views = tuple(prepare_view(v, catalog, work.statics) for v in read)
    types = Types(catalog, form.query.occurrences)
    injective = all(is_injective(output, types) for _, output in form.query.outputs)
    return PreparedPlan(
        ready,
        columns,
        statics,
        pool.others,
        step,
        selections,
        injective,
        number,
        shared.memory,
        views,
        tuple(watch_stream(one, ready.form, catalog) for one in ready.form.open),
    )
