"""How many matches of a query are complete at one time."""

from math import prod

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.model.spj import Attribute, IsNull, SpjQuery, SpjUnion
from ontoweir.rewriter.views.find_key import determine_rows


def limit_matches(union: SpjUnion, catalog: Catalog) -> int | None:
    """The most matches whose last row comes at one timestamp (None: any number).

    One of its rows comes then, and each other one at most as much before as the query's differences
    of times say: so they are no more than the rows of so many steps, one of each stream.

    Args:
        union: a query whose streams have one unit.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
    """
    found = [(query, _limit(query, catalog)) for query in union.disjuncts]
    groups: list[list[tuple[SpjQuery, int]]] = []
    for query, limit in found:
        if limit is None:
            return None
        apart = (g for g in groups if all(_exclude(query, other) for other, _ in g))
        group = next(apart, None)
        if group is None:
            groups.append(group := [])
        group.append((query, limit))
    return sum(max(limit for _, limit in group) for group in groups)


def _exclude(query: SpjQuery, other: SpjQuery) -> bool:
    """Whether no rows are a match of both: one says that a column is NULL, and the other not."""
    if query.occurrences != other.occurrences:
        return False
    null, other_null = _nulls(query), _nulls(other)
    return not null.isdisjoint(_valued(other)) or not other_null.isdisjoint(_valued(query))


def _nulls(query: SpjQuery) -> set[Attribute]:
    return {c.attribute for c in query.conditions if isinstance(c, IsNull)}


def _valued(query: SpjQuery) -> set[Attribute]:
    return {a for c in query.conditions for a in valued_attributes(c)}


def _limit(query: SpjQuery, catalog: Catalog) -> int | None:
    limits = bound_differences(query, catalog, domains=False)
    if limits is None:
        return 0
    stamps, rates, row = list[Attribute](), list[int](), set[Attribute]()
    others = []
    for occurrence in query.occurrences:
        stream = catalog.streams.get(occurrence.table)
        if stream is None:
            others.append(occurrence)
            continue
        if stream.max_per_timestamp is None:
            return None
        rates.append(stream.max_per_timestamp)
        stamps.append(Attribute(occurrence.alias, stream.timestamp))
        row |= {Attribute(occurrence.alias, c.name) for c in stream.columns}
    row |= set(stamps)
    if determine_rows(others, query.conditions, row, catalog) is None:
        return None
    total = 0
    for last in stamps:
        steps: list[int | None] = []
        for other in (s for s in stamps if s != last):
            ahead, after = limits.get((last, other)), limits.get((other, last))
            later = min(0, 0 if after is None else int(after[0]))
            steps.append(None if ahead is None else max(0, int(ahead[0]) + later + 1))
        if 0 in steps:
            continue  # another row comes later
        if None in steps:
            return None
        total += prod(rates) * prod(n for n in steps if n is not None)
    return total
