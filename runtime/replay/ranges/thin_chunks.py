"""Rows of history that no plan can want are left out as soon as they are admitted, and what is left
of several portions is one chunk: so less is in memory, and little is computed more than once."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import StringType
from ontoweir.rewriter.model.add_views import base_tables
from ontoweir.runtime.chunks.check_values import check_values
from ontoweir.runtime.chunks.late_rows import LateColumns
from ontoweir.runtime.chunks.read_chunk import Chunk
from ontoweir.runtime.chunks.row_groups import MAPPED
from ontoweir.runtime.columnar.frame import Array, ones, starts_of_runs
from ontoweir.runtime.engine.advance_rows import share_steps
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, list_wanted
from ontoweir.runtime.folded.find_extremes import read_numbers
from ontoweir.runtime.ingest.admit_rows import (
    Admitted,
    CodedTexts,
    ReferenceCheck,
)
from ontoweir.runtime.ingest.encode_members import FEW, MemberEncoder
from ontoweir.runtime.ingest.select_candidates import Selection, find_rows
from ontoweir.runtime.sources.coded_texts import concat_rows, pick_rows
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.steps import Steps

Wanted = Mapping[str, Set[Selection]]
"""By stream, what its rows keep that some member can want; of other streams all rows count."""


def list_thinned(work: ExecutionContext, plans: Sequence[PreparedPlan]) -> Wanted:
    """The streams of a run whose rows can be left out that no member of a plan wants: none else
    looks at them, and every member says of some column within which limits it lies."""
    if work.blocks or work.rules:
        return {}
    others = base_tables((view.name for view in work.views), work.views)
    others |= {key.stream for key in work.watched}
    return {
        name: selections
        for name, selections in list_wanted(plans).items()
        if name not in others and () not in selections
    }


def list_late(
    work: ExecutionContext,
    histories: Sequence[History],
    checks: Mapping[str, Sequence[ReferenceCheck]],
    wanted: Wanted,
) -> dict[str, LateColumns]:
    """Columns that are read only of rows which some member wants: of histories whose rows were
    verified before, as else all values are held to what is declared: all that are not compared.
    Where rows come late, all columns but the timestamp, so that fewer are put into order. Such rows
    may be verified before that, where their values alone say which are rejected.

    Args:
        work: the run.
        histories: the streams.
        checks: the references to enforce, by stream.
        wanted: which rows are enough (list_thinned).
    """
    late = {}
    for history in histories:
        name, selections = history.stream.name, wanted.get(history.stream.name)
        columns = work.catalog.streams[name].columns
        plain = {c.name for c in columns if c.expression is None and c.bucket is None}
        mapped = any(p.file.endswith(MAPPED) for p in history.pieces)
        if selections is None:
            continue
        hold = None
        if history.verified is None:
            apart = history.staged or history.stream.keys or checks.get(name)
            if history.disorder is None or apart:
                continue
            hold = partial(_hold_all, history)
        if mapped or any(c.expression is not None for c in columns):
            continue  # an expression that has no value for some row is an error
        compared = {limits[0] for selection in selections for limits in selection}
        names = frozenset(history.columns) - compared
        texts = {c.name for c in history.stream.columns if isinstance(c.type, StringType)}
        if history.disorder is not None:
            # which of the rows of one time is rejected is known of their order alone
            rejects = history.verified is not None and history.verified.rejects
            names = frozenset() if rejects else frozenset(history.columns)
        if names and compared <= plain & set(history.columns):
            find = partial(find_rows, selections=tuple(selections))
            late[name] = LateColumns(names, find, hold, dear=names & texts)
    return late


def list_narrow(work: ExecutionContext, histories: Sequence[History]) -> frozenset[str]:
    """The streams whose decimals may come as such of 64 bits: nothing but members of plans looks at
    them, as rows were verified before, and nothing is derived of them."""
    if work.blocks or work.rules or work.views:
        return frozenset()
    streams = {h.stream.name for h in histories if h.verified is not None}
    streams -= {key.stream for key in work.watched}
    catalog = work.catalog.streams
    return frozenset(n for n in streams if all(c.expression is None for c in catalog[n].columns))


def _hold_all(history: History, table: pa.Table) -> bool:
    """Whether no row is rejected because of its values."""
    return all(mask.all() for _, mask in check_values(history, table))


def join_late(chunk: Chunk, admitted: Mapping[str, Admitted]) -> Mapping[str, Admitted]:
    """What was admitted, but of streams with columns that were read late, only the rows of which
    they were, with these columns. All rows are counted, and so are their timestamps."""
    joined = dict(admitted)
    for name, rows in admitted.items():
        late = chunk.slices[name].late
        if late is None:
            continue
        marks = rows.times[starts_of_runs(rows.times)] if rows.marks is None else rows.marks
        if rows.index is None:
            index, there = late.index, np.arange(len(late.index))
        else:
            index = np.searchsorted(rows.index, late.index)
            inside = index < len(rows.index)
            inside[inside] = rows.index[index[inside]] == late.index[inside]
            index, there = index[inside], np.flatnonzero(inside)
        thin, columns = rows.take(index), pick_rows(late.table, there)
        held = dict(zip(thin.table.column_names, thin.table.columns, strict=True))
        held |= zip(columns.column_names, columns.columns, strict=True)
        table = pa.table(held)
        joined[name] = replace(thin, table=table, marks=marks, index=None)
    return joined


def thin_rows(
    work: ExecutionContext, admitted: Mapping[str, Admitted], wanted: Wanted
) -> dict[str, Admitted]:
    """What was admitted, but of streams of which few rows can be wanted these alone. All rows are
    counted, and so are their timestamps.

    Raises:
        DataError: an expression has no value for a row.
    """
    names = wanted.keys() & admitted.keys()
    shared = share_steps({name: admitted[name] for name in names}, work.catalog)
    encoder = MemberEncoder(work.catalog, shared, wanted)
    thin = dict(admitted)
    for name in names:
        rows, index = admitted[name], encoder.unite(name)
        if index is not None and len(index) * FEW <= len(rows.steps):
            marks = rows.times[starts_of_runs(rows.times)] if rows.marks is None else rows.marks
            thin[name] = replace(rows.take(index), marks=marks)
    return thin


@dataclass(frozen=True, slots=True)
class Portion:
    """What was admitted of a chunk, which is without its slices; `lengths`: how many rows of each
    stream these had."""

    chunk: Chunk
    admitted: Mapping[str, Admitted]
    lengths: Mapping[str, int]


def drop_slices(chunk: Chunk, admitted: Mapping[str, Admitted]) -> Portion:
    """A chunk that was admitted, of which nothing else is kept in memory."""
    lengths = {name: len(rows.stamps) for name, rows in chunk.slices.items()}
    return Portion(replace(chunk, slices={}), admitted, lengths)


def unite_chunks(parts: Sequence[Portion]) -> tuple[Chunk, Mapping[str, Admitted]]:
    """Chunks that follow each other as one, and what was admitted of them."""
    first, last = parts[0].chunk, parts[-1].chunk
    if first is last:
        return first, parts[0].admitted
    times = [p.chunk.now_us for p in parts if p.chunk.now_us is not None]
    whole = Chunk({}, first.before, last.after, times[-1] if times else None, last.done)
    return whole, {
        name: _unite_rows([p.admitted[name] for p in parts], [p.lengths[name] for p in parts])
        for name in first.before
    }


def _unite_rows(parts: Sequence[Admitted], lengths: Sequence[int]) -> Admitted:
    """Rows of a stream, one after the other; `lengths`: of the slices they were admitted of."""
    times = np.concatenate([p.times for p in parts])
    rejected: Counter[str] = Counter()
    for part in parts:
        rejected.update(part.rejected)
    before = np.cumsum([0, *lengths])
    marks = [p.times[starts_of_runs(p.times)] if p.marks is None else p.marks for p in parts]
    return Admitted(
        Steps(times, parts[0].steps.step_us),
        times,
        concat_rows([p.table for p in parts]),
        sum(p.read for p in parts),
        dict(rejected),
        tuple(
            (reason, index + start)
            for part, start in zip(parts, before, strict=False)
            for reason, index in part.rejects
        ),
        np.concatenate(marks),
        {
            name: CodedTexts(first.table, np.concatenate([p.coded[name].codes for p in parts]))
            for name, first in parts[0].coded.items()
        },
        parts[0].filled,
        parts[0].among,
        parts[0].limits,
        weights=_unite_weights(parts),
        sums=_unite_sums(parts),
    )


def _unite_sums(parts: Sequence[Admitted]) -> dict[str, Array]:
    """What the values add up to that rows stand for; those of rows that stand for themselves are
    read then."""
    names = {name for part in parts for name in part.sums}
    return {name: np.concatenate([_list_sums(part, name) for part in parts]) for name in names}


def _list_sums(part: Admitted, name: str) -> Array:
    """Of each row, what the values of a column add up to that it stands for."""
    if name in part.sums:
        return part.sums[name]
    found = read_numbers(part.table.column(name))
    assert found is not None, "of a stream all parts have a column as the same type"
    return found[0].astype(np.int64)


def _unite_weights(parts: Sequence[Admitted]) -> Array | None:
    """How often each row counts (None: once)."""
    if all(part.weights is None for part in parts):
        return None
    counted = (ones(len(p.stamps)) if p.weights is None else p.weights for p in parts)
    return np.concatenate(list(counted))
