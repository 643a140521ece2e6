"""A bound on the rows that have begun, of which later ones are told how many there are."""

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.model.plan import total_bound
from ontoweir.checker.plans.bound_versions import KeptVersions, bound_by_domains
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Between
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes


def bound_begun(
    between: Between[SpjUnion], catalog: Catalog, statistics: Statistics
) -> KeptVersions:
    """Equal rows that have begun are one count, until what ends them takes it to zero (change.md
    section 5): there are no more than different values of all that they show (None: any number).

    Args:
        between: which rows meet which.
        catalog: the tables.
        statistics: what is known of the static data.
    """
    wide = extend_catalog(catalog, between.begins)
    kept: list[KeptVersions] = []
    for query in between.begins.disjuncts:
        shown = [a for _, output in query.outputs for a in output_attributes(output)]
        kept.append(bound_by_domains(query, list(dict.fromkeys(shown)), wide, statistics))
    bounds = [one.bound for one in kept if one.bound is not None]
    return KeptVersions(
        total_bound(bounds) if len(bounds) == len(kept) else None,
        tuple(dict.fromkeys(name for one in kept for name in one.unbounded)),
        tuple(dict.fromkeys(d for one in kept for d in one.conditions)),
    )
