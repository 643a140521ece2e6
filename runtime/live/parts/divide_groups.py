"""The groups of an aggregate query divided into another number of parts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import UsageError
from ontoweir.mappings.model.catalog import IntType, Stream, StringType
from ontoweir.rewriter.model.spj import Attribute, IriOutput, LiteralOutput, NullOutput, Output
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.division.find_divider import find_divider
from ontoweir.runtime.engine.close_groups import select_groups
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.pool.rank_texts import no_values
from ontoweir.runtime.pool.text_columns import code_columns, show_columns
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import ADDED, GroupColumn, GroupState, Histogram
from ontoweir.runtime.results.measures import TEXTS, Measure

Name = TypeVar("Name")

_RESERVED = frozenset(":/?#[]@!$&'()*+,;=")
_VALUE = r"[^:/?#\[\]@!$&'()*+,;=]*"
"""A value in a template."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A variable of groups that tells the value by which rows are divided: that of a column of a
    stream; `pattern`: where it is in a template, as the group `value` (None: it is alone)."""

    variable: str
    stream: Stream
    column: str
    pattern: str | None = None

    def read(self, terms: "pa.ChunkedArray") -> "pa.ChunkedArray":
        """The values that terms tell.

        Raises:
            pa.ArrowInvalid: they are no such values.
        """
        declared = self.stream.column(self.column)
        assert declared is not None
        if self.pattern is not None:
            nulls = terms.null_count
            found = pc.extract_regex(terms.cast(pa.string()), self.pattern)
            terms = pc.struct_field(found, [0])
            if terms.null_count > nulls:
                raise pa.ArrowInvalid("a group is not as its template says")
            if isinstance(declared.type, StringType):
                values = [None if t is None else unquote(t) for t in terms.to_pylist()]
                terms = pa.chunked_array([pa.array(values, pa.string())])
        return terms.cast(arrow_type(declared.type))


def divide_groups(
    query: RunningQuery, states: Sequence[GroupState], division: Division | None
) -> list[GroupState]:
    """The groups of the new parts.

    Args:
        query: whose groups they are.
        states: of all parts that there are, or of the query.
        division: into which parts (None: one, all of them).

    Raises:
        UsageError: no column of the groups tells the value by which rows are divided.
    """
    there = [state for state in states if state.count]
    if not there:
        return [GroupState() for _ in range(1 if division is None else division.parts)]
    united = _unite(there, TextTable())
    if division is None:
        return [united]
    assert united.keys is not None
    told = _find_told(query, division)
    try:
        if told is None:
            raise pa.ArrowInvalid("no column of its groups tells in which part they are")
        shown = show_columns(united.keys.select([told.variable]), united.texts)
        place = division.place(told.stream, told.read(shown.column(0))).astype(np.int64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UsageError(
            f"the groups of {query.name} cannot be divided anew",
            why=str(error).splitlines()[0],
            fix="go on with the parts that there are (leave out --parts), or start with a new "
            "checkpoint and replay what has passed",
        ) from error
    chosen = [np.flatnonzero(place == part) for part in range(division.parts)]
    return [select_groups(united, mine) if len(mine) else GroupState() for mine in chosen]


def _find_told(query: RunningQuery, division: Division) -> _Told | None:
    """What tells the value by which rows are divided, the same in all plans."""
    aggregates = query.work.aggregates
    assert aggregates is not None
    for variable in aggregates.aggregation.group:
        told, null = [], 0
        for prepared in query.plans:
            if _is_null(prepared, variable, division, query.work):
                null += 1
            elif (one := _read_told(prepared, variable, division, query.work)) is not None:
                told.append(one)
        forms = {one.pattern for one in told}
        if len(forms) == 1 and len(told) + null == len(query.plans):
            return told[0]
    return None


def _is_null(
    prepared: PreparedPlan, variable: str, division: Division, work: ExecutionContext
) -> bool:
    """Whether a plan is of rows without the value by which they are divided, which are in the first
    part, and a variable says so."""
    form = prepared.plan.form
    match dict(form.query.outputs).get(variable):
        case NullOutput(value=attribute):
            return find_stream(prepared, attribute, division, work) is not None
        case _:
            return False


def _read_told(
    prepared: PreparedPlan, variable: str, division: Division, work: ExecutionContext
) -> _Told | None:
    """What a variable of a plan tells of the value by which its rows are divided, if it does."""
    form = prepared.plan.form
    outputs: Mapping[str, Output] = dict(form.query.outputs)
    match outputs.get(variable):
        case LiteralOutput(value=attribute):
            told: dict[Attribute, str | None] = {attribute: None}
        case IriOutput(parts=parts):
            told = dict(_find_patterns(parts))
        case _:
            return None
    for attribute, pattern in told.items():
        stream = _find_value(prepared, attribute, division, work)
        if stream is None:
            continue
        column = division.columns[stream.name]
        declared = stream.column(column)
        plain = declared is not None and isinstance(declared.type, IntType | StringType)
        if pattern is None or plain:
            return _Told(variable, stream, column, pattern)
    return None


def _find_value(
    prepared: PreparedPlan, attribute: Attribute, division: Division, work: ExecutionContext
) -> Stream | None:
    """A stream that is divided by the value that an attribute has, as others of its class do."""
    form = prepared.plan.form
    index = form.class_of.get(attribute)
    if index is None:
        return None
    shifts = dict(form.classes[index].attributes)
    for other, shift in shifts.items():
        if shift == shifts[attribute]:
            stream = find_stream(prepared, other, division, work)
            if stream is not None:
                return stream
    return None


def find_stream(
    prepared: PreparedPlan, attribute: Attribute, division: Division, work: ExecutionContext
) -> Stream | None:
    """The stream that is divided by an attribute of a plan, which may be a view's (None: none)."""
    tables = {m.alias: m.stream for m in prepared.plan.form.members}
    table = tables.get(attribute.alias)
    if table is None:
        return None
    return find_divider(division, work.catalog, work.views, table, attribute.column)


def _find_patterns(parts: Sequence[str | Attribute]) -> Iterable[tuple[Attribute, str]]:
    """The attributes of a template, each with the pattern that finds its value: values are written
    without the reserved characters (R2RML, 7.3), so one of these between any two tells where each
    ends."""
    pieces: list[str] = []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            pieces.append(re.escape(part))
            continue
        before = parts[number - 1] if number else ""
        apart = isinstance(before, str) and (len(pieces) < 2 or bool(set(before) & _RESERVED))
        if not number or not apart:
            return
        pieces.append(_VALUE)
    for number, part in enumerate(parts):
        if not isinstance(part, str):
            mine = f"(?P<value>{_VALUE})"
            yield part, "".join(["\\A", *pieces[:number], mine, *pieces[number + 1 :], "\\z"])


def _unite(states: Sequence[GroupState], texts: TextTable) -> GroupState:
    """The groups of several states, none of which is in two, as those of one, with their texts
    in a table."""
    counts = [state.count for state in states]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    tables = [
        code_columns(show_columns(s.keys, s.texts), texts) for s in states if s.keys is not None
    ]
    return GroupState(
        sum(counts),
        pa.concat_tables(tables).combine_chunks(),
        {name: _unite_measure(states, name) for name in _list_names(s.measures for s in states)},
        {
            name: _unite_histograms(states, name, starts, texts)
            for name in _list_names(s.histograms for s in states)
        },
        np.concatenate([state.changed for state in states]),
        seen={
            name: _unite([s.seen[name] for s in states if _has_seen(s, name)], texts)
            for name in _list_names(s.seen for s in states)
            if any(_has_seen(s, name) for s in states)
        },
        closed=max((s.closed for s in states if s.closed is not None), default=None),
        texts=texts,
    )


def _has_seen(state: GroupState, name: str) -> bool:
    return name in state.seen and state.seen[name].keys is not None


def _list_names(held: Iterable[Mapping[Name, object]]) -> list[Name]:
    """The names of all, each once."""
    return list(dict.fromkeys(name for names in held for name in names))


def _unite_measure(states: Sequence[GroupState], name: Measure) -> GroupColumn:
    """A measure, also of groups of which nothing is known of it."""
    kind = next(s.measures[name].values.dtype for s in states if name in s.measures)
    columns = [
        s.measures[name]
        if name in s.measures
        else GroupColumn(no_values(s.count, kind), np.full(s.count, name[0] in ADDED))
        for s in states
    ]
    values = np.concatenate([column.values for column in columns])
    return GroupColumn(values, np.concatenate([column.valid for column in columns]))


def _unite_histograms(
    states: Sequence[GroupState], name: Measure, starts: Array, texts: TextTable
) -> Histogram:
    """What a median counts."""
    groups, values, counts = [], [], []
    for state, start in zip(states, starts.tolist(), strict=True):
        held = state.histograms.get(name)
        if held is None:
            continue
        groups.append(held.groups + start)
        told = texts.add(state.texts.take(held.values)) if name[-1] == TEXTS else held.values
        values.append(told)
        counts.append(held.counts)
    return Histogram(np.concatenate(groups), np.concatenate(values), np.concatenate(counts))
