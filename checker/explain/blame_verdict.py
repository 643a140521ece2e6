"""What is to blame for a verdict on a whole query."""

from ontoweir.checker.explain.explain_never import explain_never
from ontoweir.checker.verdict.explain_union import explain_union
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.diagnostics import Reason
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog


def blame_verdict(verdict: Verdict, catalog: Catalog) -> Reason | None:
    """Of an unsatisfiable query what excludes each other, at its place; of one that is not bounded
    the disjuncts to blame (`explain_union`); else None."""
    if verdict.tier is not Tier.UNSATISFIABLE:
        return explain_union(verdict)
    catalog = extend_catalog(catalog, verdict.union)
    dead = [b for b in verdict.blocks if b.tier is Tier.UNSATISFIABLE]
    inner = [blame_verdict(b, catalog) for b in dead]
    because = tuple(r for r in inner if r is not None)
    if not because:
        return explain_never(verdict.union, [d.query for d in verdict.disjuncts], catalog)
    return Reason("no data gives an answer to what it reads", because=because)
