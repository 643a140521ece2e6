"""Which files have the rows of a plan's tables that are on disk."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ontoweir.runtime.spill.run_files import Run, list_names
from ontoweir.runtime.spill.spill_plan import Members, SpillPlan


@dataclass(frozen=True, slots=True)
class SpillState:
    """Of each table, its runs, the longest first, each with so many orders; `orders`: by table;
    `found`: how many rows were found again."""

    runs: Mapping[Members, tuple[Run, ...]] = field(default_factory=dict)
    orders: Mapping[Members, int] = field(default_factory=dict)
    found: int = 0

    @property
    def rows(self) -> int:
        """All rows on disk."""
        return sum(run.rows for runs in self.runs.values() for run in runs)

    @property
    def bytes(self) -> int:
        """The bytes of all files."""
        return sum(run.bytes for runs in self.runs.values() for run in runs)

    @property
    def files(self) -> frozenset[str]:
        """The names of all files."""
        return frozenset(
            name
            for members, runs in self.runs.items()
            for run in runs
            for name in list_names(run, self.orders[members])
        )


def begin_spill(plan: SpillPlan | None) -> SpillState:
    """Nothing is on disk yet."""
    tables = () if plan is None else plan.tables
    return SpillState({}, {table.members: len(table.orders) for table in tables})


def list_files(states: Iterable[SpillState]) -> frozenset[str]:
    """The names of the files of several plans."""
    return frozenset().union(*(state.files for state in states))


def measure_spill(states: Iterable[SpillState]) -> dict[str, int]:
    """What is on disk: rows, bytes, and how many rows were found again."""
    held = tuple(states)
    return {
        "rows": sum(state.rows for state in held),
        "bytes": sum(state.bytes for state in held),
        "found": sum(state.found for state in held),
    }


def describe_spill(state: SpillState) -> dict[str, Any]:
    """A state as JSON has it."""
    return {
        "found": state.found,
        "tables": [
            [sorted(m), count, [[r.name, r.rows, r.bytes] for r in state.runs.get(m, ())]]
            for m, count in state.orders.items()
        ],
    }


def read_spill(held: Mapping[str, Any]) -> SpillState:
    """What `describe_spill` says.

    Raises:
        KeyError, ValueError, TypeError: a part is missing, or is not as it was written.
    """
    tables: Sequence[Any] = held["tables"]
    return SpillState(
        {frozenset(m): tuple(Run(*run) for run in runs) for m, _, runs in tables if runs},
        {frozenset(m): int(count) for m, count, _ in tables},
        int(held["found"]),
    )
