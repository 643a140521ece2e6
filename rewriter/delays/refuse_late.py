"""Why an answer is never final: what is beside it may come at any time later."""

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.spj import SpjQuery


def refuse_late(table: str, query: SpjQuery, *, present: bool) -> QueryError:
    """The error, of rows of a table that must be there (`present`), or must not."""
    source = next((c.source for c in query.conditions if c.source is not None), None)
    if present:
        return QueryError(
            f"a row of {table} may come at any time later, and answers are counted",
            why="an answer is given once, when the first such row comes; until then it would have "
            "to be remembered for ever",
            fix=f"limit how much later the rows of {table} are; or write SELECT DISTINCT, and what "
            "is in EXISTS beside the other patterns or tables, which is the same then",
            source=source,
        )
    return QueryError(
        f"an answer without {table} is never final: a row of {table} may come at any time later",
        why="an answer that is given is never taken back",
        fix=f"limit how much later the rows of {table} are, as in t.ts <= s.ts + INTERVAL '30' "
        'MINUTE, in SPARQL ?u <= ?t + "PT30M"^^xsd:dayTimeDuration; or look at earlier ones only, '
        "as in t.ts <= s.ts; for the latest of each key, say "
        "of the later row all that is said of the row, and no more; what always holds of the key "
        "may be beside them",
        source=source,
    )
