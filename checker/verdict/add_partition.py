"""By which columns the rows of a decided query can be divided."""

from dataclasses import replace

from ontoweir.checker.partition.derive_partition import derive_partition
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Catalog


def add_partition(verdict: Verdict, catalog: Catalog) -> Verdict:
    """The verdict, and those on the queries whose answers are read, with how rows can be divided,
    where there are plans."""
    verdict = replace(verdict, blocks=tuple(add_partition(v, catalog) for v in verdict.blocks))
    if not verdict.plans:
        return verdict
    watched = [(d.table, d.columns) for d in verdict.conditions if d.kind == "key"]
    divided = derive_partition(verdict.union, catalog, verdict.plans, watched)
    return replace(verdict, partition=divided)
