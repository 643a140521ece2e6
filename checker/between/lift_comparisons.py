"""What rows and those before them are compared by, asked of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ontoweir.checker.between.split_between import plain
from ontoweir.mappings.model.catalog import Catalog, Column, ColumnType
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    condition_attributes,
)
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    Absence,
    Attribute,
    Block,
    Compare,
    Condition,
    LiteralOutput,
    NotNull,
    Op,
    SpjQuery,
    SpjUnion,
)


def read_compared(union: SpjUnion, blocks: Sequence[Block]) -> SpjUnion:
    """A query as it reads blocks that have been decided: it compares what they do not any more.

    Args:
        union: as it was, with its own blocks.
        blocks: those, as they are now.
    """
    compared = {b.stream.name: b.compared for b in blocks if b.compared}
    if not compared:
        return union
    made = tuple(_compare(q, compared) for q in union.disjuncts)
    return replace(union, disjuncts=made, blocks=tuple(blocks))


def _compare(query: SpjQuery, compared: Mapping[str, Sequence[Compare]]) -> SpjQuery:
    more = [_move(c, o.alias) for o in query.occurrences for c in compared.get(o.table, ())]
    return replace(query, conditions=(*query.conditions, *more)) if more else query


def lift_comparisons(block: Block, catalog: Catalog) -> Block | None:
    """The answers beside which something is absent without the comparisons of values of rows of
    different times, and without what says how long before one a row is at least, which are columns
    of them instead: an answer that is left out by such a comparison is so whatever is beside it.

    Args:
        block: the answers; as many as there are, not each once.
        catalog: the tables.

    Returns:
        None: nothing is compared so, or not the same in all disjuncts.
    """
    found, absence = block.union, block.absence
    if absence is None or not found.disjuncts:
        return None
    wide = extend_catalog(catalog, found)
    lifted = [_list_across(query, wide) for query in found.disjuncts]
    buckets = dict.fromkeys(b for one in lifted for c in one for b in c.buckets)
    found = replace(found, buckets=tuple(dict.fromkeys((*found.buckets, *buckets))))
    wide = extend_catalog(catalog, found)
    every = [
        [c.typed(Types(wide, q.occurrences)) for c in one]
        for one, q in zip(lifted, found.disjuncts, strict=True)
    ]
    if not every[0] or any(other != every[0] for other in every):
        return None
    names = _name_columns(block, len(every[0]))
    columns, compared = list[Column](), list[Compare]()
    for pair, (op, offset, *kinds) in zip(names, every[0], strict=True):
        columns += (Column(name, kind) for name, kind in zip(pair, kinds, strict=True))
        left, right = (Attribute("", name) for name in pair)
        compared.append(Compare(left, op, right, offset))
    shown = [_show(q, one, names) for q, one in zip(found.disjuncts, lifted, strict=True)]
    variables = (*found.variables, *(n for pair in names for n in pair))
    gone = {plain(c.said): c.left for one in lifted for c in one}
    parts = tuple(
        replace(p, hits=replace(p.hits, disjuncts=tuple(_leave(q, gone) for q in p.hits.disjuncts)))
        for p in absence.parts
    )
    return replace(
        block,
        stream=replace(block.stream, columns=(*block.stream.columns, *columns)),
        union=replace(found, disjuncts=tuple(shown), variables=variables),
        absence=Absence(absence.keys, parts, absence.held),
        compared=tuple(compared),
    )


@dataclass(frozen=True, slots=True)
class _Across:
    """A condition of an answer; what it compares, as values; and what is left of it, conditions
    of rows, and of their order."""

    said: Compare
    values: Compare
    left: tuple[Condition, ...]
    buckets: tuple[tuple[str, Column], ...] = ()

    def typed(self, types: Types) -> tuple[Op, int | Decimal, ColumnType, ColumnType]:
        one, other = map(types.type_of, condition_attributes(self.values))
        return self.values.op, self.values.offset, one, other


def _list_across(query: SpjQuery, catalog: Catalog) -> list[_Across]:
    """The comparisons of rows of different times, other than equations of what is told apart by
    what it is, and than their order."""
    equal = EqualityClasses(query.occurrences, query.conditions)
    tables = {o.alias: o.table for o in query.occurrences}
    times = {
        alias: equal.find(Attribute(alias, stream.timestamp))
        for alias, table in tables.items()
        if (stream := catalog.streams.get(table)) is not None
    }
    types = Types(catalog, query.occurrences)
    found = list[_Across]()
    for condition in query.conditions:
        if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
            continue
        one, other = times.get(condition.left.alias), times.get(condition.right.alias)
        if one is None or other is None or one == other:
            continue
        steps = types.step_of(condition.left), types.step_of(condition.right)
        if steps == (None, None):
            if condition.op is not Op.EQ or condition.offset != 0:
                valued = tuple(map(NotNull, condition_attributes(condition)))
                found.append(_Across(condition, condition, valued))
        elif steps[0] == steps[1] and condition.offset != 0:
            across = _read_gap(condition, tables, steps[0] or 1)
            if across is None:
                return []
            found.append(across)
    return found


def _read_gap(condition: Compare, tables: Mapping[str, str], step_us: int) -> _Across | None:
    """Two times that are so long apart, at least (None: at most, which limits what is kept)."""
    right, steps, op = condition.right, condition.offset, condition.op
    assert isinstance(right, Attribute)
    first, later = condition.left, right
    if op in (Op.GT, Op.GE):
        first, later, steps, op = right, condition.left, -steps, op.flipped()
    if op not in (Op.LT, Op.LE) or steps >= 0:
        return None
    plain = make_column(TimeBucket(Moments()))
    behind = make_column(TimeBucket(Moments(), behind_us=-int(steps) * step_us))
    values = Compare(Attribute(first.alias, plain.name), op, Attribute(later.alias, behind.name))
    buckets = (tables[first.alias], plain), (tables[later.alias], behind)
    return _Across(condition, values, (Compare(first, Op.LT, later),), buckets)


def _name_columns(block: Block, count: int) -> list[tuple[str, str]]:
    known = {c.name for c in block.stream.columns} | set(block.union.variables)
    free = (n for k in range(len(known) + 2 * count) if (n := f"compared {k}") not in known)
    return [(next(free), next(free)) for _ in range(count)]


def _show(query: SpjQuery, across: Sequence[_Across], names: list[tuple[str, str]]) -> SpjQuery:
    left = _leave(query, {plain(c.said): c.left for c in across})
    shown = [
        (name, LiteralOutput(attribute))
        for pair, one in zip(names, across, strict=True)
        for name, attribute in zip(pair, condition_attributes(one.values), strict=True)
    ]
    return replace(left, outputs=(*query.outputs, *shown))


def _leave(query: SpjQuery, gone: Mapping[Condition, tuple[Condition, ...]]) -> SpjQuery:
    """A query with what is left of some conditions."""
    kept = [c for one in query.conditions for c in gone.get(plain(one), (one,))]
    return replace(query, conditions=tuple(dict.fromkeys(kept)))


def _move(condition: Compare, alias: str) -> Compare:
    left, right = condition.left, condition.right
    assert isinstance(right, Attribute)
    return replace(condition, left=replace(left, alias=alias), right=replace(right, alias=alias))
