"""Solutions beside which there is no later one of something else, in SPARQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.algebra.equality_classes import (
    condition_attributes,
    map_condition,
    valued_attributes,
)
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)
from ontoweir.rewriter.standing.make_standing import make_standing
from ontoweir.rewriter.standing.standing_rows import KEY


def find_standing(
    alternatives: Sequence[Solutions], head: Sequence[str], catalog: Catalog, *, distinct: bool
) -> SpjUnion | None:
    """The query of the solutions that no later row has ended: FILTER NOT EXISTS { … } of patterns
    at any time later, which share terms with them: the key.

    None: it says something else; or what it says is of several rows at once.

    Args:
        alternatives: the solutions.
        head: the answer variables.
        catalog: the tables.
        distinct: an answer holds once, however many rows say so.
    """
    if len(alternatives) != 1 or len(alternatives[0].parts) != 1 or alternatives[0].missing:
        return None
    (one,) = alternatives
    ((hits, _, present),) = one.parts
    found = one.found
    shapes = found.ends or found.begins or found.blocks or hits.ends or hits.begins or hits.blocks
    if present or shapes or not found.disjuncts or not hits.disjuncts:
        return None
    if any(len(q.occurrences) != 1 for q in found.disjuncts):
        return None
    known = {**extend_catalog(catalog, found).streams, **extend_catalog(catalog, hits).streams}
    stamps = {name: s.timestamp for name, s in known.items()}
    ended: dict[int, dict[SpjQuery, _Hit]] = {n: {} for n in range(len(found.disjuncts))}
    for both in hits.disjuncts:
        hit = _read_hit(both, one.times, stamps)
        mine = None if hit is None else _find(found.disjuncts, both, hit, stamps)
        if hit is None or mine is None:
            return None
        ended[mine][hit.ender] = hit
    every = list(ended.values())
    inclusive = {h.inclusive for of in every for h in of.values()}
    if any(of.keys() != every[0].keys() for of in every) or len(inclusive) != 1:
        return None
    rows, size = [], 0
    for query, of in zip(found.disjuncts, every, strict=True):
        keys = {hit.own for hit in of.values()}
        if len(keys) != 1:
            return None
        (own,) = keys
        alias, size = query.occurrences[0].alias, len(own)
        outputs = tuple((n, dict(query.outputs)[n]) for n in head)
        rows.append(replace(query, outputs=(*outputs, *_key(own, alias))))
    names = tuple(f"{KEY} {n + 1}" for n in range(size))
    enders = replace(hits, variables=names, disjuncts=tuple(every[0]), distinct=False, hidden=())
    union = replace(found, variables=(*head, *names), disjuncts=tuple(rows), distinct=False)
    replaced = all(h.replaced for of in every for h in of.values()) and inclusive == {False}
    how = Standing(
        names,
        inclusive=inclusive == {True},
        replaced=replaced,
        hidden=names,
        distinct=distinct,
    )
    both_known = extend_catalog(extend_catalog(catalog, found), hits)
    return make_standing(union, enders, how, both_known)


@dataclass(frozen=True, slots=True)
class _Hit:
    """A row and a later one that ends it. `own`: the columns of the row that are the key; `ender`:
    the query of the later row's key; `inclusive`: it may be of the same time; `replaced`: the row
    is one of those that end others."""

    own: tuple[str, ...]
    ender: SpjQuery
    alias: str
    inclusive: bool
    replaced: bool


def _read_hit(both: SpjQuery, times: Sequence[str], stamps: Mapping[str, str]) -> _Hit | None:
    outputs = dict(both.outputs)
    aliases = {a.alias for n in times if n in outputs for a in output_attributes(outputs[n])}
    others = [o for o in both.occurrences if o.alias not in aliases]
    if len(both.occurrences) != 2 or len(aliases) != 1 or len(others) != 1:
        return None
    (row,), later = aliases, others[0]
    (mine,) = (o for o in both.occurrences if o.alias == row)
    if later.table not in stamps or mine.table not in stamps:
        return None
    key: dict[str, str] = {}
    order: set[Op] = set()
    for condition in both.conditions:
        if {a.alias for a in condition_attributes(condition)} != {row, later.alias}:
            continue
        sides = _as_of(condition, later.alias)
        if sides is None:
            return None
        op, left, right = sides
        timed = (left == stamps[later.table], right == stamps[mine.table])
        if timed == (True, True) and op in (Op.GT, Op.GE):
            order.add(op)
        elif timed == (False, False) and op is Op.EQ and key.get(right, left) == left:
            key[right] = left
        else:
            return None
    if len(order) != 1 or not key:
        return None
    own = tuple(sorted(key))
    ends = tuple(key[c] for c in own)
    local = [c for c in both.conditions if _aliases(c) == {later.alias}]
    first = Occurrence("ender", later.table)

    def rename(attribute: Attribute) -> Attribute:
        return Attribute(first.alias, attribute.column)

    said = dict.fromkeys(replace(map_condition(c, rename), source=None) for c in local)
    said |= dict.fromkeys(NotNull(Attribute(first.alias, c)) for c in ends)
    ender = SpjQuery((first,), tuple(said), _key(ends, first.alias))
    replaced = mine.table == later.table and own == ends
    replaced = replaced and _includes(both.conditions, row, later.alias)
    return _Hit(own, ender, row, order == {Op.GE}, replaced)


def _includes(conditions: Sequence[Condition], row: str, later: str) -> bool:
    """Whether all that is said of the later row is said of the row too."""
    mine, theirs = (_split(conditions, alias) for alias in (row, later))
    return theirs[0] <= mine[0] and theirs[1] <= mine[1]


def _split(conditions: Sequence[Condition], alias: str) -> tuple[set[str], set[Condition]]:
    """The columns of an occurrence that have a value, and its other conditions."""
    valued = {a.column for c in conditions for a in valued_attributes(c) if a.alias == alias}
    rest = {
        replace(map_condition(c, lambda a: Attribute("", a.column)), source=None)
        for c in conditions
        if not isinstance(c, NotNull) and _aliases(c) == {alias}
    }
    return valued, rest


def _aliases(condition: Condition) -> set[str]:
    return {a.alias for a in condition_attributes(condition)}


def _find(
    disjuncts: Sequence[SpjQuery], both: SpjQuery, hit: _Hit, stamps: Mapping[str, str]
) -> int | None:
    """Of which disjunct of the solutions the row of a hit is."""
    (mine,) = (o for o in both.occurrences if o.alias == hit.alias)
    said = _split(both.conditions, hit.alias)
    stamp = stamps[mine.table]
    for place, query in enumerate(disjuncts):
        alias = query.occurrences[0].alias
        if query.occurrences[0].table != mine.table:
            continue
        own = _split(query.conditions, alias)
        if own[1] == said[1] and own[0] - {stamp} <= said[0]:
            return place
    return None


def _key(columns: Sequence[str], alias: str) -> tuple[tuple[str, Output], ...]:
    return tuple(
        (f"{KEY} {n + 1}", LiteralOutput(Attribute(alias, c))) for n, c in enumerate(columns)
    )


def _as_of(condition: Condition, later: str) -> tuple[Op, str, str] | None:
    """A comparison of two rows, as one of the later row with the other."""
    if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
        return None
    left, op, right = condition.left, condition.op, condition.right
    if condition.offset:
        return None
    if left.alias != later:
        left, op, right = right, op.flipped(), left
    return op, left.column, right.column
