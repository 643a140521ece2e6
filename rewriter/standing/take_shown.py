"""What is shown of rows that hold until others end them."""

from dataclasses import replace

from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.standing.answers_of import answers_of
from ontoweir.rewriter.windows.shows_set import shows_set


def take_shown(union: SpjUnion) -> SpjUnion:
    """The query of what may be shown: without rows that only end others, and without the columns
    that only say which; of groups, their matches. Any other query is as it is."""
    standing, joined = union.standing, union.joined
    if joined is not None and joined.row is not None and joined.row.terms is not None:
        return replace(joined.row.terms, name=union.name, distinct=joined.is_set)
    if joined is not None and joined.row is not None:  # values, of types that each has
        return replace(
            union, variables=joined.told, disjuncts=(), distinct=joined.is_set, joined=None
        )
    if joined is not None:
        shown = [(name, v) for name, v in joined.shown if name in joined.told]
        rows = tuple(
            replace(q, outputs=tuple((name, dict(q.outputs)[v]) for name, v in shown))
            for q in union.disjuncts
        )
        names = tuple(name for name, _ in shown)
        return replace(
            union, variables=names, disjuncts=rows, distinct=joined.distinct, joined=None
        )
    if standing is None:
        return union
    names = tuple(v for v in union.variables if v not in standing.hidden)
    if standing.groups is not None:
        names = standing.groups.variables
    disjuncts = tuple(
        replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in names))
        for q in answers_of(union.disjuncts, standing)
    )
    return replace(
        union,
        variables=names,
        disjuncts=disjuncts,
        distinct=shows_set(union),
        aggregation=standing.groups,
        standing=None,
        ends=(),
        begins=(),
    )
