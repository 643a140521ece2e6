"""The disjuncts of a query whose answers have values in some columns."""

from collections.abc import Collection

from ontoweir.rewriter.model.spj import NullOutput, SpjQuery, SpjUnion


def list_valued(union: SpjUnion, names: Collection[str]) -> tuple[SpjQuery, ...]:
    """The disjuncts in whose answers none of some variables is NULL.

    Args:
        union: a query, of whose disjuncts each has NULL in a variable, or never.
        names: the variables.
    """
    return tuple(
        query
        for query in union.disjuncts
        if not any(n in names and isinstance(o, NullOutput) for n, o in query.outputs)
    )
