"""One task of a replay: read a chunk of history and advance every plan over it, in a worker."""

import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ontoweir.errors import OntoweirError
from ontoweir.runtime.admit_rows import ReferenceCheck
from ontoweir.runtime.advance_rows import (
    PreparedPlan,
    ReplayState,
    ReplayWork,
    admit_chunk,
    advance_rows,
    count_markers,
    prepare_plan,
    reference_checks,
)
from ontoweir.runtime.cut_chunk import cut_chunk


@dataclass(frozen=True, slots=True)
class ChunkOutcome:
    """What a task did; `results` is an Arrow IPC stream."""

    state: ReplayState
    results: bytes
    markers: int
    tuples: int
    rejected: Mapping[str, int]
    now_us: int | None
    done: bool


_prepared: dict[str, tuple[ReplayWork, tuple[PreparedPlan, ...], tuple[Any, ...]]] = {}


def replay_chunk(key: str, packed: Any, state: bytes) -> bytes:
    """Run one task; errors of ours come back as values (a class and its four parts).

    Args:
        key: the run.
        packed: the broadcast variable that holds the pickled ReplayWork.
        state: the pickled ReplayState.
    """
    try:
        if key not in _prepared:
            _prepared.clear()
            work: ReplayWork = pickle.loads(packed.value)
            checks = reference_checks(work)
            _prepared[key] = (work, tuple(prepare_plan(p, work) for p in work.plans), (checks,))
        work, plans, (checks,) = _prepared[key]
        outcome = advance_chunk(work, plans, checks, pickle.loads(state))
    except OntoweirError as error:
        return pickle.dumps((type(error), error.what, error.why, error.fix, error.source))
    return pickle.dumps(outcome)


def advance_chunk(
    work: ReplayWork,
    plans: Sequence[PreparedPlan],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    state: ReplayState,
) -> ChunkOutcome:
    """Read a chunk and advance every plan over it."""
    chunk = cut_chunk(work.key, work.histories, state.cursors, work.rows_per_chunk, work.span[1])
    admitted = admit_chunk(work.histories, checks, chunk, work.span)
    after, answers = advance_rows(work, plans, admitted, chunk, state)
    rejected: Counter[str] = Counter()
    for rows in admitted.values():
        rejected.update(rows.rejected)
    return ChunkOutcome(
        state=after,
        results=_pack(answers),
        markers=count_markers(admitted),
        tuples=sum(a.read for a in admitted.values()),
        rejected=dict(rejected),
        now_us=chunk.now_us,
        done=chunk.done,
    )


def _pack(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpack_outcome(packed: bytes) -> ChunkOutcome:
    """A task's outcome.

    Raises:
        OntoweirError: the task ended with it.
    """
    found = pickle.loads(packed)
    if isinstance(found, ChunkOutcome):
        return found
    kind, what, why, fix, source = found
    raise kind(what, why=why, fix=fix, source=source)
