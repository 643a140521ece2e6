"""The groups of an aggregate query as tables: one of the groups, one for each median."""

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.pool.text_columns import code_columns, show_columns
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import GroupColumn, GroupState, Histogram

_KEY = "group "
"""Before the names of the columns that groups differ in."""
_PLACE, _COUNT = "place", "count"
_SEEN, _CLOSED = "seen", "closed"


def from_groups(state: GroupState) -> dict[str, pa.Table]:
    """Tables by the ends of their names. `.arrow`: a row for each group, with its place, its
    columns and its numbers; `.0.arrow`, …: a row for each value that a median counts;
    `.seen-0.arrow`, …: a row for each distinct value of an argument in a group that a bucket
    closes."""
    if not state.count:
        return {}
    assert state.keys is not None
    columns = {_PLACE: pa.array(np.arange(state.count))}
    keys = show_columns(state.keys, state.texts)
    columns |= {_KEY + n: keys.column(n) for n in keys.column_names}
    for name, held in state.measures.items():
        columns[json.dumps(list(name))] = pa.array(held.values, mask=~held.valid)
    whole = pa.table(columns)
    if state.closed is not None:
        whole = whole.replace_schema_metadata({_CLOSED: str(state.closed)})
    tables = {".arrow": whole}
    for number, (name, counted) in enumerate(state.histograms.items()):
        values = {_PLACE: counted.groups, json.dumps(list(name)): counted.values}
        tables[f".{number}.arrow"] = pa.table({**values, _COUNT: counted.counts})
    for number, (argument, seen) in enumerate(state.seen.items()):
        if seen.keys is not None:
            values_seen = show_columns(seen.keys, seen.texts)
            named = values_seen.replace_schema_metadata({_SEEN: argument})
            tables[f".{_SEEN}-{number}.arrow"] = named
    return tables


def to_groups(tables: Mapping[str, pa.Table]) -> GroupState:
    """The groups of tables."""
    whole = tables.get(".arrow")
    if whole is None:
        return GroupState()
    names = [n for n in whole.column_names if n.startswith(_KEY)]
    texts = TextTable()
    keys = whole.select(names).replace_schema_metadata(None)
    keys = keys.rename_columns([n[len(_KEY) :] for n in names])
    keys = code_columns(keys, texts).combine_chunks()
    measures, histograms = {}, {}
    for name in whole.column_names:
        if name in (_PLACE, *names):
            continue
        column = whole.column(name).combine_chunks()
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        measures[tuple(json.loads(name))] = GroupColumn(values, valid)
    seen = {}
    for name, table in tables.items():
        if name.startswith(f".{_SEEN}-"):
            argument = table.schema.metadata[_SEEN.encode()].decode()
            coded = code_columns(table.replace_schema_metadata(None), texts).combine_chunks()
            seen[argument] = GroupState(table.num_rows, coded, texts=texts).settle()
    for number in range(len(tables) - 1 - len(seen)):
        counted = tables[f".{number}.arrow"]
        (name,) = (n for n in counted.column_names if n not in (_PLACE, _COUNT))
        places, values, counts = (
            np.array(counted.column(n).to_numpy()) for n in (_PLACE, name, _COUNT)
        )
        histograms[tuple(json.loads(name))] = Histogram(places, values, counts)
    told = (whole.schema.metadata or {}).get(_CLOSED.encode())
    return GroupState(
        whole.num_rows,
        keys,
        measures,
        histograms,
        np.full(whole.num_rows, LONG_AGO, dtype=np.int64),
        seen=seen,
        closed=None if told is None else int(told),
        texts=texts,
    )
