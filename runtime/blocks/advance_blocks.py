"""Advance the queries whose answers another one reads, and give it these as a stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.steps import Steps
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.execution import BlockState, ExecutionContext, ExecutionState
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, prepare_plans
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.pool.string_pool import no_texts
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.render_results import AT
from ontoweir.runtime.sources.read_chunk import Chunk


@dataclass(frozen=True, slots=True)
class PreparedBlock:
    """A query whose answers are the rows of `stream`: its plans, with static data encoded; and
    those whose answers it reads."""

    stream: Stream
    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]
    blocks: "tuple[PreparedBlock, ...]"


def prepare_blocks(work: ExecutionContext) -> tuple[PreparedBlock, ...]:
    """The queries whose answers a query reads, ready for chunks of rows."""
    return tuple(
        PreparedBlock(stream, other, prepare_plans(other), prepare_blocks(other))
        for stream, other in work.blocks
    )


def advance_blocks(
    blocks: Sequence[PreparedBlock],
    admitted: Mapping[str, Admitted],
    chunk: Chunk,
    states: Sequence[BlockState],
) -> tuple[Mapping[str, Admitted], tuple[BlockState, ...]]:
    """The rows of a chunk with those that queries make of them, and the states of these after it.

    An answer may be known a step before its timestamp is over: it waits for that, as a row does.

    Args:
        blocks: the queries.
        admitted: the rows of the catalog's streams.
        chunk: what they were read from.
        states: before the chunk (none: it is the first).
    """
    made, after = dict(admitted), []
    for block, before in zip(blocks, states or [_begin(block) for block in blocks], strict=True):
        fed, below = advance_blocks(block.blocks, admitted, chunk, before.state.blocks)
        state, answers = advance_rows(block.work, block.plans, fed, chunk, before.state)
        rows = pa.concat_tables([before.waiting, answers])
        rows, waiting = _cut(block.stream, rows, chunk.now_us)
        made[block.stream.name] = _admit(block.stream, rows)
        after.append(BlockState(replace(state, blocks=below), waiting))
    return made, tuple(after)


def _begin(block: PreparedBlock) -> BlockState:
    kernels = tuple(KernelState() for _ in block.plans)
    texts = tuple(no_texts() for _ in block.plans)
    return BlockState(
        ExecutionState({}, kernels, texts, GroupState()), _schema(block).empty_table()
    )


def _schema(block: PreparedBlock) -> pa.Schema:
    """The columns of its answers."""
    aggregates = block.work.aggregates
    assert aggregates is not None
    return aggregates.answers


def _cut(stream: Stream, rows: pa.Table, now_us: int | None) -> tuple[pa.Table, pa.Table]:
    """Answers whose step is over, in order of time, and the others."""
    order = np.argsort(_steps(stream, rows), kind="stable")
    if not (np.diff(order) > 0).all():
        rows = rows.take(pa.array(order))
    ready = 0
    if now_us is not None:
        ready = int(np.searchsorted(_steps(stream, rows), now_us // stream.step_us, side="right"))
    # what waits is copied, as the table that it is of may be large
    return rows.slice(0, ready), rows.take(pa.array(np.arange(ready, rows.num_rows)))


def _steps(stream: Stream, rows: pa.Table) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The first step that is not before each answer's time."""
    times = rows.column(AT).cast(pa.int64()).to_numpy()
    steps: np.ndarray[tuple[int], np.dtype[np.int64]] = -(-times // stream.step_us)
    return steps


def _admit(stream: Stream, rows: pa.Table) -> Admitted:
    """Answers as rows of a stream."""
    times = _steps(stream, rows) * stream.step_us
    columns = [rows.column(c.name).cast(arrow_type(c.type)) for c in stream.columns]
    table = pa.table(columns, names=[c.name for c in stream.columns])
    if not columns:
        table = pa.table({"": pa.nulls(rows.num_rows)})
    return Admitted(Steps(times, stream.step_us), times, table, 0, {})
