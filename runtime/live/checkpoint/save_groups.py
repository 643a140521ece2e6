"""The groups of an aggregate query as tables: one of the groups, one for each median."""

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.pool.text_columns import code_columns, show_columns
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import GroupColumn, GroupState, Histogram
from ontoweir.runtime.results.measures import TEXTS

_KEY = "group "
"""Before the names of the columns that groups differ in."""
_PLACE, _COUNT = "place", "count"
_SEEN, _CLOSED, _OPEN = "seen", "closed", ".open.arrow"


def from_groups(state: GroupState) -> dict[str, pa.Table]:
    """Tables by the ends of their names. `.arrow`: a row for each group, with its place, its
    columns and its numbers; `.0.arrow`, …: a row for each value that a median counts;
    `.seen-0.arrow`, …: a row for each distinct value of an argument in a group that a bucket
    closes; `.open.arrow`: as of the groups, of each value that is open."""
    tables = {} if state.open is None or not state.open.count else {_OPEN: _write(state.open)}
    if not state.count:
        return tables
    whole = _write(state)
    if state.closed is not None:
        whole = whole.replace_schema_metadata({_CLOSED: str(state.closed)})
    tables[".arrow"] = whole
    for number, (name, counted) in enumerate(state.histograms.items()):
        told = state.texts.take(counted.values) if name[-1] == TEXTS else counted.values
        values = {_PLACE: counted.groups, json.dumps(list(name)): told}
        tables[f".{number}.arrow"] = pa.table({**values, _COUNT: counted.counts})
    for number, (argument, seen) in enumerate(state.seen.items()):
        if seen.keys is not None:
            values_seen = show_columns(seen.keys, seen.texts)
            named = values_seen.replace_schema_metadata({_SEEN: argument})
            tables[f".{_SEEN}-{number}.arrow"] = named
    return tables


def _write(state: GroupState) -> pa.Table:
    """A row for each group."""
    assert state.keys is not None
    columns = {_PLACE: pa.array(np.arange(state.count))}
    keys = show_columns(state.keys, state.texts)
    columns |= {_KEY + n: keys.column(n) for n in keys.column_names}
    for name, held in state.measures.items():
        kind = pa.string() if held.values.dtype == object else None
        columns[json.dumps(list(name))] = pa.array(held.values, kind, mask=~held.valid)
    return pa.table(columns)


def _read(
    whole: pa.Table, texts: TextTable
) -> tuple[pa.Table, dict[tuple[object, ...], GroupColumn]]:
    """The columns that groups differ in, and their numbers."""
    names = [n for n in whole.column_names if n.startswith(_KEY)]
    keys = whole.select(names).replace_schema_metadata(None)
    keys = keys.rename_columns([n[len(_KEY) :] for n in names])
    measures = {}
    for name in whole.column_names:
        if name in (_PLACE, *names):
            continue
        column = whole.column(name).combine_chunks()
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        nothing = "" if pa.types.is_string(column.type) else 0
        values = column.fill_null(nothing).to_numpy(zero_copy_only=False)
        measures[tuple(json.loads(name))] = GroupColumn(values, valid)
    return code_columns(keys, texts).combine_chunks(), measures


def to_groups(tables: Mapping[str, pa.Table]) -> GroupState:
    """The groups of tables."""
    texts, left = TextTable(), None
    if _OPEN in tables:
        found, numbers = _read(tables[_OPEN], texts)
        left = GroupState(tables[_OPEN].num_rows, found, numbers, texts=texts).settle()
    whole = tables.get(".arrow")
    if whole is None:
        return GroupState(open=left, texts=texts)
    keys, measures = _read(whole, texts)
    histograms, seen = {}, {}
    for name, table in tables.items():
        if name.startswith(f".{_SEEN}-"):
            argument = table.schema.metadata[_SEEN.encode()].decode()
            coded = code_columns(table.replace_schema_metadata(None), texts).combine_chunks()
            seen[argument] = GroupState(table.num_rows, coded, texts=texts).settle()
    for number in range(len(tables) - 1 - len(seen) - (left is not None)):
        counted = tables[f".{number}.arrow"]
        (name,) = (n for n in counted.column_names if n not in (_PLACE, _COUNT))
        places, counts = (np.array(counted.column(n).to_numpy()) for n in (_PLACE, _COUNT))
        measure, told = tuple(json.loads(name)), counted.column(name)
        values = texts.add(told) if measure[-1] == TEXTS else np.array(told.to_numpy())
        histograms[measure] = Histogram(places, values, counts)
    closed = (whole.schema.metadata or {}).get(_CLOSED.encode())
    return GroupState(
        whole.num_rows,
        keys,
        measures,
        histograms,
        np.full(whole.num_rows, LONG_AGO, dtype=np.int64),
        seen=seen,
        closed=None if closed is None else int(closed),
        open=left,
        texts=texts,
    )
