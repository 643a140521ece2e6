"""Answers that wait until it is final that something is beside them, or nothing is."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.spj import Absence, AbsencePart, Deadline
from ontoweir.runtime.columnar.frame import LONG_AGO, Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.kept.kept_rows import are_few
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.results.render_results import AT, INSTANT

_NEVER = np.iinfo(np.int64).max


def waiting_schema(absence: Absence, answers: pa.Schema) -> pa.Schema:
    """The columns of answers that wait: for each part that must be there, when it was found."""
    for number, part in enumerate(absence.parts):
        if part.present:
            answers = answers.append(pa.field(_since(number), pa.int64()))
    return answers


def _since(number: int) -> str:
    return f"since {number}"


def keep_few_waiting(
    absence: Absence,
    waiting: pa.Table | KeptTable,
    found: pa.Table,
    hits: Sequence[pa.Table],
    now_us: int | None,
) -> tuple[pa.Table, pa.Table | KeptTable]:
    """As keep_waiting: where many answers wait and little has come, only those are looked at that
    something was found beside, or of which something is final."""
    arrived = found.num_rows + sum(beside.num_rows for beside in hits)
    if not are_few(arrived, waiting.num_rows):
        return keep_waiting(absence, whole_table(waiting), found, hits, now_us)
    if not isinstance(waiting, KeptTable):
        waiting = KeptTable(waiting, absence.keys, lambda rows: _find_due(absence, rows))
    now = LONG_AGO if now_us is None else now_us
    touched = waiting.due(now)
    for beside in hits:
        touched = np.union1d(touched, waiting.find(beside))
    final, left = keep_waiting(absence, waiting.take(touched), found, hits, now_us)
    return final, waiting.replace(touched, left.cast(waiting.schema), now)


def _find_due(absence: Absence, rows: pa.Table) -> Array:
    """When an answer that waits is final, or known to be none, if nothing more is found (µs)."""
    ready = _micros(rows, AT)
    gone = np.full(rows.num_rows, _NEVER)
    for number, part in enumerate(absence.parts):
        last = _last_deadlines(part, rows)
        if not part.present or absence.held:
            ready = np.maximum(ready, last)
        if not part.present:
            continue
        since = _micros(rows, _since(number))
        ready = np.maximum(ready, since)
        gone = np.minimum(gone, np.where(since == _NEVER, last, _NEVER))
    due: Array = np.minimum(ready, gone)
    return due


def keep_waiting(
    absence: Absence,
    waiting: pa.Table,
    found: pa.Table,
    hits: Sequence[pa.Table],
    now_us: int | None,
) -> tuple[pa.Table, pa.Table]:
    """The answers that are final, with the time when they are in the place of `at`; and those that
    wait.

    Something beside an answer is found when that is, or later, and not after its last deadline. So
    what is found is not kept: the answers that it is beside are all there.

    Args:
        absence: what is to be beside answers, or not; and until when it may come.
        waiting: answers of earlier chunks (waiting_schema).
        found: those of this chunk, with `at`.
        hits: of each part, the keys beside which something was found in this chunk, with `at`.
        now_us: all that comes up to then has come (µs; None: nothing has come yet).
    """
    missing = waiting.schema.names[found.num_columns :]
    for name in missing:
        found = found.append_column(name, pa.array(np.full(found.num_rows, _NEVER)))
    rows = pa.concat_tables([waiting, found]) if waiting.num_rows else found
    ready = _micros(rows, AT)
    dead = np.zeros(rows.num_rows, dtype=np.bool_)
    now = LONG_AGO if now_us is None else now_us
    for number, (part, beside) in enumerate(zip(absence.parts, hits, strict=True)):
        first = _first_hits(rows, beside, absence.keys)
        last = _last_deadlines(part, rows)
        if not part.present:
            dead |= first < _NEVER
            ready = np.maximum(ready, last)
            continue
        since = np.minimum(_micros(rows, _since(number)), first)
        place = rows.schema.names.index(_since(number))
        rows = rows.set_column(place, _since(number), pa.array(since))
        dead |= (since == _NEVER) & (last <= now)
        ready = np.maximum(ready, np.maximum(since, last) if absence.held else since)
    final = ~dead & (ready <= now)
    place = rows.schema.names.index(AT)
    told = rows.set_column(place, AT, pa.array(ready).cast(INSTANT))
    chosen = told.filter(pa.array(final)).drop_columns(missing)
    # what waits is copied, as the table that it is of may be large
    return chosen, rows.take(pa.array(np.flatnonzero(~dead & ~final))).combine_chunks()


def _first_hits(rows: pa.Table, hits: pa.Table, keys: Sequence[str]) -> Array:
    """When something was first found beside answers in this chunk (µs, or _NEVER)."""
    fields = [rows.schema.field(n) for n in keys]
    beside = pa.table([hits.column(f.name).cast(f.type) for f in fields], schema=pa.schema(fields))
    codes, count = code_rows(pa.concat_tables([rows.select(keys), beside]), keys)
    first = np.full(count, _NEVER)
    np.minimum.at(first, codes[rows.num_rows :], _micros(hits, AT))
    made: Array = first[codes[: rows.num_rows]]
    return made


def _last_deadlines(part: AbsencePart, rows: pa.Table) -> Array:
    """Until when something may come beside each answer, of all deadlines of a part (µs)."""
    last = np.full(rows.num_rows, LONG_AGO)
    for deadline in part.deadlines:
        last = np.maximum(last, _find_deadline(deadline, rows))
    return last


def _find_deadline(deadline: Deadline, rows: pa.Table) -> Array:
    """Until when something may come beside each answer (µs)."""
    fixed = _NEVER if deadline.fixed_us is None else deadline.fixed_us
    earliest: Array = np.full(rows.num_rows, fixed)
    for name, us in deadline.after:
        earliest = np.minimum(earliest, _micros(rows, name) + us)
    return earliest


def _micros(rows: pa.Table, name: str) -> Array:
    column: Array = rows.column(name).cast(pa.int64()).to_numpy()
    return column
