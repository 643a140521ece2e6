"""How many rows of one time there are of a key."""

from collections.abc import Set
from dataclasses import replace
from math import prod

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound
from ontoweir.checker.plans.bound_versions import KeptVersions
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjQuery


def count_at_once(
    kept: KeptVersions, query: SpjQuery, key: Set[str], catalog: Catalog, known: Statistics
) -> KeptVersions:
    """The bound times the answers of a key at one time: the rows of the stream, each with those of
    static relations that it is joined with, one where that is by a key of theirs."""
    assert kept.bound is not None
    streams = [o for o in query.occurrences if o.table in catalog.streams]
    relations = {o.alias: catalog.relations.get(o.table) for o in query.occurrences}
    if len(streams) != 1:
        return replace(kept, bound=Bound(None, f"rows of a timestamp · ({kept.bound.formula})"))
    (first,) = streams
    stream = catalog.streams[first.table]
    del relations[first.alias]
    formula, factors = f"({kept.bound.formula})", [kept.bound.rows]
    for alias, relation in relations.items():
        assert relation is not None
        if not any(_is_joined(query, first.alias, alias, set(of)) for of in relation.keys):
            factors.append(known.rows.get(relation.name))
            formula = f"|{relation.name}| · {formula}"
    if not any(set(declared) - {stream.timestamp} <= key for declared in stream.keys):
        factors.append(stream.max_per_timestamp)
        formula = f"R({first.alias}) · {formula}"
    if len(factors) == 1:
        return kept
    rows = [f for f in factors if f is not None]
    most = prod(rows) if len(rows) == len(factors) else None
    return replace(kept, bound=Bound(most, formula))


def _is_joined(query: SpjQuery, first: str, alias: str, key: Set[str]) -> bool:
    """Whether the columns of a key equal constants, or values of the rows of the first table."""
    told: set[str] = set()
    for condition in query.conditions:
        if not isinstance(condition, Compare) or condition.op is not Op.EQ:
            continue
        for one, other in (
            (condition.left, condition.right),
            (condition.right, condition.left),
        ):
            if isinstance(one, Attribute) and one.alias == alias:
                plain = not isinstance(other, Attribute) or other.alias == first
                told |= {one.column} if plain else set()
    return key <= told
