"""A plan with its static data encoded, ready for chunks of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
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
from ontoweir.runtime.ingest.resolve_breakpoints import resolve_breaks
from ontoweir.runtime.ingest.select_candidates import Selection, select_candidates
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import TEXT, TextTable
from ontoweir.runtime.views.prepare_view import PreparedView, prepare_view


class TextMemory:
    """The strings beside the permanent ones that a process has seen of late in a plan's chunks.

    `kept`: those that the state after the last chunk uses (None: nothing is remembered), which have
    `codes` in `table`.
    """

    def __init__(self) -> None:
        self.table = TextTable()
        self.kept: pa.LargeStringArray | None = None
        self.codes = np.zeros(0, dtype=np.int64)


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
    views: tuple[PreparedView, ...] = ()
    """Those that members are of."""

    memory: TextMemory = field(default_factory=TextMemory, compare=False, repr=False)


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


def prepare_plan(plan: SynopsisPlan, work: ExecutionContext) -> PreparedPlan:
    """Encode static data. The codes of the query's strings are those the checker gave them."""
    form, catalog = plan.form, work.catalog
    pool = StringPool()
    pool.encode(pa.array(sorted(choose_units(form.query, catalog).strings), TEXT))
    columns = needed_columns(form)
    statics = encode_statics(form, catalog, work.statics, pool)
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
    texts = pool.others
    return PreparedPlan(ready, columns, statics, texts, step, selections, injective, views)
