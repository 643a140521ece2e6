"""Says what a query counts otherwise than rows."""

from ontoweir.rewriter.model.spj import SpjUnion, View
from ontoweir.rewriter.views.moments import is_moments


def describe_counts(union: SpjUnion) -> str | None:
    """What a query counts once that rows of its tables may make several times (None: nothing)."""
    reasons = [view.why for view in union.views if _repeats(view)]
    if not reasons:
        return None
    more = f"; and {len(reasons) - 1} more such views" if len(reasons) > 1 else ""
    return (
        f"a triple counts once, as in SPARQL, where rows may make it several times: {reasons[0]}"
        f'{more}; counts = "matches" in [project] counts rows'
    )


def _repeats(view: View) -> bool:
    """Whether a view is distinct because rows may repeat: not one of timestamps, or constants."""
    return view.distinct and not is_moments(view) and any(b.occurrences for b in view.branches)
