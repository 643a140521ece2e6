"""Move rows of synopses to disk where memory has no room for them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.kept.kernel_state import KernelState
from ontoweir.runtime.spill.cold_rows import ColdRows
from ontoweir.runtime.spill.run_files import list_names, merge_runs, write_run
from ontoweir.runtime.spill.spill_plan import SpilledTable, SpillWork
from ontoweir.runtime.spill.spill_state import SpillState, list_files

_MERGE = 2
"""Of two neighbours, the first run is at least so many times as long as the second one."""


def spill_rows(state: KernelState, cold: ColdRows | None) -> tuple[KernelState, SpillState]:
    """What is kept in memory and on disk after a chunk: the largest tables are moved as a whole,
    until half of what memory may hold is free again.

    Args:
        state: what the chunk left in memory.
        cold: what it found on disk (None: nothing is ever there).

    Raises:
        RunError: the disk does not take it.
    """
    if cold is None:
        return state, SpillState()
    stored, after = dict(state.stored), cold.after()
    sizes = {t: stored[t.members].rows for t in cold.plan.tables if t.members in stored}
    left = sum(sizes.values())
    if left <= cold.plan.most:
        return state, after
    for table in sorted(sizes, key=lambda t: -sizes[t]):
        if 2 * left <= cold.plan.most or not sizes[table]:
            break
        frame = _frame(stored[table.members])
        after = _add(cold, after, table, frame)
        stored[table.members] = Frame(0, {n: c[:0].copy() for n, c in frame.columns.items()})
        left -= sizes[table]
    return KernelState(stored, state.coded), after


def drop_files(folder: Path, names: frozenset[str]) -> None:
    """Remove files that nothing refers to any more."""
    for name in names:
        (folder / name).unlink(missing_ok=True)


def drop_old(
    work: SpillWork | None, before: Sequence[SpillState], after: Sequence[SpillState]
) -> None:
    """Remove the files that only the states before refer to."""
    if work is not None:
        drop_files(Path(work.folder), list_files(before) - list_files(after))


def drop_strays(folder: Path, known: frozenset[str]) -> None:
    """Remove what a run that was stopped has written and not committed."""
    if folder.is_dir():
        drop_files(folder, frozenset(file.name for file in folder.iterdir()) - known)


def _frame(held: Frame | KeptRows) -> Frame:
    return held if isinstance(held, Frame) else held.frame()


def _add(cold: ColdRows, state: SpillState, table: SpilledTable, frame: Frame) -> SpillState:
    """With more rows of a table."""
    hashes = [cold.codec.hash(frame, order) for order in table.orders]
    known, orders = state.runs.get(table.members, ()), len(table.orders)
    made = [write_run(cold.folder, cold.codec.write(frame), hashes)]
    runs = [*known, *made]
    while len(runs) > 1 and runs[-2].rows < _MERGE * runs[-1].rows:
        second, first = runs.pop(), runs.pop()
        made.append(merge_runs(cold.folder, first, second, orders))
        runs.append(made[-1])
    for run in made[:-1]:  # they are part of the last one
        drop_files(cold.folder, frozenset(list_names(run, orders)))
    return replace(state, runs={**state.runs, table.members: tuple(runs)})
