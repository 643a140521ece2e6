"""Advance the queries whose answers another one reads, and give it these as a stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.between.reads_directly import reads_directly
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Meeting, Stream
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.aggregation import Between
from ontoweir.rewriter.model.spj import Absence, SpjUnion
from ontoweir.runtime.blocks.keep_waiting import keep_few_waiting, waiting_schema
from ontoweir.runtime.blocks.meet_begun import begun_schema, meet_begun
from ontoweir.runtime.blocks.meet_rows import MetStreams, held_schema, meet_few_rows
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.engine.advance_rows import advance_rows
from ontoweir.runtime.engine.execution import BlockState, ExecutionContext, ExecutionState
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, prepare_plans
from ontoweir.runtime.groups.repeat_rows import repeat_rows
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.pool.string_pool import no_texts
from ontoweir.runtime.preceding.precede_rows import PrecedingStreams, precede_rows
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY
from ontoweir.runtime.times.steps import Steps

NOTHING = pa.table({})
"""The versions that are known before the first chunk, whose columns are not."""


@dataclass(frozen=True, slots=True)
class PreparedBlock:
    """Queries whose answers are the rows of `stream`, by `absence`; or how rows of a stream meet
    versions, or the rows before them (BlockContext)."""

    stream: Stream
    queries: "tuple[PreparedQuery, ...]"
    absence: Absence | None
    meeting: Meeting | Preceding | None = None
    met: MetStreams | PrecedingStreams | None = None
    between: Between[SpjUnion] | None = None
    direct: bool = False
    """Whether its rows are only read as members of a query's plans, which count them as often as
    they count; else each is there so often."""


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query: its plans, with static data encoded; and those whose answers it reads."""

    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]
    blocks: tuple[PreparedBlock, ...]


def prepare_blocks(work: ExecutionContext) -> tuple[PreparedBlock, ...]:
    """The queries whose answers a query reads, ready for chunks of rows."""
    return tuple(
        PreparedBlock(
            block.stream,
            tuple(PreparedQuery(q, prepare_plans(q), prepare_blocks(q)) for q in block.queries),
            block.absence,
            block.meeting,
            None if block.meeting is None else _streams_of(block.meeting, block.stream, work),
            block.between,
            reads_directly(block.stream.name, (b.meeting for b in work.blocks), work.views),
        )
        for block in work.blocks
    )


def _streams_of(
    meeting: Meeting | Preceding, made: Stream, work: ExecutionContext
) -> MetStreams | PrecedingStreams:
    streams = work.catalog.streams
    if isinstance(meeting, Preceding):
        return PrecedingStreams(streams[meeting.base], made)
    return MetStreams(streams[meeting.base], streams[meeting.versions.stream])


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
        if block.meeting is not None:
            made[block.stream.name], held = _meet(block, made, before.held)
            after.append(BlockState((), held))
            continue
        answers, known = [], []
        for query, state in zip(block.queries, before.states, strict=True):
            fed, below = advance_blocks(query.blocks, admitted, chunk, state.blocks)
            state, found = advance_rows(query.work, query.plans, fed, chunk, state)
            answers.append(found)
            known.append(replace(state, blocks=below))
        final, waiting = _finish(block, before.held, answers, chunk.now_us)
        made[block.stream.name] = _admit(block.stream, final)
        after.append(BlockState(tuple(known), waiting))
    return made, tuple(after)


def _meet(
    block: PreparedBlock, admitted: Mapping[str, Admitted], held: pa.Table | KeptTable
) -> tuple[Admitted, pa.Table | KeptTable]:
    """The rows that meet versions, or those before them; and what is kept for later ones."""
    if isinstance(block.meeting, Preceding):
        assert isinstance(block.met, PrecedingStreams)
        return precede_rows(block.meeting, block.met, admitted[block.met.base.name], held)
    assert block.meeting is not None
    assert isinstance(block.met, MetStreams)
    rows, updates = (admitted[stream.name] for stream in block.met)
    if not isinstance(held, KeptTable) and held.num_columns == 0:
        held = held_schema(block.meeting, block.stream, updates).empty_table()
    return meet_few_rows(block.meeting, rows, updates, held, block.met)


def _finish(
    block: PreparedBlock,
    waiting: pa.Table | KeptTable,
    answers: Sequence[pa.Table],
    now_us: int | None,
) -> tuple[pa.Table, pa.Table | KeptTable]:
    """The answers that are rows of the stream now, in order of time, and those that wait."""
    if block.between is not None:
        met, begun = meet_begun(block.between, whole_table(waiting), answers)
        return _repeat(block, met).sort_by(AT), begun
    if block.absence is None:
        rows, rest = _cut(block.stream, pa.concat_tables([whole_table(waiting), *answers]), now_us)
        return _repeat(block, rows), rest
    first, *parts = answers
    keys = [*block.absence.keys, AT]
    hits = [part.select(keys) for part in parts]
    rows, waiting = keep_few_waiting(block.absence, waiting, first, hits, now_us)
    return _repeat(block, rows).sort_by(AT), waiting


def _repeat(block: PreparedBlock, rows: pa.Table) -> pa.Table:
    """Each answer as often as it counts, unless that is told beside it."""
    if block.direct or MULTIPLICITY not in rows.schema.names:
        return rows
    none = rows.drop_columns([MULTIPLICITY]).slice(0, 0)
    return pa.concat_tables([none, *repeat_rows(rows)])


def _begin(block: PreparedBlock) -> BlockState:
    if block.meeting is not None:
        return BlockState((), NOTHING)
    states = []
    for query in block.queries:
        kernels = tuple(KernelState() for _ in query.plans)
        texts = tuple(no_texts() for _ in query.plans)
        states.append(ExecutionState({}, kernels, texts, GroupState()))
    columns = _schema(block.queries[0])
    if block.between is not None:
        columns = begun_schema(_schema(block.queries[1]))
    elif block.absence is not None:
        columns = waiting_schema(block.absence, columns)
    return BlockState(tuple(states), columns.empty_table())


def _schema(query: PreparedQuery) -> pa.Schema:
    """The columns of its answers."""
    aggregates = query.work.aggregates
    return query.work.schema if aggregates is None else aggregates.answers


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
    """Answers as rows of a stream, each as often as it counts.

    Raises:
        DataError: one has NaN, which is no value of a row.
    """
    times = _steps(stream, rows) * stream.step_us
    names = rows.schema.names
    columns = [
        rows.column(c.name).cast(arrow_type(c.type))
        if c.name in names
        else pa.nulls(rows.num_rows, arrow_type(c.type))
        for c in stream.columns
    ]
    for column, values in zip(stream.columns, columns, strict=True):
        if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
            raise DataError(
                f"{column.name} of the answers of {stream.name}, which the query reads, is not a "
                "number (NaN)",
                why="a sum has infinity and minus infinity in it, which is no value that others "
                "could be compared or counted with",
                fix="declare min and max of the columns that are added up, so that such rows are "
                "rejected",
            )
    table = pa.table(columns, names=[c.name for c in stream.columns])
    if not columns:
        table = pa.table({"": pa.nulls(rows.num_rows)})
    weights = rows.column(MULTIPLICITY).to_numpy() if MULTIPLICITY in names else None
    return Admitted(Steps(times, stream.step_us), times, table, 0, {}, weights=weights)
