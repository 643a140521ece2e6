"""Groups that a rule would close, but for rows without a value."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.model.list_valued import list_valued
from ontoweir.diagnostics import Diagnostic
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.groups.find_closed_groups import find_closed_groups
from ontoweir.rewriter.model.spj import NullOutput, SpjUnion


def explain_nulls(
    union: SpjUnion, because: Sequence[Diagnostic], catalog: Catalog
) -> tuple[Diagnostic, ...]:
    """The reasons why an aggregate query is not bounded; where a rule would close its groups if
    their values were not NULL, they say so.

    Args:
        union: an aggregate query.
        because: the reasons.
        catalog: with its views and buckets (`extend_catalog`).
    """
    assert union.aggregation is not None
    if union.aggregation.session_us is not None:  # NULL is a key of sessions as any other
        return tuple(because)
    empty = {n for q in union.disjuncts for n, o in q.outputs if isinstance(o, NullOutput)}
    named = [n for n in union.aggregation.group if n in empty]
    valued = list_valued(union, union.aggregation.group)
    if not named or not valued or not because:
        return tuple(because)
    closed = next(find_closed_groups(replace(union, disjuncts=valued), catalog), None)
    if closed is None:
        return tuple(because)
    names = next((n for n in named if n in closed.variables), named[0])
    told = (
        f"leave out rows without {names} (WHERE {names} IS NOT NULL), whose group would be final "
        "never: what is declared says when a value is closed"
    )
    return (replace(because[0], hint=f"{told}; or {because[0].hint}"), *because[1:])
