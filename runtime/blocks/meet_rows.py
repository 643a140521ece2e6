"""Gives rows the version of their own time."""

from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import KeyConstant, Meeting, Stream
from ontoweir.runtime.columnar.check_domain import arrow_type, check_domain
from ontoweir.runtime.columnar.decode_times import show_time
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.kept.kept_rows import are_few
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.sources.derive_values import derive_values

_LONG_AGO = np.iinfo(np.int64).min
"""The time of the versions that are held."""


class MetStreams(NamedTuple):
    """The stream of rows, and that of the versions which they meet."""

    base: Stream
    versions: Stream


def held_schema(meeting: Meeting, stream: Stream, updates: Admitted) -> pa.Schema:
    """The columns of the versions that are kept: those of the relation that are read, and since
    when it holds."""
    kinds = {c.name: arrow_type(c.type) for c in stream.columns}
    read = {*updates.table.column_names, meeting.versions.time}
    return pa.schema([(of, kinds[name]) for of, name in meeting.columns if of in read])


def meet_few_rows(
    meeting: Meeting,
    rows: Admitted,
    updates: Admitted,
    held: pa.Table | KeptTable,
    streams: MetStreams,
) -> tuple[Admitted, pa.Table | KeptTable]:
    """As meet_rows: where many versions are held and little has come, only those are looked at that
    are asked for, or that another one takes the place of."""
    replaced = meeting.versions.whole and len(updates.times) > 0
    if replaced or not are_few(len(rows.times) + len(updates.times), held.num_rows):
        return meet_rows(meeting, rows, updates, whole_table(held), streams)
    keys = [column for _, column in meeting.key]
    if not isinstance(held, KeptTable):
        held = KeptTable(held, keys)
    asked = held.find(_list_keys(meeting, rows, held.schema))
    touched = np.union1d(asked, held.find(updates.table.select(keys)))
    met, left = meet_rows(meeting, rows, updates, held.take(touched), streams)
    return met, held.replace(touched, left)


def meet_rows(
    meeting: Meeting, rows: Admitted, updates: Admitted, held: pa.Table, streams: MetStreams
) -> tuple[Admitted, pa.Table]:
    """The rows of a chunk that meet a version, with its columns; and the latest versions after it.

    A row meets the last version of its key that is not later than the row (or, as declared, that is
    earlier). Where that says that the key is deleted, and where there is none, it meets none: then
    it is no row, or has NULLs (`optional`). Where versions are `whole`, it has to be of the last
    time of all versions.

    Args:
        meeting: how they meet.
        rows: those of the chunk.
        updates: the versions of the chunk.
        held: the latest versions before it, one for each key.
        streams: those of the rows and of the versions.

    Raises:
        DataError: which of two versions is the latest is not known.
    """
    versions, times, deleted, later = _list_versions(meeting, updates, held, streams)
    keys = [column for _, column in meeting.key]
    asked = _list_keys(meeting, rows, held.schema)
    codes = np.zeros(versions.num_rows + len(rows.times), dtype=np.int64)
    if keys:  # without any, all versions are of one
        codes, _ = code_rows(pa.concat_tables([versions.select(keys), asked]), keys)
    known, wanted = codes[: versions.num_rows], codes[versions.num_rows :]
    moments = np.unique(times)
    places = len(moments) + 1
    order = np.lexsort((later, times, known))
    said = (known * places + np.searchsorted(moments, times))[order]
    _refuse_ties(meeting, versions, known, times, later, order)
    side: Literal["left", "right"] = "left" if meeting.versions.earlier else "right"
    until = wanted * places + np.searchsorted(moments, rows.times, side=side) - 1
    found = np.searchsorted(said, until, side="right") - 1
    there = found >= 0
    place = order[np.maximum(found, 0)] if len(order) else np.zeros(len(found), np.int64)
    if len(order):
        there &= (known[place] == wanted) & ~deleted[place]
    else:
        there[:] = False
    for name in keys:
        column = asked.column(name)
        if column.null_count:
            there &= column.is_valid().to_numpy()
    if meeting.versions.whole and len(order):
        every = np.concatenate([[_LONG_AGO], np.unique(updates.times)])
        there &= times[place] == every[np.searchsorted(every, rows.times, side=side) - 1]
    made = _take(meeting, rows, versions, place, there)
    last = np.flatnonzero(np.append(np.diff(known[order]) != 0, True)) if len(order) else order
    kept = order[last]
    if meeting.versions.whole and len(updates.times):
        kept = kept[times[kept] == updates.times.max()]
    kept = np.sort(kept[~deleted[kept]])
    return made, versions.take(pa.array(kept)).combine_chunks()


def _list_versions(
    meeting: Meeting, updates: Admitted, held: pa.Table, streams: MetStreams
) -> tuple[pa.Table, Array, Array, Array]:
    """The versions of which a key may be asked for, those that are held first: with their times,
    whether they say that the key is deleted, and their order among those of one time."""
    schema, of = held.schema, meeting.versions
    base, stream = streams
    there = np.ones(len(updates.times), dtype=np.bool_)
    if of.only is not None:
        true = derive_values(of.only, stream, updates.steps.all(), updates.table)
        there &= pc.fill_null(true, False).to_numpy()
    for own, name in meeting.key:
        column = updates.table.column(name)
        if column.null_count:
            there &= column.is_valid().to_numpy()
        if isinstance(own, KeyConstant):
            equal = pc.equal(column.cast(schema.field(name).type), _constant(own, schema, name))
            there &= pc.fill_null(equal, False).to_numpy()
            continue
        declared = base.column(own)
        limits = () if declared is None else (declared.enum, declared.minimum, declared.maximum)
        if declared is not None and any(limit is not None for limit in limits):
            kept = check_domain(column.cast(schema.field(name).type), declared)
            there &= kept.to_numpy()
    index = np.flatnonzero(there)
    new = updates.table if len(index) == len(there) else updates.table.take(pa.array(index))
    since = pa.array(updates.times[index])
    columns = [(since if f.name == of.time else new.column(f.name)).cast(f.type) for f in schema]
    versions = pa.concat_tables([held, pa.table(columns, schema=schema)])
    before = np.full(held.num_rows, _LONG_AGO)
    times = np.concatenate([before, updates.times[index]])
    deleted = np.zeros(held.num_rows + len(index), dtype=np.bool_)
    if of.delete is not None:
        gone = pc.fill_null(new.column(of.delete).cast(pa.bool_()), False)
        deleted[held.num_rows :] = gone.to_numpy()
    later = np.zeros(held.num_rows + len(index), dtype=np.int64)
    if of.order is not None and len(index):
        ranks = pc.rank(new.column(of.order), tiebreaker="dense").to_numpy().astype(np.int64)
        known = new.column(of.order).is_valid().to_numpy()
        later[held.num_rows :] = np.where(known, ranks, 0)
    return versions, times, deleted, later


def _constant(own: KeyConstant, schema: pa.Schema, name: str) -> pa.Scalar:
    return pa.array([own.value]).cast(schema.field(name).type)[0]


def _list_keys(meeting: Meeting, rows: Admitted, schema: pa.Schema) -> pa.Table:
    """The key that each row asks for."""
    columns = [
        pa.repeat(_constant(own, schema, name), len(rows.times))
        if isinstance(own, KeyConstant)
        else rows.table.column(own).cast(schema.field(name).type)
        for own, name in meeting.key
    ]
    return pa.table(columns, schema=pa.schema([schema.field(n) for _, n in meeting.key]))


def _refuse_ties(
    meeting: Meeting, versions: pa.Table, known: Array, times: Array, later: Array, order: Array
) -> None:
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for column in (known, times, later):
        same &= np.diff(column[order]) == 0
    if not same.any():
        return
    row = int(order[np.flatnonzero(same)[0]])
    of = meeting.versions
    shown = ", ".join(f"{n} = {versions.column(n)[row].as_py()}" for n in of.key)
    raise DataError(
        f"{of.stream} has two versions of {shown} at {show_time(int(times[row]))}"
        + ("" if of.order is None else f", without {of.order}"),
        why="which of them is the latest is not known",
        fix="correct the data, or declare a key of the stream that rejects one of them",
    )


def _take(
    meeting: Meeting, rows: Admitted, versions: pa.Table, place: Array, there: Array
) -> Admitted:
    """The rows that have met a version, or may meet none, with its columns."""
    chosen = pa.array(place, mask=~there)
    if not there.all() and not meeting.versions.optional:
        index = np.flatnonzero(there)
        rows, chosen = rows.take(index), chosen.take(pa.array(index))
    table = rows.table
    met = versions.take(chosen)
    for of, name in meeting.columns:
        if of in met.column_names:
            table = table.append_column(name, met.column(of))
    return Admitted(rows.steps, rows.times, table, 0, {}, (), rows.marks, rows.coded, rows.filled)
