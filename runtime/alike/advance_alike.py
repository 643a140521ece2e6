"""Advance plans of one shape by one run of the kernel, in which a column tells them apart.

The column is a value class of its own, that every table has in its key: so no row of one plan meets
one of another, and what comes of each is what would come of it alone.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ontoweir.checker.model.normal_form import Domain, Kind, ValueClass
from ontoweir.checker.model.plan import Key, SynopsisPlan
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.runtime.alike.plan_shape import MemberLimits, PlanShape, find_shape
from ontoweir.runtime.alike.select_rows import Unlike, collect_rows
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.frame import Array, Frame, Name, concat
from ontoweir.runtime.engine.advance_rows import share_steps
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.kept.kernel_state import KernelState
from ontoweir.runtime.kernel.kernel import advance_kernel
from ontoweir.runtime.pool.string_pool import StringPool

_MOST_ROWS = 1 << 13
"""What plans keep together in a table has less rows: more are looked up, not looked through."""
_MOST_PAIRS = 1 << 20
"""Pairs of a plan and a row that are looked at at once."""

Place: TypeAlias = tuple[int, int]
"""A plan: the place of its query, and its own among those of the query."""

Advanced: TypeAlias = Mapping[Place, tuple[Frame, KernelState]]
"""Of plans, what the kernel made of a chunk (advance_kernel)."""


@dataclass(frozen=True, slots=True)
class AlikeQuery:
    """A query that may share runs of the kernel: what it needs, and its plans."""

    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]


@dataclass(frozen=True, slots=True)
class _Alike:
    """Plans of one shape. `plan`: theirs, with the class that tells them apart; `places` and
    `limits`: of each; `catalog`: of the first."""

    plan: SynopsisPlan
    builder: MemberBuilder
    catalog: Catalog
    step_us: int
    places: tuple[Place, ...]
    limits: tuple[tuple[MemberLimits, ...], ...]

    @property
    def tag(self) -> Name:
        """The column that tells them apart."""
        return value(len(self.builder.form.classes))

    @property
    def streams(self) -> set[str]:
        """What they read."""
        return {member.stream for member in self.plan.form.members}


class _Known:
    """Queries as a key: the same objects, in the same order."""

    def __init__(self, queries: Sequence[AlikeQuery | None]) -> None:
        self.queries = tuple(queries)
        self._ids = tuple(None if q is None else (id(q.work), id(q.plans)) for q in queries)

    def __hash__(self) -> int:
        return hash(self._ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self._ids == other._ids


def advance_alike(
    queries: Sequence[AlikeQuery | None],
    states: Sequence[ExecutionState | None],
    admitted: Mapping[str, Admitted],
    now_us: int,
) -> Advanced:
    """Advance those plans that there are several of with one shape: what has become of them. Others
    are left, also those that cannot be advanced together this time.

    Args:
        queries: which read the same rows; None: one whose plans are advanced by themselves.
        states: of the queries, before.
        admitted: the rows of the chunk, by stream.
        now_us: all timestamps up to it are finished.
    """
    made: dict[Place, tuple[Frame, KernelState]] = {}
    for alike in _find_alike(_Known(queries)):
        kernels = []
        for query, number in alike.places:
            state = states[query]
            assert state is not None
            kernels.append(state.kernels[number])
        rows = max((len(admitted[name].steps) for name in alike.streams), default=0)
        for places in _divide(kernels, rows):
            chosen = [alike.places[n] for n in places]
            limits = [alike.limits[n] for n in places]
            try:
                done = _advance(alike, limits, [kernels[n] for n in places], admitted, now_us)
            except (OntoweirError, Unlike):  # each by itself says which it is
                continue
            made |= dict(zip(chosen, done, strict=True))
    return made


@lru_cache(maxsize=64)
def _find_alike(known: _Known) -> tuple[_Alike, ...]:
    """The plans that others are like."""
    groups: list[tuple[PlanShape, int, list[tuple[Place, PlanShape]]]] = []
    for place, query in enumerate(known.queries):
        for number, prepared in enumerate(() if query is None else query.plans):
            assert query is not None
            shape = find_shape(prepared, query.work.catalog)
            if shape is None:
                continue
            for first, _, members in groups:
                if first.same == shape.same:
                    members.append(((place, number), shape))
                    break
            else:
                groups.append((shape, prepared.step_us, [((place, number), shape)]))
    found = []
    for first, step_us, members in groups:
        query = known.queries[members[0][0][0]]
        if len(members) < 2 or query is None:
            continue
        builder = MemberBuilder(first.plan.form, query.work.catalog, {}, StringPool())
        places = tuple(place for place, _ in members)
        limits = tuple(shape.limits for _, shape in members)
        plan = _tell_apart(first.plan)
        found.append(_Alike(plan, builder, query.work.catalog, step_us, places, limits))
    return tuple(found)


def _tell_apart(plan: SynopsisPlan) -> SynopsisPlan:
    """A plan with one more value class, which is in the keys of all tables."""
    form = plan.form
    index = len(form.classes)
    everywhere = frozenset(member.index for member in form.members)
    tag = ValueClass(index, Kind.NUMBER, 1, (), everywhere, Domain(True, None, ""), True)
    tables = tuple(replace(t, keys=(Key(index), *t.keys)) for t in plan.tables)
    return SynopsisPlan(replace(form, classes=(*form.classes, tag)), tables)


def _divide(kernels: Sequence[KernelState], rows: int) -> list[list[int]]:
    """Which plans go together, of those that keep little, by their places: two or more."""
    parts: list[list[int]] = []
    kept = _MOST_ROWS
    for number, kernel in enumerate(kernels):
        mine = max((held.rows for held in kernel.stored.values()), default=0)
        if 2 * mine >= _MOST_ROWS or 2 * rows > _MOST_PAIRS:
            continue
        if kept + mine >= _MOST_ROWS or (len(parts[-1]) + 1) * rows > _MOST_PAIRS:
            parts.append([])
            kept = 0
        parts[-1].append(number)
        kept += mine
    return [part for part in parts if len(part) > 1]


def _advance(
    alike: _Alike,
    limits: Sequence[tuple[MemberLimits, ...]],
    kernels: Sequence[KernelState],
    admitted: Mapping[str, Admitted],
    now_us: int,
) -> list[tuple[Frame, KernelState]]:
    """Advance plans together: results and state of each.

    Raises:
        Unlike: they cannot be.
        OntoweirError: one of them cannot go on.
    """
    form, builder = alike.builder.form, alike.builder
    mine = share_steps({n: admitted[n] for n in alike.streams}, alike.catalog)
    encoder = MemberEncoder(alike.catalog, mine)
    batches = []
    for member in form.members:
        arrival = encoder.arrival(member, form, builder.pool, ())
        own = [held[member.index] for held in limits]
        batches.append(collect_rows(builder, member, arrival, own, alike.tag))
    members = [table.members for table in alike.plan.tables if table.stored]
    before = {}
    for z in members:
        frames = [_as_frame(kernel, z) for kernel in kernels]
        if (whole := _put_together(frames, alike.tag)) is not None:
            before[z] = whole
    now = now_us // alike.step_us
    results, after = advance_kernel(alike.plan, KernelState(before), batches, now)
    found = _take_apart(results, alike.tag, len(kernels))
    tables = {z: _take_apart(after.tables[z], alike.tag, len(kernels)) for z in after.tables}
    return [
        (found[n], KernelState({z: parts[n] for z, parts in tables.items()}))
        for n in range(len(kernels))
    ]


def _as_frame(kernel: KernelState, members: frozenset[int]) -> Frame | None:
    held = kernel.stored.get(members)
    return held if held is None or isinstance(held, Frame) else held.frame()


def _put_together(frames: Sequence[Frame | None], tag: Name) -> Frame | None:
    """Tables of several plans as one, with a column that tells them apart (None: there are none).

    Raises:
        Unlike: their columns are not the same.
    """
    there = [frame for frame in frames if frame is not None]
    if not there:
        return None
    kinds = {name: column.dtype for name, column in there[0].columns.items()}
    for frame in there[1:]:
        if {name: column.dtype for name, column in frame.columns.items()} != kinds:
            raise Unlike("tables of different columns")
    lengths = [0 if frame is None else frame.rows for frame in frames]
    tags = np.repeat(np.arange(len(frames)), lengths)
    return concat(there).with_columns({tag: tags})


def _take_apart(frame: Frame, tag: Name, count: int) -> list[Frame]:
    """The rows of each of so many plans, in the order that they have."""
    tags: Array = frame[tag]
    columns = {name: column for name, column in frame.columns.items() if name != tag}
    if bool((tags[1:] < tags[:-1]).any()):
        order = np.argsort(tags, kind="stable")
        tags = tags[order]
        columns = {name: column[order] for name, column in columns.items()}
    ends = np.searchsorted(tags, np.arange(count + 1)).tolist()
    return [
        Frame(last - first, {name: column[first:last] for name, column in columns.items()})
        for first, last in itertools.pairwise(ends)
    ]
