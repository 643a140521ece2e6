"""The verdict on a query of which the latest answers hold."""

from dataclasses import replace

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import Bound, total_bound
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.checker.verdict.refuse_keys import refuse_keys
from ontoweir.checker.verdict.verdict import Bounded, Tier, Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjQuery, output_attributes


def bound_latest(verdict: Verdict, catalog: Catalog, known: Statistics) -> Verdict:
    """The verdict with what is kept to say what ends: for each key the answers of its latest time.

    Args:
        verdict: on the answers; their disjuncts are those of one SELECT.
        catalog: the tables.
        known: what is known of the static data.
    """
    union = verdict.union
    wide = extend_catalog(catalog, union)
    queries = [d.query for d in verdict.disjuncts if isinstance(d, Bounded)]
    if not union.latest or verdict.bound is None or not queries:
        return verdict
    kept = []
    for query in queries:
        outputs = dict(query.outputs)
        keys = [a for name in union.latest for a in output_attributes(outputs[name])]
        one = bound_by_domains(query, keys, wide, known)
        columns = {a.column for a in keys}
        kept.append(one if one.bound is None else _count_rows(one, query, columns, wide))
    verdict = refuse_keys(verdict, kept)
    if verdict.bound is None:
        return verdict
    largest = max((k.bound for k in kept if k.bound is not None), key=_size)
    conditions = dict.fromkeys((*verdict.conditions, *(c for k in kept for c in k.conditions)))
    tier = verdict.tier
    if conditions and tier.rank < Tier.CONDITIONALLY_BOUNDED.rank:
        tier = Tier.CONDITIONALLY_BOUNDED
    bound = total_bound([verdict.bound, largest])
    return replace(verdict, tier=tier, bound=bound, conditions=tuple(conditions))


def _size(bound: Bound) -> tuple[bool, int]:
    return bound.rows is None, bound.rows or 0


def _count_rows(
    kept: KeptVersions, query: SpjQuery, key: set[str], catalog: Catalog
) -> KeptVersions:
    """The bound times the answers of a key at one time."""
    assert kept.bound is not None
    (first, *others) = query.occurrences
    stream = catalog.streams.get(first.table)
    if stream is None or others:
        return replace(kept, bound=Bound(None, f"rows of a timestamp · ({kept.bound.formula})"))
    if any(set(declared) - {stream.timestamp} <= key for declared in stream.keys):
        return kept
    rate, rows = stream.max_per_timestamp, kept.bound.rows
    most = None if rate is None or rows is None else rate * rows
    return replace(kept, bound=Bound(most, f"R({first.alias}) · ({kept.bound.formula})"))
