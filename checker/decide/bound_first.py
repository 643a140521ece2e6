"""What is kept of rows with the first numbers of their key."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontoweir.checker.model.declarations import (
    Declaration,
    key_declaration,
    size_declaration,
)
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.checker.verdict.count_at_once import count_at_once
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.algebra.equality_classes import condition_attributes, optional_attributes
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    IsNull,
    NotNull,
    NullOutput,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


@dataclass(frozen=True, slots=True)
class KeptFirst:
    """`keys`: the keys of which rows are kept, and `equal`: the rows of these that are told apart
    by what is shown beside the order, of each disjunct; `bound`: on all (None: one of these has no
    bound); `conditions`: what is declared of streams that it rests on besides."""

    keys: tuple[KeptVersions, ...]
    equal: tuple[KeptVersions, ...]
    bound: Bound | None
    conditions: tuple[Declaration, ...] = ()


def bound_first(
    queries: Sequence[SpjQuery], union: SpjUnion, catalog: Catalog, known: Statistics
) -> KeptFirst:
    """A bound on the different rows that hold.

    Of n rows that no others of their key are equal to in the order, n are kept. Of ranks, those
    before the last one are less than n, and those with the last one are equal in the order, so that
    they differ in what else they show; DENSE_RANK keeps n times as many of these.

    Args:
        queries: the disjuncts, whose outputs are the query's variables.
        union: the query, with the key, and which numbers.
        catalog: with its views and derived columns.
        known: what is known of the static data.
    """
    standing = union.standing
    assert standing is not None
    first = standing.first
    assert first is not None
    ordered = [name for name, *_ in first.order]
    keys: list[KeptVersions] = []
    equal: list[KeptVersions] = []
    sizes: dict[object, tuple[list[Bound], dict[object, list[Bound]]]] = {}
    for query in queries:
        of_key, of_order = _attributes(query, standing.key), _attributes(query, ordered)
        kept = ties = _bound(query, of_key, catalog, known)
        kept = _count_rows(kept, query, of_key, catalog, known)
        keys.append(kept)
        if first.single is None:
            shown = [n for n, _ in query.outputs if n not in ordered]
            rest = [a for a in _attributes(query, shown) if a in of_key or a not in of_order]
            ties = _bound(query, rest, catalog, known)
            if ties.bound is None and kept.bound is not None:
                ties = _bound_times(keys[-1], query, of_key, of_order, catalog, known) or ties
            equal.append(ties)
        if kept.bound is not None and ties.bound is not None:
            said = query
            if first.single is not None:
                said = _find_keys(query, queries, standing.key, catalog)
            group = list_said(said), _nulls(said, standing.key)
            mine, others = sizes.setdefault(group, ([], {}))
            mine.append(kept.bound)
            others.setdefault(_nulls(query, ordered), []).append(ties.bound)
    if any(one.bound is None for one in (*keys, *equal)):
        return KeptFirst(tuple(keys), tuple(equal), None)
    bound = _sum_up(first, list(sizes.values()))
    return KeptFirst(
        tuple(keys), tuple(equal), bound, list_keys(first, queries, union.blocks, catalog)
    )


def _bound_times(
    kept: KeptVersions,
    query: SpjQuery,
    of_key: Sequence[Attribute],
    of_order: Sequence[Attribute],
    catalog: Catalog,
    known: Statistics,
) -> KeptVersions | None:
    """A bound on the rows of each key that are equal in an order by the time of a stream: those of
    one time (None: that time is not in the order)."""
    streams = {o.alias: s for o in query.occurrences if (s := catalog.streams.get(o.table))}
    others = [o for o in query.occurrences if o.alias not in streams]
    if len(streams) != 1 or any(o.table not in catalog.relations for o in others):
        return None
    ((alias, stream),) = streams.items()
    names = [a.column for a in of_order if a.alias == alias]
    columns = [c for c in map(stream.column, names) if c is not None and c.bucket is not None]
    moments = any(isinstance(c.bucket.buckets, Moments) for c in columns if c.bucket is not None)
    if stream.timestamp not in names and not moments:
        return None
    optional = optional_attributes(query)
    told = {a.column for a in of_key if a.alias == alias and a not in optional}
    return count_at_once(kept, query, told, catalog, known)


def _find_keys(
    query: SpjQuery, queries: Sequence[SpjQuery], key: Sequence[str], catalog: Catalog
) -> SpjQuery:
    """A disjunct, or another one that has all of its keys."""
    return next((q for q in queries if _has_keys(q, query, key, catalog)), query)


def _has_keys(one: SpjQuery, other: SpjQuery, key: Sequence[str], catalog: Catalog) -> bool:
    """Whether the keys of a disjunct are columns of static relations, of which all that it says is
    said by another one, too, whose keys are the same columns."""
    static = {o for o in one.occurrences if o.table in catalog.relations}
    aliases = {o.alias for o in static}
    outputs, others = dict(one.outputs), dict(other.outputs)
    if not static <= set(other.occurrences):
        return False
    if any(_attributes(one, [n]) != _attributes(other, [n]) for n in key):
        return False
    if any(isinstance(outputs[n], NullOutput) != isinstance(others[n], NullOutput) for n in key):
        return False
    mine, theirs = (
        {replace(c, source=None) for c in q.conditions if not isinstance(c, (IsNull, NotNull))}
        for q in (one, other)
    )
    columns = [*_attributes(one, key), *(a for c in mine for a in condition_attributes(c))]
    return mine <= theirs and all(a.alias in aliases for a in columns)


def _count_rows(
    kept: KeptVersions,
    query: SpjQuery,
    key: Sequence[Attribute],
    catalog: Catalog,
    known: Statistics,
) -> KeptVersions:
    """The keys, or the rows of the static relations that they are columns of, if these are less."""
    tables = {o.alias: o.table for o in query.occurrences}
    relations = [catalog.relations.get(tables[a]) for a in dict.fromkeys(a.alias for a in key)]
    if kept.bound is None or None in relations or not relations:
        return kept
    rows, declared, parts = 1, list[Declaration](), list[str]()
    for relation in (r for r in relations if r is not None):
        count = known.rows.get(relation.name)
        if count is None and relation.max_rows is not None:
            count, declared = relation.max_rows, [*declared, size_declaration(relation)]
        if count is None:
            return kept
        rows *= count
        parts.append(f"|{relation.name}| = {count}")
    if kept.bound.rows is not None and kept.bound.rows <= rows:
        return kept
    conditions = dict.fromkeys((*kept.conditions, *declared))
    formula = parts[0] if len(parts) == 1 else " · ".join(f"({p})" for p in parts)
    return replace(kept, bound=Bound(rows, formula), conditions=tuple(conditions))


def list_keys(
    first: FirstRows, queries: Sequence[SpjQuery], blocks: Sequence[Block], catalog: Catalog
) -> tuple[Declaration, ...]:
    """The key of a whole stream that tells rows apart, which a run only watches."""
    made = {b.stream.name: b.union for b in blocks}
    tables = [o.table for q in queries for o in q.occurrences]
    while any(name in made for name in tables):  # what answers that are read are made of
        inner = [made[n].disjuncts if n in made else () for n in tables]
        tables = [n for n in tables if n not in made]
        tables += [o.table for of in inner for q in of for o in q.occurrences]
    streams = [catalog.streams[n] for n in dict.fromkeys(tables) if n in catalog.streams]
    return tuple(
        key_declaration(stream, first.single)
        for stream in streams
        if first.single in stream.keys and stream.timestamp not in first.single
    )


def list_said(query: SpjQuery) -> object:
    """What a disjunct says besides what is NULL."""
    said = (replace(c, source=None) for c in query.conditions)
    return query.occurrences, frozenset(c for c in said if not isinstance(c, (IsNull, NotNull)))


def _sum_up(
    first: FirstRows, sizes: Sequence[tuple[list[Bound], dict[object, list[Bound]]]]
) -> Bound:
    """Disjuncts that differ only in what is NULL of what they show are of the same keys; rows that
    are equal in the order are NULL there in the same places."""
    all_keys = total_bound([max(keys, key=_size) for keys, _ in sizes])
    if first.single is not None:
        return _times(first.limit, all_keys)
    ties = total_bound([max(map(total_bound, by.values()), key=_size) for _, by in sizes])
    if first.numbering is Numbering.DENSE:
        return _times(first.limit, ties)
    if first.limit == 1:
        return ties
    return total_bound([_times(first.limit - 1, all_keys), ties])


def _size(bound: Bound) -> tuple[bool, int]:
    return bound.rows is None, bound.rows or 0


def _nulls(query: SpjQuery, names: Sequence[str]) -> tuple[bool, ...]:
    outputs = dict(query.outputs)
    return tuple(isinstance(outputs[n], NullOutput) for n in names)


def _times(n: int, bound: Bound) -> Bound:
    rows = None if bound.rows is None else n * bound.rows
    return Bound(rows, bound.formula if n == 1 else f"{n} · ({bound.formula})")


def _attributes(query: SpjQuery, names: Sequence[str]) -> list[Attribute]:
    outputs = dict(query.outputs)
    return list(dict.fromkeys(a for n in names for a in output_attributes(outputs[n])))


def _bound(
    query: SpjQuery, attributes: list[Attribute], catalog: Catalog, known: Statistics
) -> KeptVersions:
    if not attributes:
        return KeptVersions(Bound(1, "1"), (), ())
    return bound_by_domains(query, attributes, catalog, known)
