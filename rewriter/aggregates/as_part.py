"""What is joined of one part alone, as the query of that part."""

from dataclasses import replace

from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.model.spj import SpjUnion


def as_part(union: SpjUnion) -> SpjUnion | None:
    """The query of the one part of a query that tells its rows as they are, each once where the
    whole does so (None: it has more parts, or what is told is made of the rows).

    Args:
        union: the query.
    """
    joined = union.joined
    if joined is None or len(joined.parts) != 1 or joined.row is not None or joined.numbered:
        return None
    (part,) = joined.parts
    query = part.query
    if part.kind is not JoinKind.INNER or part.groups is not None or part.ever is not None:
        return None
    if query.joined is not None or query.standing is not None or query.aggregation is not None:
        return None
    return replace(query, distinct=joined.distinct)
