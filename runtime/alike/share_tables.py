"""Keep the rows of synopses that several queries have once.

What is compared is what is kept, not the queries: where two tables have the same rows, in the same
order, they are one in memory, whatever else the queries ask for, and however they call what they
keep. A state is a value, so that none of them notices: who is dropped, parked or fails leaves the
others their rows. Small tables are compared after each step, as a step looks at all of their rows;
large ones when they have just become large, and from then on go on together, as long as what comes
to them is the same (KeptRows.went_on).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.kept.kept_rows import KeptRows, have_equal_rows
from ontoweir.runtime.kept.kernel_state import CodedTexts, KernelState
from ontoweir.runtime.kernel.compact_table import list_rules

_YOUNG = 1
"""Steps since a table became large, within which it is compared with others."""

Held: TypeAlias = Frame | KeptRows
_Known: TypeAlias = dict[Any, list[Held]]


def share_tables(
    states: Sequence[ExecutionState], plans: Sequence[Sequence[PreparedPlan]]
) -> list[ExecutionState]:
    """The states of queries after the same step, with the rows of equal tables once in memory.

    Args:
        states: of the queries.
        plans: of each query.
    """
    known: _Known = {}
    shared = []
    for state, mine in zip(states, plans, strict=True):
        kernels, strings = list(state.kernels), list(state.strings)
        for place, prepared in enumerate(mine):
            kernel = kernels[place]
            stored = {z: held for z, held in kernel.stored.items() if held.rows}
            tables = {t.members: t for t in prepared.plan.tables}
            found = {z: _find(held, tables.get(z), known) for z, held in stored.items()}
            if all(found[z] is held for z, held in stored.items()):
                continue
            kernel, strings[place] = _put(kernel, strings[place], found)
            kernels[place] = kernel
        shared.append(replace(state, kernels=tuple(kernels), strings=tuple(strings)))
    return shared


def _put(kernel: KernelState, texts: Any, found: dict[Any, Held]) -> tuple[KernelState, Any]:
    """A kernel's state with some tables in the place of equal ones, and its strings."""
    stored = {**kernel.stored, **found}
    coded = kernel.coded
    if coded is None:
        return KernelState(stored), texts
    again = CodedTexts(stored, coded.table, coded.start, coded.classes)
    return KernelState(stored, again), again if texts is coded else texts


def _find(held: Held, table: SynopsisTable | None, known: _Known) -> Held:
    """A table, or one that is known and has the same rows."""
    if isinstance(held, Frame):
        return _find_frame(held, known)
    if table is None:
        return held
    key = (tuple(held.names), list_rules(table), held.rows)
    same = known.setdefault(key, [])
    if any(other is held for other in same):
        return held
    if held.steps > _YOUNG:
        same.append(held)
        return held
    for other in same:
        if not isinstance(other, KeptRows) or other.steps > _YOUNG:
            continue
        if have_equal_rows(_view(other), _view(held)):
            other.shared = True
            return other
    same.append(held)
    return held


def _find_frame(held: Frame, known: _Known) -> Frame:
    columns = held.columns.values()
    first = tuple((column.dtype.char, column[:1].tobytes()) for column in columns)
    same = known.setdefault((held.rows, first), [])
    for other in same:
        if isinstance(other, Frame) and have_equal_rows(other, held):
            if _are_one(held, other):
                return held
            for column in other.columns.values():
                column.flags.writeable = False  # whoever would write tells
            return Frame(held.rows, dict(zip(held.columns, other.columns.values(), strict=True)))
    same.append(held)
    return held


def _are_one(one: Frame, other: Frame) -> bool:
    pairs = zip(one.columns.values(), other.columns.values(), strict=True)
    return all(a is b for a, b in pairs)


def _view(held: KeptRows) -> Frame:
    """The rows, without copying them."""
    return Frame(held.rows, {name: held.column(name) for name in held.names})


def count_shared(states: Iterable[ExecutionState]) -> list[int]:
    """Of each query, how many of the rows that its synopses keep are those of a query before it in
    the list: all rows less these are in memory."""
    seen: set[Any] = set()
    counts = []
    for state in states:
        count = 0
        for kernel in state.kernels:
            for held in kernel.stored.values():
                mine = _name_rows(held)
                count += held.rows if mine in seen else 0
                seen.add(mine)
        counts.append(count)
    return counts


def _name_rows(held: Held) -> Any:
    """What tells rows in memory from others."""
    if isinstance(held, KeptRows):
        return id(held)
    return tuple(sorted(id(column) for column in held.columns.values()))
