"""Says what a query counts otherwise than rows."""

from ontoweir.rewriter.model.moments import is_moments
from ontoweir.rewriter.model.spj import SpjUnion


def describe_counts(union: SpjUnion) -> str | None:
    """What a query counts once that rows of its tables may make several times (None: nothing)."""
    reasons = [view.why for view in union.views if view.distinct and not is_moments(view)]
    if not reasons:
        return None
    more = f"; and {len(reasons) - 1} more such views" if len(reasons) > 1 else ""
    return (
        f"a triple counts once, as in SPARQL, where rows may make it several times: {reasons[0]}"
        f'{more}; counts = "matches" in [project] counts rows'
    )
