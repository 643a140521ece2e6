"""Whether each answer of a query is shown once."""

from ontoweir.rewriter.model.spj import SpjUnion


def shows_set(union: SpjUnion) -> bool:
    """Whether what is shown is a set: of rows that hold until others end them, which are counted
    all the same, too."""
    if union.joined is not None:
        return union.joined.is_set
    return union.distinct or (union.standing is not None and union.standing.distinct)
