"""Advance the plans of a query over a chunk of rows: what replay and live runs share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.model.units import choose_units
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.encode import StringPool
from ontoweir.runtime.columnar.frame import LONG_AGO, Array, Frame, TooGreat, too_great
from ontoweir.runtime.engine.advance_once import advance_once
from ontoweir.runtime.engine.aggregate_chunk import (
    AggregateWork,
    PartRows,
    advance_groups,
    read_numbers,
)
from ontoweir.runtime.ingest.admit_rows import Admitted, ReferenceCheck, admit_rows
from ontoweir.runtime.ingest.build_members import (
    MemberBuilder,
    StaticData,
    encode_static,
    null_columns,
    used_columns,
)
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.ingest.resolve_breakpoints import resolve_breaks
from ontoweir.runtime.ingest.select_candidates import Selection, select_candidates
from ontoweir.runtime.ingest.watch_keys import watch_keys
from ontoweir.runtime.kernel.kernel import KernelState, advance_kernel, advance_tables
from ontoweir.runtime.kernel.tables_of_size import members_of, tables_of_size
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY, may_coincide, render_results
from ontoweir.runtime.results.update_groups import GroupState
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.sources.read_chunk import Chunk


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """What every task of a run needs: `key` names the run, `span` is [start, stop) in µs."""

    key: str
    plans: tuple[SynopsisPlan, ...]
    catalog: Catalog
    histories: tuple[History, ...]
    statics: Mapping[str, pa.Table]
    references: tuple[tuple[str, str, str, str, str], ...]
    """(stream, column, relation, its column, reason)."""

    schema: pa.Schema
    distinct: bool
    span: tuple[int | None, int | None]
    rows_per_chunk: int
    aggregates: AggregateWork | None = None
    name: str = ""
    bound: int | None = None
    """The most rows of all states together (None: not known)."""

    watched: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(stream, key): keys over whole streams that the verdict rests on."""

    watch: str = ""
    """Names this start of the run for watch_keys, where `key` names the query."""

    stored: tuple[tuple[str, str], ...] = ()
    """Static relations that are in Arrow files: (name, file)."""

    parquet: bool = False
    """Whether tasks write their answers as the output has them, which is put together of them."""


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """What is carried from task to task: `texts`, per plan, are strings that its state uses."""

    cursors: Mapping[str, Cursor]
    kernels: tuple[KernelState, ...]
    texts: tuple[tuple[str, ...], ...]
    groups: GroupState

    @property
    def rows(self) -> int:
        """All synopsis rows, and the groups of aggregates."""
        return sum(k.rows for k in self.kernels) + self.groups.rows


@dataclass(frozen=True, slots=True)
class PreparedPlan:
    """A plan with its static data encoded; `texts`: strings with permanent codes; `selections`: of
    every member, what its candidates keep."""

    plan: SynopsisPlan
    columns: Mapping[str, set[str]]
    statics: Mapping[str, StaticData]
    texts: tuple[str, ...]
    step_us: int
    selections: tuple[Selection, ...]


def needed_static_columns(plan: SynopsisPlan) -> dict[str, set[str]]:
    """Columns per table that a plan's intake looks at, those that limit domains included."""
    found = _valued_columns(plan)
    for table, columns in null_columns(plan.form).items():
        found.setdefault(table, set()).update(columns)
    return found


def _valued_columns(plan: SynopsisPlan) -> dict[str, set[str]]:
    """Those of them whose values it needs."""
    found = used_columns(plan.form)
    for group in plan.form.classes:
        for table, column in group.domain.within:
            found.setdefault(table, set()).add(column)
    return found


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
    for text in sorted(choose_units(form.query, catalog).strings):
        pool.code(text)
    columns = needed_static_columns(plan)
    valued, absent = _valued_columns(plan), null_columns(form)
    statics = {
        name: encode_static(
            relation,
            work.statics[name],
            valued.get(name, set()),
            form.unit,
            pool,
            absent.get(name, set()),
        )
        for name, relation in catalog.relations.items()
        if name in columns
    }
    for group in form.classes:
        if group.kind is Kind.STRING:
            for constant in group.domain.values or ():
                pool.code(str(constant))
    ready = resolve_breaks(plan, statics, pool)
    selections = tuple(
        select_candidates(m, ready.form, catalog.streams[m.stream]) for m in ready.form.members
    )
    step = plan_step(plan, catalog)
    return PreparedPlan(ready, columns, statics, tuple(pool.texts), step, selections)


def reference_checks(work: ExecutionContext) -> dict[str, list[ReferenceCheck]]:
    """The declared references that a run compares with its static data."""
    found: dict[str, list[ReferenceCheck]] = {}
    for stream, column, relation, to, reason in work.references:
        held = pc.drop_null(pc.unique(work.statics[relation].column(to)))
        found.setdefault(stream, []).append(ReferenceCheck(column, held, reason))
    return found


def admit_chunk(
    histories: Sequence[History],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    chunk: Chunk,
    span: tuple[int | None, int | None],
    *,
    strict: bool = True,
) -> Mapping[str, Admitted]:
    """What is let in of every stream (admit_rows).

    Raises:
        DataError: (strict) the data breaks what is declared of timestamps.
    """
    return {
        h.stream.name: admit_rows(
            h,
            chunk.slices[h.stream.name],
            chunk.before[h.stream.name],
            checks.get(h.stream.name, ()),
            span,
            strict=strict,
        )
        for h in histories
    }


def advance_rows(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
) -> tuple[ExecutionState, pa.Table]:
    """Advance every plan over what was admitted of a chunk: the state after, and the answers."""
    state, found = _advance_plans(work, plans, admitted, chunk, state)
    if work.aggregates is None:
        return state, _union(found, work.schema, work.distinct)
    parts = _by_part(work.aggregates, found)
    if work.aggregates.once:
        return state, advance_once(work.aggregates, parts)
    answers, groups = advance_groups(work.aggregates, parts, state.groups)
    return replace(state, groups=groups), answers


def advance_parts(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
) -> tuple[ExecutionState, PartRows]:
    """As advance_rows, of an aggregate query; but what is new for its groups, which are left as
    they are, instead of answers."""
    assert work.aggregates is not None
    state, found = _advance_plans(work, plans, admitted, chunk, state)
    return state, _by_part(work.aggregates, found)


def _advance_plans(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
) -> tuple[ExecutionState, "list[_Found]"]:
    for name, key in work.watched:
        if name in admitted:
            rows = admitted[name]
            watch_keys(
                work.watch or work.key, work.catalog.streams[name], [key], rows.steps, rows.table
            )
    kernels, texts = [], []
    found: list[_Found] = []
    encoded = MemberEncoder(work.catalog, admitted)
    for index, prepared in enumerate(plans):
        pool = make_pool(prepared.texts, state.texts[index])
        before = state.kernels[index]
        results, after = _advance(work, prepared, encoded, pool, before, chunk)
        part, schema, several = _part_of(work, index)
        distinct = work.distinct if part is None else part.union.distinct
        table = old = None
        if results.rows:
            table = _render(work, prepared, results, pool, schema)
        if distinct and (several or may_coincide(prepared.plan.form.query)):
            said = before.tables.get(prepared.plan.tables[-1].members)
            if said is not None and said.rows:
                old = _render(work, prepared, said, pool, schema)
        found.append(_Found(prepared.plan, results, table, old))
        after, kept = forget_texts(prepared, after, pool)
        kernels.append(after)
        texts.append(kept)
    return ExecutionState(chunk.after, tuple(kernels), tuple(texts), state.groups), found


def advance_level(
    work: ExecutionContext,
    plans: Sequence[PreparedPlan],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    state: ExecutionState,
    level: int,
) -> ExecutionState:
    """Advance only the partial matches of `level` streams (EVERY: of any number), and what they
    are made of."""
    kernels, texts = list(state.kernels), list(state.texts)
    encoded = MemberEncoder(work.catalog, admitted)
    for index, prepared in enumerate(plans):
        tables = tables_of_size(prepared.plan, level)
        if not tables or chunk.now_us is None:
            continue
        pool = make_pool(prepared.texts, state.texts[index])
        members = members_of(tables)
        batches = _batches(work, prepared, encoded, pool, members)
        now = chunk.now_us // prepared.step_us
        try:
            after = advance_tables(prepared.plan, tables, state.kernels[index], batches, now)
        except TooGreat as error:
            raise _dated(error, prepared.step_us, chunk.now_us) from None
        kernels[index], texts[index] = forget_texts(prepared, after, pool)
    return ExecutionState(chunk.after, tuple(kernels), tuple(texts), state.groups)


def count_markers(admitted: Mapping[str, Admitted]) -> int:
    """How many distinct timestamps were admitted."""
    found = [a for a in admitted.values() if len(a.times)]
    times = [_distinct(a.times) if a.marks is None else a.marks for a in found]
    if len(times) < 2:
        return len(times[0]) if times else 0
    return len(_distinct(np.sort(np.concatenate(times), kind="stable")))


def _distinct(ordered: Array) -> Array:
    """The distinct ones of ordered numbers."""
    fresh = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


def make_pool(permanent: Sequence[str], others: Sequence[str]) -> StringPool:
    """The codes of a plan's strings: those with permanent codes, then others."""
    texts = [*permanent, *others]
    return StringPool(texts, {text: code for code, text in enumerate(texts)})


def _advance(
    work: ExecutionContext,
    prepared: PreparedPlan,
    encoded: MemberEncoder,
    pool: StringPool,
    state: KernelState,
    chunk: Chunk,
) -> tuple[Frame, KernelState]:
    if chunk.now_us is None:
        return Frame(0, {}), state
    batches = _batches(work, prepared, encoded, pool, None)
    now = chunk.now_us // prepared.step_us
    try:
        return advance_kernel(prepared.plan, state, batches, now)
    except TooGreat as error:
        raise _dated(error, prepared.step_us, chunk.now_us) from None


def _dated(error: TooGreat, step_us: int, now_us: int) -> TooGreat:
    """The error with its marker, or with what it comes before."""
    known = error.step is not None and error.step > LONG_AGO
    when = f" at {show_time(error.step * step_us)}" if known and error.step is not None else ""
    return too_great(error.step, when or f" by {show_time(now_us)}")


def _batches(
    work: ExecutionContext,
    prepared: PreparedPlan,
    encoded: MemberEncoder,
    pool: StringPool,
    members: frozenset[int] | None,
) -> list[Frame]:
    """The tuples of a plan's members (None: of all); of others, none."""
    form = prepared.plan.form
    intake = MemberBuilder(form, work.catalog, prepared.statics, pool)
    return [
        intake.batch(member, encoded.arrival(member, form, pool, selection))
        if members is None or member.index in members
        else Frame(0, {})
        for member, selection in zip(form.members, prepared.selections, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Found:
    """A plan's results in a chunk; `old`: those of the chunks before, where they matter."""

    plan: SynopsisPlan
    results: Frame
    table: pa.Table | None
    old: pa.Table | None


def _part_of(work: ExecutionContext, index: int) -> tuple[AggregatePart | None, pa.Schema, bool]:
    """Of a plan: its part of an aggregate query, the columns of its results, and whether there
    are others whose results are the same answers."""
    if work.aggregates is None:
        return None, work.schema, len(work.plans) > 1
    for (part, plans), schema in zip(work.aggregates.parts, work.aggregates.schemas, strict=True):
        if index < plans:
            counted = part.counts_values
            return part, schema, counted and plans > 1
        index -= plans
    raise AssertionError("a plan of no part")


def _by_part(work: AggregateWork, found: Sequence[_Found]) -> PartRows:
    """The results of every part, with their numbers; distinct values of several plans once."""
    parts: list[list[tuple[pa.Table, dict[tuple[Any, ...], Array]]]] = []
    start = 0
    for (part, plans), schema in zip(work.parts, work.schemas, strict=True):
        mine = found[start : start + plans]
        start += plans
        if part.counts_values:
            parts.append([(_union(mine, schema, distinct=True), {})])
            continue
        parts.append(
            [
                (f.table, read_numbers(part, f.plan, f.results, work.scales))
                for f in mine
                if f.table is not None
            ]
        )
    return parts


def _render(
    work: ExecutionContext,
    prepared: PreparedPlan,
    results: Frame,
    pool: StringPool,
    schema: pa.Schema,
) -> pa.Table:
    form = prepared.plan.form
    return render_results(results, form, work.catalog, schema, pool, prepared.step_us)


def _union(found: Sequence[_Found], schema: pa.Schema, distinct: bool) -> pa.Table:
    """All plans' results, in order; merged (bag), or without what was a result before (set)."""
    several = len(found) > 1 or any(may_coincide(f.plan.form.query) for f in found)
    tables = [f.table for f in found if f.table is not None]
    old = [f.old for f in found if f.old is not None]
    if not tables:
        return schema.empty_table()
    whole = pa.concat_tables(tables)
    variables = [n for n in schema.names if n not in (AT, MULTIPLICITY)]
    if several and distinct:
        both = pa.concat_tables([*tables, *old])
        first = both.group_by(variables, use_threads=False).aggregate([(AT, "min")])
        first = first.rename_columns([*variables, AT]).select(schema.names)
        since = pc.min(whole.column(AT))
        whole = first.filter(pc.greater_equal(first.column(AT), since)).cast(schema)
    elif several:
        merged = whole.group_by([*variables, AT], use_threads=False)
        summed = merged.aggregate([(MULTIPLICITY, "sum")])
        summed = summed.rename_columns([*variables, AT, MULTIPLICITY])
        whole = summed.select(schema.names).cast(schema)
    return _in_order(whole, (AT, *variables))


def _in_order(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows in order of some columns; kernels often give them so."""
    tied = np.ones(max(table.num_rows - 1, 0), dtype=np.bool_)
    for name in names:
        column = table.column(name)
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        before, after = column.slice(0, len(tied)), column.slice(1)
        wrong = column.null_count or tied & pc.greater(before, after).to_numpy(zero_copy_only=False)
        if np.any(wrong):  # of rows without a value comparisons tell nothing
            return table.sort_by([(n, "ascending") for n in names])
        tied &= pc.equal(before, after).to_numpy(zero_copy_only=False)
        if not tied.any():
            break
    return table


def forget_texts(
    prepared: PreparedPlan, state: KernelState, pool: StringPool
) -> tuple[KernelState, tuple[str, ...]]:
    """Forget strings that the state no longer uses; what is kept beside the permanent ones."""
    permanent = len(prepared.texts)
    if len(pool.texts) == permanent:
        return state, ()
    classes = prepared.plan.form.classes

    def is_text(name: tuple[Any, ...]) -> bool:
        return name[0] == "v" and classes[name[1]].kind is Kind.STRING

    used: set[int] = set()
    for frame in state.tables.values():
        for name, column in frame.columns.items():
            if is_text(name):
                used.update(np.unique(column).tolist())
    used = {c for c in used if c < len(pool.texts)}
    moved = pool.keep_only(used, permanent)
    lookup: Array = np.arange(max(moved, default=0) + 1, dtype=np.int64)
    for before, after in moved.items():
        lookup[before] = after
    tables = {}
    for members, frame in state.tables.items():
        changed = {}
        for name, column in frame.columns.items():
            if is_text(name):
                known = (column >= 0) & (column < len(lookup))
                changed[name] = np.where(known, lookup[np.where(known, column, 0)], column)
        tables[members] = frame.with_columns(changed)
    return KernelState(tables), tuple(pool.texts[permanent:])
