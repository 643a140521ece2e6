"""The rule of a stream by which the groups of an aggregate query are final: no further row with
their values comes ([B]; arrival rules in docs/theory.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ClosingRule,
    Stream,
    TimestampType,
)
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types, map_output
from ontoweir.rewriter.event_times.bound_times import TimeSpan, bound_times
from ontoweir.rewriter.event_times.read_cut import read_cut
from ontoweir.rewriter.model.aggregation import (
    Aggregate,
    AggregateFunction,
    ClosedValues,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)

WATCHED = "watched"
"""The alias of the rows that are watched, and the name of what counts them."""


@dataclass(frozen=True, slots=True)
class ClosedGroups:
    """A group is final when its values of `variables` are closed, and all that may still match is
    over.

    `queries`: of every disjunct, where they come from; `watch`: the rows that say when values are
    closed, by `variables`: all of the stream that have values; of a rule by `ends`, those that are
    the last ones.
    """

    variables: tuple[str, ...]
    queries: tuple[ClosedValues, ...]
    watch: SpjUnion

    @property
    def rule(self) -> ClosingRule:
        """What is declared."""
        return self.queries[0].rule


def find_closed_groups(
    union: SpjUnion, catalog: Catalog, *, spans: bool | None = None, keys: bool | None = None
) -> Iterator[ClosedGroups]:
    """What closes the groups of a query whose rows have no end: rules of one stream whose columns
    the group shows, in all disjuncts as the same terms.

    Args:
        union: an aggregate query.
        catalog: with its views and buckets (`extend_catalog`).
        spans: only rules by a span, or only others (None: both).
        keys: only those of these that a key says, or only others (None: both).
    """
    assert union.aggregation is not None
    if not union.disjuncts:
        return
    if union.aggregation.session_us is not None:
        if spans is not True:
            yield _find_session(union, union.aggregation.session_us, catalog)
        return
    if union.ends or union.aggregation.panes is not None:
        return
    first = union.disjuncts[0]
    rules = {
        (stream.name, rule): None
        for o in first.occurrences
        if (stream := catalog.streams.get(o.table)) is not None
        for rule in list_closing(stream)
        if spans in (None, rule.span_us is not None) and keys in (None, rule.of_key)
    }
    if spans is not False and keys is not True:
        yield from _find_timed(union, catalog)
    for name, rule in rules:
        stream = catalog.streams[name]
        group = union.aggregation.group
        places = [_find_place(q, group, stream, rule, catalog) for q in union.disjuncts]
        known = [place for place in places if place is not None]
        if len(known) < len(places) or len({shown for _, shown in known}) != 1:
            continue
        shown = known[0][1]
        yield ClosedGroups(
            tuple(variable for variable, _ in shown),
            tuple(ClosedValues(name, rule, alias) for alias, _ in known),
            _watch(union, stream, rule, shown),
        )


def _find_session(union: SpjUnion, gap_us: int, catalog: Catalog) -> ClosedGroups:
    """What closes the sessions of a query: a gap between the rows that are its matches.

    Raises:
        QueryError: matches are of rows of several streams, or of answers.
    """
    assert union.aggregation is not None
    keys, panes = union.aggregation.group, union.aggregation.panes
    queries, watches = [], []
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        streams = [o for o in query.occurrences if o.table in catalog.streams]
        read = {a for v in keys for a in _read_attributes(outputs[v])}
        mine = [a.column for a in read if a.alias == streams[0].alias] if streams else []
        if len(streams) != 1 or union.ends or panes is not None:
            raise QueryError(
                "sessions beside rows of another stream, NOW() or buckets that overlap",
                why="a session is a run of rows of one stream, and of the time of these",
                fix="make sessions of the rows of one stream, joined with static relations; in "
                "SQL, of matches of several streams' rows, by the time of the last one",
                source=union.source,
            )
        rule = ClosingRule(tuple(sorted(mine)), gap_us=gap_us, session=True)
        queries.append(ClosedValues(streams[0].table, rule, streams[0].alias, keys=keys))
        shown = tuple((v, outputs[v]) for v in keys)
        watches.append(SpjQuery(query.occurrences, query.conditions, shown, query.provenance))
    watch = SpjUnion(
        name=union.name,
        variables=keys,
        disjuncts=tuple(watches),
        distinct=False,
        source=union.source,
    )
    return ClosedGroups(keys, tuple(queries), watch)


def _read_attributes(output: Output) -> tuple[Attribute, ...]:
    """The attributes of a term, also of one that is NULL."""
    return (output.value,) if isinstance(output, NullOutput) else output_attributes(output)


def list_closing(stream: Stream) -> tuple[ClosingRule, ...]:
    """The rules that close values of a stream, by a span those of rows that agree on columns, as
    two rows with one key do not."""
    keys = (
        ClosingRule(key, span_us=0, source=stream.source, of_key=True)
        for key in stream.keys
        if key and stream.timestamp not in key
    )
    spans = (
        ClosingRule(
            lag.columns,
            span_us=lag.within_us,
            source=lag.source,
            width_us=stream.grid_us if set(lag.columns) <= {*stream.present} else None,
        )
        for lag in stream.lags
        if lag.behind == stream.name and lag.columns == lag.to
    )
    plain = (*stream.closing, *spans, *keys)
    return (*plain, *(made for rule in plain for made in _round_times(stream, rule)))


def _round_times(stream: Stream, rule: ClosingRule) -> Iterator[ClosingRule]:
    """What follows for the days, hours, … of a time, if a row of the stream comes within a span
    after it: a row of a day comes so long after its end, at most."""
    if rule.span_us is None or len(rule.columns) != 1 or rule.columns[0] not in stream.present:
        return
    for column in stream.columns:
        if (cut := read_cut(column)) is not None and cut[0] == rule.columns[0]:
            _, least, most = cut
            span_us = rule.span_us + most
            yield replace(rule, columns=(column.name,), span_us=span_us, width_us=least)


def _find_timed(union: SpjUnion, catalog: Catalog) -> Iterator[ClosedGroups]:
    """What closes the groups by a time of a row, or the day of it, that is not its timestamp, where
    the query says how far from that it lies."""
    assert union.aggregation is not None
    for variable in union.aggregation.group:
        found = [_find_time(query, variable, union, catalog) for query in union.disjuncts]
        known = [one for one in found if one is not None]
        places = {(stream, column) for _, stream, column, *_ in known}
        if len(known) < len(found) or len(places) != 1:
            continue
        ((stream, column),) = places
        _, _, _, least, most, _ = known[0]
        behind = max(span.behind_us for *_, span in known)
        ahead = max(span.ahead_us for *_, span in known)
        rule = ClosingRule((column,), span_us=max(0, behind + ahead), implied=True)
        if least:  # the time itself says when it is over
            span = max(0, behind + most)
            rule = replace(rule, span_us=span, width_us=least, ahead_us=max(0, ahead))
        watch = tuple(
            SpjQuery(q.occurrences, q.conditions, ((variable, dict(q.outputs)[variable]),))
            for q in union.disjuncts
        )
        yield ClosedGroups(
            (variable,),
            tuple(ClosedValues(stream, rule, alias) for alias, *_ in known),
            SpjUnion(union.name, (variable,), watch, distinct=False, source=union.source),
        )


def _find_time(
    query: SpjQuery, variable: str, union: SpjUnion, catalog: Catalog
) -> tuple[str, str, str, int, int, TimeSpan] | None:
    """Of which row of which stream a group's time is, what column, cut to units of what length (0:
    it is not), and how far from the timestamp it lies (None: it is none, or any time)."""
    streams = [o for o in query.occurrences if o.table in catalog.streams]
    output = dict(query.outputs)[variable]
    if len(streams) != 1 or not isinstance(output, LiteralOutput):
        return None
    stream = catalog.streams[streams[0].table]
    if output.value.alias != streams[0].alias or stream.versions is not None:
        return None
    column = stream.column(output.value.column)
    if column is None or column.bucket is not None:
        return None
    plain = isinstance(column.type, TimestampType) and column.expression is None
    cut = (column.name, 0, 0) if plain else read_cut(column)
    if cut is None or cut[0] == stream.timestamp:
        return None
    span = bound_times(query, streams[0].alias, cut[0], catalog, union.blocks)
    if span is None:
        return None
    return streams[0].alias, stream.name, column.name, cut[1], cut[2], span


_Shown = tuple[tuple[str, Output], ...]


def _find_place(
    query: SpjQuery, group: tuple[str, ...], stream: Stream, rule: ClosingRule, catalog: Catalog
) -> tuple[str, _Shown] | None:
    """Which occurrence of a stream has the columns of a rule that the group shows, and how: as
    terms of watched rows (None: none)."""
    outputs, types = dict(query.outputs), Types(catalog, query.occurrences)
    classes = EqualityClasses(query.occurrences, query.conditions)

    def tells(output: Output, attribute: Attribute) -> bool:
        """Whether terms are made of an attribute's values alone, so that they tell these apart;
        where values are compared by order, whether they are these."""
        if rule.is_order and not isinstance(output, LiteralOutput):
            return False
        made = () if isinstance(output, NullOutput) else output_attributes(output)
        return len(made) == 1 and (
            made[0] == attribute
            or (
                classes.same(made[0], attribute)
                and types.type_of(made[0]) == types.type_of(attribute)
            )
        )

    for occurrence in query.occurrences:
        if occurrence.table != stream.name:
            continue
        found = []
        for column in rule.columns:
            one = Attribute(occurrence.alias, column)
            named = next((v for v in group if tells(outputs[v], one)), None)
            if named is None:
                break
            found.append((named, _rename(outputs[named], Attribute(WATCHED, column))))
        else:
            return occurrence.alias, tuple(found)
    return None


def _rename(output: Output, to: Attribute) -> Output:
    """A term that is made of another attribute."""
    return map_output(output, lambda _: to)


def _watch(union: SpjUnion, stream: Stream, rule: ClosingRule, shown: _Shown) -> SpjUnion:
    """The rows that say when values are closed."""
    conditions: list[Condition] = [NotNull(Attribute(WATCHED, c)) for c in rule.columns]
    if rule.ends is not None:
        column = stream.column(rule.ends)
        assert column is not None
        assert isinstance(column.type, BooleanType)  # read_closing saw to it
        conditions.append(Compare(Attribute(WATCHED, rule.ends), Op.EQ, Constant(value=True)))
    query = SpjQuery(
        occurrences=(Occurrence(WATCHED, stream.name),),
        conditions=tuple(conditions),
        outputs=tuple(dict(shown).items()),
    )
    return SpjUnion(
        name=union.name,
        variables=tuple(dict(shown)),
        disjuncts=(query,),
        distinct=False,
        source=union.source,
    )


def watching() -> Aggregate:
    """What counts watched rows; it is not shown."""
    return Aggregate(WATCHED, AggregateFunction.COUNT, None)
