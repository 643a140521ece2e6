"""Take the state of a run to where its queries are placed now.

From parts to other parts it goes part by part: each of the old ones is read and divided, and what
is in it of each new one is written; then what each new one has of all old ones is put together. So
the driver holds one part, as it was read and divided, or what a new part is put together of and
that part, never the state of all.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.live.checkpoint.state_tables import assemble_part
from ontoweir.runtime.live.model.divided_state import DividedState, PartState
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
    if isinstance(held, DividedState):
        parts = [part for part in held.parts if part.version]  # that keep anything
        if placement is not None:
            return _divide_parts(query, parts, placement.division, folder, now_us)
        whole = _unite(query, parts, folder, now_us)
        return replace(whole, cursors={h.stream.name: Cursor() for h in job.histories})
    assert placement is not None
    made = divide_anew(query, [held], placement.division, now_us)
    stored = [store_part(folder, part, query, one, {})[0] for part, one in enumerate(made)]
    return DividedState(tuple(stored))


def _divide_parts(
    query: RunningQuery, parts: Sequence[PartState], division: Division, folder: Path, now_us: int
) -> DividedState:
    """Parts divided into others, one after the other; what is written on the way is removed."""
    pieces: list[list[PartState]] = [[] for _ in range(division.parts)]
    for part in parts:
        made = divide_anew(query, [_read(query, part, folder)], division, now_us)
        for number, one in enumerate(made):
            if one.rows or one.groups.count:
                pieces[number].append(store_part(folder, number, query, one, {})[0])
        del made
    stored: list[PartState] = []
    for number, mine in enumerate(pieces):
        if len(mine) == 1:
            stored += mine
            continue
        whole = _unite(query, mine, folder, now_us)
        stored.append(store_part(folder, number, query, whole, {})[0])
        for file in frozenset[str]().union(*(piece.files for piece in mine)):
            (folder / file).unlink(missing_ok=True)
        del whole
    return DividedState(tuple(stored))


def _unite(
    query: RunningQuery, parts: Sequence[PartState], folder: Path, now_us: int
) -> ExecutionState:
    """What several parts keep, put together."""
    states = [_read(query, part, folder) for part in parts]
    (whole,) = divide_anew(query, states, None, now_us)
    return whole


def _read(query: RunningQuery, part: PartState, folder: Path) -> ExecutionState:
    """The state of a part."""
    tables = read_tables(folder, part.tables)
    return assemble_part({name: kept.table for name, kept in tables.items()}, len(query.plans))
