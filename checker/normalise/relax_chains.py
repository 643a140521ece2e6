"""A chain `x.a < y.a AND y.a < z.a` over one stream asks for three values that differ."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, pairwise

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    condition_attributes,
    map_condition,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Op,
    SpjQuery,
    output_attributes,
)


def relax_chains(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Under set semantics: the query with chains of `<` over interchangeable occurrences of a
    stream as `<>` of each two. Whichever tuples are different, some order of them is the chain's.

    Occurrences are interchangeable if they have the same conditions with constants, and whatever
    else is said of one, its results too, is said of a column in which all of them are equal.

    Args:
        query: a disjunct of a set query.
        catalog: its tables.
    """
    if query.folds is not None:
        return query
    tables = {o.alias: o.table for o in query.occurrences}
    found: dict[tuple[str, str], list[Compare]] = {}
    for c in query.conditions:
        if isinstance(c, Compare) and _is_order(c, tables):
            found.setdefault((tables[c.left.alias], c.left.column), []).append(c)
    for (table, column), orders in found.items():
        if table not in catalog.streams or column == catalog.streams[table].timestamp:
            continue
        chain = _chain(orders)
        if chain is None or len(chain) < 3 or not _interchangeable(query, chain, orders):
            continue
        different = tuple(
            Compare(Attribute(a, column), Op.NE, Attribute(b, column), 0, orders[0].source)
            for a, b in combinations(chain, 2)
        )
        rest = tuple(c for c in query.conditions if c not in orders)
        query = replace(query, conditions=(*rest, *different))
    return query


def _is_order(c: Compare, tables: dict[str, str]) -> bool:
    """Whether it compares one column of two occurrences by `<` or `>`."""
    return (
        c.op in (Op.LT, Op.GT)
        and isinstance(c.right, Attribute)
        and not c.offset
        and c.left.alias != c.right.alias
        and c.left.column == c.right.column
        and tables[c.left.alias] == tables[c.right.alias]
    )


def _chain(orders: Iterable[Compare]) -> list[str] | None:
    """The occurrences in order, if each two neighbours are compared; None: it is not a chain."""
    below: dict[str, set[str]] = {}
    edges: set[tuple[str, str]] = set()
    for c in orders:
        assert isinstance(c.right, Attribute)
        low, high = (c.left, c.right) if c.op is Op.LT else (c.right, c.left)
        edges.add((low.alias, high.alias))
        below.setdefault(low.alias, set())
        below.setdefault(high.alias, set()).add(low.alias)
    chain: list[str] = []
    while below:
        first = [alias for alias, less in below.items() if not less - set(chain)]
        if len(first) != 1:
            return None
        chain.append(first[0])
        del below[first[0]]
    return chain if all(pair in edges for pair in pairwise(chain)) else None


def _interchangeable(query: SpjQuery, chain: list[str], orders: list[Compare]) -> bool:
    classes = EqualityClasses(query.occurrences, query.conditions)

    def shared(attribute: Attribute) -> bool:
        """Whether all occurrences are equal in the column."""
        first = Attribute(chain[0], attribute.column)
        return all(classes.same(first, Attribute(alias, attribute.column)) for alias in chain)

    own: dict[str, set[Condition]] = {alias: set() for alias in chain}
    for c in query.conditions:
        if c in orders:
            continue
        attributes = [a for a in condition_attributes(c) if a.alias in own]
        if all(shared(a) for a in attributes):
            continue
        if len(condition_attributes(c)) > 1:
            return False
        alias = attributes[0].alias
        plain = map_condition(replace(c, source=None), lambda a: Attribute("", a.column))
        own[alias].add(plain)
    if any(conditions != own[chain[0]] for conditions in own.values()):
        return False
    outputs = (a for _, o in query.outputs for a in output_attributes(o))
    return all(a.alias not in own or shared(a) for a in outputs)
