"""Divides answers beside which nothing came between into those that begin, meet and end."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog, FloatType, Stream
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    condition_attributes,
    map_output,
    valued_attributes,
)
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Between, Ending
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Compare,
    Condition,
    ConstantOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)

_NOTHING = ConstantOutput("", is_iri=False)
"""What a query shows of which nothing is read."""


def split_between(
    block: Block, read: Collection[str], catalog: Catalog, *, near: bool, once: bool
) -> Between | None:
    """The rows of one stream that meet those of another one before them, unless rows of others came
    between: all of a key, whatever they compare by time alone (None: the answers are not of this
    kind).

    Args:
        block: answers and what must be absent beside them.
        read: the columns of the answers that are read.
        catalog: the tables.
        near: static relations that are joined with both rows are of the later one.
        once: how many equal answers there are does not matter.
    """
    found, absence = block.union, block.absence
    if absence is None or block.time is None or block.time[1] != 0 or absence.held:
        return None
    unions = [found, *(part.hits for part in absence.parts)]
    if any(u.blocks or u.ends or u.begins or u.aggregation or u.statics for u in unions):
        return None
    if len(found.disjuncts) != 1 or any(part.present for part in absence.parts):
        return None
    wide = extend_catalog(catalog, found)
    pair = _find_pair(found.disjuncts[0], block.time[0], wide, near=near)
    if pair is None:
        return None
    endings: list[tuple[SpjUnion, _Ended]] = []
    for part in absence.parts:
        inner = extend_catalog(catalog, part.hits)
        for query in part.hits.disjuncts:
            ended = _find_ended(query, pair, inner)
            if ended is None:
                return None
            endings.append((part.hits, ended))
    shown = _list_shown(pair, [n for n in read if n in found.variables])
    if shown is None:
        return None
    return _make(block, pair, endings, shown, once=once)


@dataclass(frozen=True, slots=True)
class _Side:
    """A row of a stream, with static relations: `conditions` are of it alone."""

    time: Attribute
    occurrences: tuple[Occurrence, ...]
    conditions: tuple[Condition, ...]

    @property
    def aliases(self) -> set[str]:
        return {o.alias for o in self.occurrences}


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two rows, the `later` one of which meets the `first` one where `key` is equal; `own`: at its
    own timestamp, too."""

    query: SpjQuery
    first: _Side
    later: _Side
    key: tuple[tuple[Attribute, Attribute], ...]
    own: bool


@dataclass(frozen=True, slots=True)
class _Ended:
    """What ends first rows: where `key`, an attribute of the first row and one of its own, is
    equal."""

    side: _Side
    key: tuple[tuple[Attribute, Attribute], ...]
    own: bool
    at_once: bool


def _find_pair(query: SpjQuery, time: str, catalog: Catalog, *, near: bool) -> _Pair | None:
    streams = _streams(query.occurrences, catalog)
    stamp = dict(query.outputs).get(time)
    if len(streams) != 2 or not isinstance(stamp, LiteralOutput):
        return None
    if stamp.value.alias not in streams:
        return None
    (other,) = set(streams) - {stamp.value.alias}
    first, later = streams[other], streams[stamp.value.alias]
    statics = [o for o in query.occurrences if o.alias not in streams]
    of = later.alias if near else first.alias
    close = _reach(of, statics, query.conditions)
    sides = {first.alias: {first.alias}, later.alias: {later.alias}}
    sides[of] |= close
    sides[({first.alias, later.alias} - {of}).pop()] |= {o.alias for o in statics} - close
    made = [_side(query, alias, sides[alias], catalog) for alias in (first.alias, later.alias)]
    types = Types(catalog, query.occurrences)
    key: list[tuple[Attribute, Attribute]] = []
    order: list[bool] = []
    for condition in _across(query.conditions, made):
        pair = _as_equal(condition, made[0].aliases, types)
        if pair is not None:
            key.append(pair)
            continue
        own = _is_before(condition, made[0].time, made[1].time)
        if own is None:
            return None
        order.append(own)
    if not order:
        return None
    return _Pair(query, made[0], made[1], tuple(dict.fromkeys(key)), all(order))


def _find_ended(query: SpjQuery, pair: _Pair, catalog: Catalog) -> _Ended | None:
    """The rows that come between, of a query of those beside which they are."""
    around = {o.alias: o for o in pair.query.occurrences}
    mine = [o for o in query.occurrences if o.alias not in around]
    streams = _streams(mine, catalog)
    known = {_plain(c) for c in pair.query.conditions}
    if len(streams) != 1 or not set(around.values()) <= set(query.occurrences):
        return None
    if not known <= {_plain(c) for c in query.conditions}:
        return None
    (alias,) = streams
    side = _side(query, alias, {o.alias for o in mine}, catalog)
    types = Types(catalog, query.occurrences)
    equal = EqualityClasses(pair.query.occurrences, pair.query.conditions)
    same = [a for pairs in pair.key for a in pairs]
    key: list[tuple[Attribute, Attribute]] = []
    after: list[bool] = []
    before: list[bool] = []
    valued: list[Attribute] = []
    for condition in query.conditions:
        aliases = {a.alias for a in condition_attributes(condition)}
        if _plain(condition) in known or aliases <= side.aliases:
            continue
        if isinstance(condition, NotNull):
            valued.append(condition.attribute)
        elif (one := _as_equal(condition, set(around), types)) is not None:
            begun = next(
                (
                    a
                    for a in (one[0], *same)
                    if a.alias in pair.first.aliases and equal.find(a) == equal.find(one[0])
                ),
                None,
            )
            if begun is None:
                return None
            key.append((begun, one[1]))
        elif (own := _is_before(condition, pair.first.time, side.time)) is not None:
            after.append(own)
        elif (own := _is_before(condition, side.time, pair.later.time)) is not None:
            before.append(own)
        else:
            return None
    there = {a for c in pair.query.conditions for a in valued_attributes(c)}
    if not set(valued) <= there | {begun for begun, _ in key} or not (after and before):
        return None
    return _Ended(side, tuple(dict.fromkeys(key)), own=all(after), at_once=all(before))


def _list_shown(pair: _Pair, names: Sequence[str]) -> dict[str, tuple[bool, Output]] | None:
    """What is read, and whether it is of the later row (None: it is of both)."""
    outputs, shown = dict(pair.query.outputs), {}
    other = dict(reversed(both) for both in pair.key) | dict(pair.key)

    for name in names:
        for later, side in ((True, pair.later), (False, pair.first)):

            def move(attribute: Attribute, side: _Side = side) -> Attribute:
                mine = attribute.alias in side.aliases
                return attribute if mine else other.get(attribute, attribute)

            output = map_output(outputs[name], move)
            if all(a.alias in side.aliases for a in output_attributes(output)):
                shown[name] = later, output
                break
        else:
            return None
    return shown


def _make(
    block: Block,
    pair: _Pair,
    endings: Sequence[tuple[SpjUnion, _Ended]],
    shown: dict[str, tuple[bool, Output]],
    *,
    once: bool,
) -> Between:
    found, name = block.union, block.stream.name
    key = [f"key {n}" for n in range(len(pair.key))]
    begun: dict[str, Output] = {n: LiteralOutput(a) for n, (a, _) in zip(key, pair.key, strict=True)}
    met: dict[str, Output] = {n: LiteralOutput(b) for n, (_, b) in zip(key, pair.key, strict=True)}
    ends: list[Ending] = []
    for number, (hits, ended) in enumerate(endings):
        pairs, own = [], {}
        for place, (first, mine) in enumerate(ended.key):
            variable = f"end {number} {place}"
            begun[variable] = LiteralOutput(first, optional=True)
            own[variable] = LiteralOutput(mine)
            pairs.append((variable, variable))
        union = _query(hits, ended.side, own, f"{name}, what comes between")
        ends.append(Ending(union, tuple(pairs), ended.own, ended.at_once))
    begun |= {n: output for n, (later, output) in shown.items() if not later}
    met |= {n: output for n, (later, output) in shown.items() if later}
    return Between(
        _query(found, pair.later, met, f"{name}, the later rows"),
        _query(found, pair.first, begun, f"{name}, the rows before"),
        tuple(ends),
        tuple(key),
        pair.own,
        once,
    )


def _query(union: SpjUnion, side: _Side, outputs: dict[str, Output], name: str) -> SpjUnion:
    """The rows of one side, each as often as there are such."""
    shown: dict[str, Output] = outputs or {"nothing": _NOTHING}
    known = {a for c in side.conditions for a in valued_attributes(c)}
    needed = [
        a
        for output in shown.values()
        for a in output_attributes(output)
        if not (isinstance(output, LiteralOutput) and output.optional)
    ]
    valued = [NotNull(a) for a in dict.fromkeys(needed) if a not in known]
    query = SpjQuery(side.occurrences, (*side.conditions, *valued), tuple(shown.items()))
    return replace(union, name=name, variables=tuple(shown), disjuncts=(query,), distinct=False)


def _streams(occurrences: Iterable[Occurrence], catalog: Catalog) -> dict[str, Occurrence]:
    return {o.alias: o for o in occurrences if o.table in catalog.streams}


def _reach(
    alias: str, statics: Sequence[Occurrence], conditions: Sequence[Condition]
) -> set[str]:
    """The static relations that conditions tie to a row, by way of others too."""
    free, reached, grown = {o.alias for o in statics}, {alias}, True
    while grown:
        grown = False
        for condition in conditions:
            aliases = {a.alias for a in condition_attributes(condition)}
            more = (aliases & free) - reached
            if more and aliases & reached:
                reached |= more
                grown = True
    return reached - {alias}


def _side(query: SpjQuery, alias: str, aliases: set[str], catalog: Catalog) -> _Side:
    (occurrence,) = (o for o in query.occurrences if o.alias == alias)
    stream = catalog.streams[occurrence.table]
    assert isinstance(stream, Stream)
    own = (c for c in query.conditions if {a.alias for a in condition_attributes(c)} <= aliases)
    return _Side(
        Attribute(alias, stream.timestamp),
        tuple(o for o in query.occurrences if o.alias in aliases),
        tuple(own),
    )


def _across(conditions: Sequence[Condition], sides: Sequence[_Side]) -> list[Condition]:
    """The conditions that are of no side alone."""
    return [
        c
        for c in conditions
        if not any({a.alias for a in condition_attributes(c)} <= s.aliases for s in sides)
    ]


def _as_equal(
    condition: Condition, first: set[str], types: Types
) -> tuple[Attribute, Attribute] | None:
    """Two attributes that are equal, that of the `first` aliases first (None: it is another
    condition, or one of times, or of doubles, which are not told apart by what they are)."""
    if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
        return None
    if condition.op is not Op.EQ or condition.offset != 0:
        return None
    one, other = condition.left, condition.right
    kinds = types.type_of(one), types.type_of(other)
    if kinds[0] != kinds[1] or isinstance(kinds[0], FloatType):
        return None
    if any(types.step_of(a) is not None for a in (one, other)):
        return None
    if (one.alias in first) == (other.alias in first):
        return None
    return (one, other) if one.alias in first else (other, one)


def _is_before(condition: Condition, first: Attribute, later: Attribute) -> bool | None:
    """Whether a condition that says that a time is before another one lets them be equal (None: it
    says something else)."""
    if not isinstance(condition, Compare) or condition.offset != 0:
        return None
    op = condition.op
    if (condition.left, condition.right) == (later, first):
        op = op.flipped()
    elif (condition.left, condition.right) != (first, later):
        return None
    return {Op.LT: False, Op.LE: True}.get(op)


def _plain(condition: Condition) -> Condition:
    return replace(condition, source=None)
