"""Whether two queries over one table can have a row in common, by what is NULL in them."""

from ontoweir.rewriter.model.spj import IsNull, NotNull, SpjQuery


def exclude_nulls(one: SpjQuery, other: SpjQuery) -> bool:
    """Whether no row is in both, of queries over one occurrence: a column is NULL in one alone."""
    return any(
        {c.attribute.column for c in a.conditions if isinstance(c, IsNull)}
        & {c.attribute.column for c in b.conditions if isinstance(c, NotNull)}
        for a, b in ((one, other), (other, one))
    )
