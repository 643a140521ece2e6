"""Advance the queries whose rows are divided by key by one step: all their parts together."""

import pickle
from collections.abc import Mapping

import pyarrow as pa

from ontoweir.runtime.division.divide_rows import divide_rows
from ontoweir.runtime.division.unite_parts import unite_parts
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.ingest.watch_keys import watch_keys
from ontoweir.runtime.live.checkpoint.state_tables import decode_table
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState, RunningQuery
from ontoweir.runtime.live.parts.part_task import (
    PartTask,
    encode_rows,
    list_histories,
    unpack_outcome,
)


def advance_parts(
    job: LiveJob, state: LiveState, admitted: Mapping[str, Admitted], now_us: int
) -> dict[str, tuple[DividedState, pa.Table]]:
    """The states after a step, and the answers, by query.

    Args:
        job: the queries.
        state: before the step.
        admitted: the rows of the step, by stream.
        now_us: all timestamps up to it are finished.

    Raises:
        RunError: a task fails.
        DataError: the data breaks what is declared of it.
    """
    divided = [
        (query, held)
        for query, held in zip(job.queries, state.queries, strict=True)
        if isinstance(held, DividedState)
    ]
    if not divided:
        return {}
    tasks = {
        (query.name, task.part): pickle.dumps(task)
        for query, held in divided
        for task in _make_tasks(job, query, held, admitted, now_us)
    }
    assert job.run_parts is not None
    outcomes = job.run_parts(tasks)
    made = {}
    for query, held in divided:
        mine = [unpack_outcome(outcomes[query.name, n]) for n in range(len(held.parts))]
        tables = [decode_table(o.answers) for o in mine if o.answers]
        answers = query.schema.empty_table()
        if tables:
            order = job.placements[query.name].order
            answers = tables[0] if len(tables) == 1 else unite_parts(tables, order)
        made[query.name] = DividedState(tuple(o.after for o in mine)), answers
    return made


def _make_tasks(
    job: LiveJob,
    query: RunningQuery,
    held: DividedState,
    admitted: Mapping[str, Admitted],
    now_us: int,
) -> list[PartTask]:
    work, placement = query.work, job.placements[query.name]
    for key in work.watched:  # where all rows come by
        if key.stream not in admitted:
            continue
        rows = admitted[key.stream]
        stream = work.catalog.streams[key.stream]
        steps = rows.steps.counted_in(stream.step_us).all()
        watch_keys(f"{work.watch or work.key}/parts", stream, [key.columns], steps, rows.table)
    histories = list_histories(work)
    parts = divide_rows(placement.division, histories, admitted)
    shared: dict[str, bytes] = {
        h.stream.name: encode_rows(admitted[h.stream.name])
        for h in histories
        if h.stream.name in placement.division.whole
    }
    return [
        PartTask(
            query.name,
            number,
            str(placement.folder),
            before,
            {n: shared[n] if n in shared else encode_rows(rows) for n, rows in mine.items()},
            now_us,
        )
        for number, (before, mine) in enumerate(zip(held.parts, parts, strict=True))
    ]
