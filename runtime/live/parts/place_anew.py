"""Take the state of a run to where its queries are placed now."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.checkpoint.state_tables import assemble_part
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState, QueryState, RunningQuery
from ontoweir.runtime.live.parts.divide_anew import divide_anew
from ontoweir.runtime.live.parts.part_files import read_tables
from ontoweir.runtime.live.parts.store_part import store_part
from ontoweir.runtime.sources.history import Cursor


def place_anew(job: LiveJob, state: LiveState, folder: Path) -> LiveState | None:
    """The state with what each query keeps in as many parts as it is placed in now; what is written
    of it is on the disk (None: it is so already).

    Args:
        job: the queries with their placements.
        state: after the last commit.
        folder: of the files of parts.

    Raises:
        UsageError: a file of a part is damaged or gone, or groups cannot be divided anew.
        RunError: the disk does not take it.
    """
    queries = tuple(
        _place(job, query, held, folder, state.finished_us or 0)
        for query, held in zip(job.queries, state.queries, strict=True)
    )
    same = all(now is held for now, held in zip(queries, state.queries, strict=True))
    return None if same else replace(state, queries=queries)


def _place(
    job: LiveJob, query: RunningQuery, held: QueryState, folder: Path, now_us: int
) -> QueryState:
    placement = job.placements.get(query.name)
    wanted = 1 if placement is None else placement.division.parts
    if wanted == (len(held.parts) if isinstance(held, DividedState) else 1):
        return held
    states = _read_parts(query, held, folder) if isinstance(held, DividedState) else [held]
    division = None if placement is None else placement.division
    made = divide_anew(query, states, division, now_us)
    if division is None:
        return replace(made[0], cursors={h.stream.name: Cursor() for h in job.histories})
    stored = [store_part(folder, part, query, one, {})[0] for part, one in enumerate(made)]
    return DividedState(tuple(stored))


def _read_parts(query: RunningQuery, held: DividedState, folder: Path) -> Sequence[ExecutionState]:
    """The states of parts that keep anything."""
    tables = [read_tables(folder, part.tables) for part in held.parts if part.version]
    return [
        assemble_part({name: kept.table for name, kept in mine.items()}, len(query.plans))
        for mine in tables
    ]
