"""Check that buckets of time are of a time that every branch has."""

from collections.abc import Collection, Sequence

from ontoweir.rewriter.model.query import NamedBuckets, Variable, atom_terms
from ontoweir.rewriter.sparql.distribute_unions import Branch
from ontoweir.rewriter.sparql.read_terms import Refuse


def check_buckets(
    buckets: Sequence[NamedBuckets],
    times: Collection[Variable],
    branches: Sequence[Branch],
    refuse: Refuse,
    line: int | None,
) -> None:
    """Nothing, if every bucket is of a time of each branch.

    Args:
        buckets: those of GROUP BY.
        times: the variables of GRAPH.
        branches: of the query.
        refuse: makes the error.
        line: of GROUP BY.

    Raises:
        QueryError: a bucket is of what is no time, or a branch lacks the time.
    """
    for bucket in buckets:
        time = bucket.time.name
        bound = [{t for a in b.atoms for t in (a.time, *atom_terms(a))} for b in branches]
        if bucket.time not in times and not any(bucket.time in mine for mine in bound):
            raise refuse(
                f"?{time} is not a time",
                "a bucket is of the time of a GRAPH, or of one that a pattern binds",
                f"write GRAPH ?{time} {{ … }} around the patterns",
                line,
            )
        if not all(bucket.time in mine for mine in bound):
            raise refuse(
                f"a branch of the query has no ?{time}",
                f"its answers would lie in no bucket ?{bucket.name}",
                f"write GRAPH ?{time} {{ … }}, or a pattern with ?{time}, in each",
                line,
            )
