"""What a query keeps beside its own synopses: of the queries that it reads, and of rules."""

from collections.abc import Iterator
from typing import NamedTuple

from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState

_EACH = 32
"""Bytes of a value that a rule remembers: two hashes, a time, a count."""
_NUMBER = 8


class SizeBeside(NamedTuple):
    """Rows of something, their bytes, and where the bound on the rows comes from."""

    name: str
    rows: int
    bytes: int
    formula: str


def measure_beside(work: ExecutionContext, state: ExecutionState | None) -> Iterator[SizeBeside]:
    """The synopses of the queries whose answers are read, and what of these waits; then what each
    rule remembers that counts as state. Without a state, as of one that has nothing."""
    for number, block in enumerate(work.blocks):
        held = state.blocks[number] if state is not None and state.blocks else None
        for place, query in enumerate(block.queries):
            yield from _measure_query(query, None if held is None else held.states[place])
        rows, size = (0, 0) if held is None else (held.held.num_rows, held.held.nbytes)
        yield SizeBeside("rows that may still count", rows, size, "rows whose time is not over")
    for number, rule in enumerate(work.rules):
        if rule.limited:
            rows = state.rules[number].rows if state is not None and state.rules else 0
            said = "values that are closed"
            yield SizeBeside(f"remembered: {rule.name}", rows, _EACH * rows, said)


def _measure_query(work: ExecutionContext, state: ExecutionState | None) -> Iterator[SizeBeside]:
    for number, plan in enumerate(work.plans):
        for table in plan.tables:
            if not table.stored:
                continue
            kept = None if state is None else state.kernels[number].stored.get(table.members)
            names = ", ".join(plan.form.members[i].alias for i in sorted(table.members))
            rows, size = (0, 0) if kept is None else (kept.rows, kept.nbytes)
            yield SizeBeside(f"read: {names}", rows, size, table.bound.formula)
    if work.aggregates is not None:
        rows = 0 if state is None else state.groups.rows
        yield SizeBeside("read: groups", rows, _NUMBER * rows, "groups of what is read")
    yield from measure_beside(work, state)
