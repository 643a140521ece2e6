"""What a query keeps: rows and bytes of every synopsis, against its bound."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow.compute as pc

from ontoweir.checker.model.plan import (
    Bound,
    SynopsisPlan,
    SynopsisTable,
    share_tuples,
    total_bound,
)
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import QueryState, RunningQuery
from ontoweir.runtime.live.model.measure_beside import measure_beside
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.turns.number_turns import place_of

_NUMBER = 8
"""Bytes of a number: synopses are columns of 64-bit numbers, strings are numbered."""


@dataclass(frozen=True, slots=True)
class SynopsisSize:
    """A synopsis: `members` are the aliases that its partial matches are of; `bound_rows` and
    `bound_bytes` are None where no number is known; `formula` is where the bound comes from."""

    name: str
    members: tuple[str, ...]
    rows: int
    bytes: int
    bound_rows: int | None
    bound_bytes: int | None
    formula: str


def measure_state(query: RunningQuery, state: QueryState) -> tuple[SynopsisSize, ...]:
    """The synopses of a query's plans, in the plans' order; then the groups of its aggregates; what
    is kept to tell what ends; last what is kept of queries that it reads, and of rules, which have
    no bounds of their own: that of all rows has them."""
    sizes: list[SynopsisSize] = []
    several = len(query.plans) > 1
    rest, tables = query.bound, list[Bound]()
    held = _count_parts(state) if isinstance(state, DividedState) else _count(query, state)
    factors = iter(query.factors)
    for number, prepared in enumerate(query.plans):
        for table in prepared.plan.tables:
            if not table.stored:
                continue
            rows, size, columns = next(held)
            factor = next(factors, 1)
            bound = None if table.bound.rows is None else factor * table.bound.rows
            tables.append(table.bound)
            if rest is not None and bound is not None and table.bound.rows is not None:
                rest -= bound - table.bound.rows  # see widen_bounds
            sizes.append(
                SynopsisSize(
                    (f"{number + 1}: " if several else "") + _title(prepared.plan, table),
                    tuple(prepared.plan.form.members[i].alias for i in sorted(table.members)),
                    rows,
                    size,
                    bound,
                    None if bound is None else bound * _NUMBER * (columns or _columns(table)),
                    f"{factor} · ({table.bound.formula})" if factor > 1 else table.bound.formula,
                )
            )
        for _, one in prepared.plan.followed:
            rows, size, columns = next(held)
            rest = None if rest is None or one.size is None else rest - one.size
            limit = None if one.size is None else one.size * _NUMBER * (columns or 2)
            title = f"open {', '.join(one.rule.columns)} of {one.stream}"
            sizes.append(SynopsisSize(title, (), rows, size, one.size, limit, one.formula))
    if query.work.aggregates is not None:
        rows, size, _ = next(held)
        known = total_bound(share_tuples(tables)).rows
        rest = None if rest is None or known is None else rest - known
        each = size / rows if rows else 0
        limit = None if rest is None or not each else round(rest * each)
        formula = "groups, and the values that medians count"
        sizes.append(SynopsisSize("groups", (), rows, size, rest, limit, formula))
    if query.feed is not None:
        rows, size, _ = next(held)
        formula = "what holds, until it ends"
        sizes.append(SynopsisSize("changes to come", (), rows, size, None, None, formula))
    if isinstance(state, ExecutionState):  # rows are not divided where there is more
        for beside in measure_beside(query.work, state):
            said = (beside.name, (), beside.rows, beside.bytes)
            sizes.append(SynopsisSize(*said, None, None, beside.formula))
    return tuple(sizes)


def _count(query: RunningQuery, state: ExecutionState) -> Iterator[tuple[int, int, int]]:
    """Rows, bytes and columns of every synopsis."""
    for prepared, kernel in zip(query.plans, state.kernels, strict=True):
        for table in prepared.plan.tables:
            if table.stored:
                held = kernel.stored.get(table.members)
                yield (0, 0, 0) if held is None else (held.rows, held.nbytes, len(held.names))
        for number, _ in prepared.plan.followed:
            held = kernel.stored.get(place_of(number))
            yield (0, 0, 0) if held is None else (held.rows, held.nbytes, len(held.names))
    if query.work.aggregates is not None:
        yield state.groups.rows, _bytes_of_groups(state.groups), 0
    if query.feed is not None:
        changes = state.to_come
        yield (0, 0, 0) if changes is None else (changes.num_rows, changes.nbytes, 0)


def _count_parts(state: DividedState) -> Iterator[tuple[int, int, int]]:
    """As _count, of all parts together."""
    number = 0
    while True:
        yield (*state.size(number), 0)
        number += 1


def text_bytes(state: QueryState) -> int:
    """Bytes of the strings that the synopses' numbers stand for."""
    if isinstance(state, DividedState):
        return state.text_bytes
    own = sum(pc.sum(pc.binary_length(texts)).as_py() or 0 for texts in state.texts)
    return own + sum(text_bytes(read) for block in state.blocks for read in block.states)


def _title(plan: SynopsisPlan, table: SynopsisTable) -> str:
    if len(table.members) == len(plan.form.members):
        return "results"
    return "matches of " + ", ".join(plan.form.members[i].alias for i in sorted(table.members))


def _columns(table: SynopsisTable) -> int:
    """Columns of a table that holds nothing yet: its key, timestamps, frontiers, sums, weight."""
    return len(table.keys) + len(table.kept) + len(table.frontier) + len(table.sums) + 1


def _bytes_of_groups(state: GroupState) -> int:
    """A number for each value of a group and each aggregate, two for each value a median counts."""
    if not state.count:
        return 0
    assert state.keys is not None
    numbers = int(state.keys.num_columns) + len(state.measures)
    return _NUMBER * (state.count * numbers + 2 * (state.rows - state.count))
