"""Divides answers beside which nothing came between into those that begin, meet and end."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog, FloatType
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
    IsNull,
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

_NOTHING = ConstantOutput("", is_iri=False)
"""What a query shows of which nothing is read."""
_Shown: TypeAlias = tuple[tuple[str, bool, Output], ...]
"""Variables, whether each is of the later row, and what it is."""


def split_between(
    block: Block, read: Collection[str], catalog: Catalog, *, near: bool, once: bool
) -> Between[SpjUnion] | None:
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
    if not found.disjuncts or any(part.present for part in absence.parts):
        return None
    wide = extend_catalog(catalog, found)
    made = [_find_pair(query, block.time[0], wide, near=near) for query in found.disjuncts]
    pairs = [pair for pair in made if pair is not None]
    if len(pairs) < len(made) or len({p.shape for p in pairs}) > 1:
        return None
    endings: list[tuple[SpjUnion, _Ended]] = []
    for part in absence.parts:
        inner = extend_catalog(catalog, part.hits)
        for query in part.hits.disjuncts:
            ended = _find_ended(query, pairs, inner)
            if ended is None:
                return None
            endings.append((part.hits, ended))
    names = [n for n in found.variables if n in read]
    shown = [_list_shown(pair, names) for pair in pairs]
    firsts = dict.fromkeys(
        (p.first, _of(s, later=False)) for p, s in zip(pairs, shown, strict=True)
    )
    laters = dict.fromkeys((p.later, _of(s, later=True)) for p, s in zip(pairs, shown, strict=True))
    if None in shown or len(pairs) != len(firsts) * len(laters):
        return None
    return _make(block, pairs[0], endings, (tuple(firsts), tuple(laters)), once=once)


@dataclass(frozen=True, slots=True)
class _Side:
    """A row of a stream, or several of one time, with static relations: `times`, the timestamps;
    `conditions` are of it alone."""

    times: frozenset[Attribute]
    occurrences: tuple[Occurrence, ...]
    conditions: tuple[Condition, ...]

    @property
    def aliases(self) -> set[str]:
        return {o.alias for o in self.occurrences}


_Rows: TypeAlias = tuple[_Side, tuple[tuple[str, Output], ...]]
"""One side of a disjunct, and what is read of it."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two rows, the `later` one of which meets the `first` one where `key` is equal; `own`: at its
    own timestamp, too."""

    query: SpjQuery
    first: _Side
    later: _Side
    key: tuple[tuple[Attribute, Attribute], ...]
    own: bool

    @property
    def shape(self) -> object:
        """What is alike in the disjuncts of one query."""
        sides = (self.first, self.later)
        return self.key, self.own, *((side.times, side.occurrences) for side in sides)


@dataclass(frozen=True, slots=True)
class _Ended:
    """What ends first rows: where `key`, an attribute of the first row and one of its own, is
    equal."""

    side: _Side
    key: tuple[tuple[Attribute, Attribute], ...]
    own: bool
    at_once: bool


def _find_pair(query: SpjQuery, time: str, catalog: Catalog, *, near: bool) -> _Pair | None:
    streams = _group(query, query.occurrences, catalog)
    stamp = dict(query.outputs).get(time)
    if len(streams) != 2 or not isinstance(stamp, LiteralOutput):
        return None
    streams.sort(key=lambda aliases: stamp.value.alias in aliases)
    first, later = streams
    if stamp.value.alias not in later:
        return None
    statics = {o.alias for o in query.occurrences} - first - later
    close = _reach(later if near else first, statics, query.conditions)
    rest = statics - close
    first, later = (first | rest, later | close) if near else (first | close, later | rest)
    made = [_side(query, aliases, catalog) for aliases in (first, later)]
    types = Types(catalog, query.occurrences)
    key: list[tuple[Attribute, Attribute]] = []
    order: list[bool] = []
    for condition in _across(query.conditions, made):
        pair = _as_equal(condition, made[0].aliases, types)
        if pair is not None:
            key.append(pair)
            continue
        own = _is_before(condition, made[0], made[1])
        if own is None:
            return None
        order.append(own)
    if not order:
        return None
    return _Pair(query, made[0], made[1], tuple(dict.fromkeys(key)), all(order))


def _find_ended(query: SpjQuery, pairs: Sequence[_Pair], catalog: Catalog) -> _Ended | None:
    """The rows that come between, of a query of those beside which they are."""
    pair = pairs[0]
    around = {o.alias: o for o in pair.query.occurrences}
    mine = [o for o in query.occurrences if o.alias not in around]
    streams = _group(query, mine, catalog)
    known = set.intersection(*({plain(c) for c in p.query.conditions} for p in pairs))
    if len(streams) != 1 or not set(around.values()) <= set(query.occurrences):
        return None
    side = _side(query, {o.alias for o in mine}, catalog)
    types = Types(catalog, query.occurrences)
    equal = EqualityClasses(pair.query.occurrences, pair.query.conditions)
    same = [a for pairs in pair.key for a in pairs]
    key: list[tuple[Attribute, Attribute]] = []
    after: list[bool] = []
    before: list[bool] = []
    valued: list[Attribute] = []
    for condition in query.conditions:
        aliases = {a.alias for a in condition_attributes(condition)}
        if plain(condition) in known or aliases <= side.aliases:
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
        elif (own := _is_before(condition, pair.first, side)) is not None:
            after.append(own)
        elif (own := _is_before(condition, side, pair.later)) is not None:
            before.append(own)
        else:
            return None
    there = {a for c in known for a in valued_attributes(c)}
    if not set(valued) <= there | {begun for begun, _ in key} or not (after and before):
        return None
    return _Ended(side, tuple(dict.fromkeys(key)), own=all(after), at_once=all(before))


def _list_shown(pair: _Pair, names: Sequence[str]) -> _Shown | None:
    """What is read, and whether it is of the later row (None: it is of both)."""
    outputs, shown = dict(pair.query.outputs), []
    other = {b: a for a, b in pair.key} | dict(pair.key)
    for name in names:
        for later, side in ((True, pair.later), (False, pair.first)):

            def move(attribute: Attribute, side: _Side = side) -> Attribute:
                mine = attribute.alias in side.aliases
                return attribute if mine else other.get(attribute, attribute)

            output = map_output(outputs[name], move)
            if all(a.alias in side.aliases for a in _attributes(output)):
                shown.append((name, later, output))
                break
        else:
            return None
    return tuple(shown)


def _of(shown: _Shown | None, *, later: bool) -> tuple[tuple[str, Output], ...]:
    return tuple((name, output) for name, of, output in shown or () if of == later)


def _attributes(output: Output) -> tuple[Attribute, ...]:
    return (output.value,) if isinstance(output, NullOutput) else output_attributes(output)


def _make(
    block: Block,
    pair: _Pair,
    endings: Sequence[tuple[SpjUnion, _Ended]],
    sides: tuple[Sequence[_Rows], Sequence[_Rows]],
    *,
    once: bool,
) -> Between[SpjUnion]:
    found, name = block.union, block.stream.name
    key = [f"key {n}" for n in range(len(pair.key))]
    begun: dict[str, Output] = {
        n: LiteralOutput(a) for n, (a, _) in zip(key, pair.key, strict=True)
    }
    met: dict[str, Output] = {n: LiteralOutput(b) for n, (_, b) in zip(key, pair.key, strict=True)}
    ends: list[Ending[SpjUnion]] = []
    for number, (hits, ended) in enumerate(endings):
        pairs: list[tuple[str, str]] = []
        own: dict[str, Output] = {}
        for place, (theirs, mine) in enumerate(ended.key):
            variable = f"end {number} {place}"
            begun[variable] = LiteralOutput(theirs, optional=True)
            own[variable] = LiteralOutput(mine)
            pairs.append((variable, variable))
        union = _query(hits, own, [(ended.side, ())], f"{name}, what comes between")
        ends.append(Ending(union, tuple(pairs), ended.own, ended.at_once))
    first, later = sides
    return Between(
        _query(found, met, later, f"{name}, the later rows"),
        _query(found, begun, first, f"{name}, the rows before"),
        tuple(ends),
        tuple(key),
        pair.own,
        once,
    )


def _query(
    union: SpjUnion, outputs: dict[str, Output], rows: Sequence[_Rows], name: str
) -> SpjUnion:
    """Rows of one side, each as often as there are such."""
    disjuncts = [_select(side, {**outputs, **dict(more)}) for side, more in rows]
    variables = tuple(n for n, _ in disjuncts[0].outputs)
    made = tuple(disjuncts)
    return replace(union, name=name, variables=variables, disjuncts=made, distinct=False)


def _select(side: _Side, outputs: dict[str, Output]) -> SpjQuery:
    nulls = {c.attribute for c in side.conditions if isinstance(c, IsNull)}
    shown: dict[str, Output] = {
        name: NullOutput(o.value) if isinstance(o, LiteralOutput) and o.value in nulls else o
        for name, o in (outputs or {"nothing": _NOTHING}).items()
    }
    known = {a for c in side.conditions for a in valued_attributes(c)}
    needed = [
        a
        for output in shown.values()
        for a in output_attributes(output)
        if not (isinstance(output, LiteralOutput) and output.optional)
    ]
    valued = [NotNull(a) for a in dict.fromkeys(needed) if a not in known]
    return SpjQuery(side.occurrences, (*side.conditions, *valued), tuple(shown.items()))


def _group(query: SpjQuery, occurrences: Iterable[Occurrence], catalog: Catalog) -> list[set[str]]:
    """The streams among some occurrences, those of one time together."""
    equal = EqualityClasses(query.occurrences, query.conditions)
    groups: dict[Attribute, set[str]] = {}
    for o in occurrences:
        if (stream := catalog.streams.get(o.table)) is not None:
            time = equal.find(Attribute(o.alias, stream.timestamp))
            groups.setdefault(time, set()).add(o.alias)
    return list(groups.values())


def _reach(start: set[str], statics: set[str], conditions: Sequence[Condition]) -> set[str]:
    """The static relations that conditions tie to rows, by way of others too."""
    reached, grown = set(start), True
    while grown:
        grown = False
        for condition in conditions:
            aliases = {a.alias for a in condition_attributes(condition)}
            more = (aliases & statics) - reached
            if more and aliases & reached:
                reached |= more
                grown = True
    return reached - start


def _side(query: SpjQuery, aliases: set[str], catalog: Catalog) -> _Side:
    mine = tuple(o for o in query.occurrences if o.alias in aliases)
    times = [
        Attribute(o.alias, stream.timestamp)
        for o in mine
        if (stream := catalog.streams.get(o.table)) is not None
    ]
    own = (c for c in query.conditions if {a.alias for a in condition_attributes(c)} <= aliases)
    return _Side(frozenset(times), mine, tuple(own))


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


def _is_before(condition: Condition, first: _Side, later: _Side) -> bool | None:
    """Whether a condition that says that a time is before another one lets them be equal (None: it
    says something else)."""
    if not isinstance(condition, Compare) or condition.offset != 0:
        return None
    op = condition.op
    if condition.left in later.times and condition.right in first.times:
        op = op.flipped()
    elif condition.left not in first.times or condition.right not in later.times:
        return None
    return {Op.LT: False, Op.LE: True}.get(op)


def plain(condition: Condition) -> Condition:
    """A condition, whoever wrote it."""
    return replace(condition, source=None)
