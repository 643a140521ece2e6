"""Check that buckets of time are of a time that every branch has, and the names of what is
computed."""

from collections.abc import Collection, Sequence

from ontoweir.rewriter.model.aggregation import Aggregation
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
                "its answers would have no such time"
                if bucket.place is not None
                else f"its answers would lie in no bucket ?{bucket.name}",
                f"write GRAPH ?{time} {{ … }}, or a pattern with ?{time}, in each",
                line,
            )


def check_names(
    aggregation: Aggregation,
    buckets: Sequence[NamedBuckets],
    taken: Collection[Variable],
    times: Collection[Variable],
    refuse: Refuse,
    line: int | None,
) -> None:
    """Nothing, if aggregates and buckets have names of their own.

    Args:
        aggregation: the aggregates.
        buckets: those of GROUP BY.
        taken: the variables of the patterns.
        times: the variables of GRAPH.
        refuse: makes the error.
        line: of GROUP BY.

    Raises:
        QueryError: one is called like a variable of the patterns.
    """
    bound = {variable.name for variable in taken}
    for bucket in buckets:
        if bucket.name != bucket.time.name and bucket.name in bound | {t.name for t in times}:
            raise refuse(
                f"?{bucket.name} names a bucket of time and is in a pattern",
                "AS gives a name that the patterns do not use (SPARQL 1.1, 18.2.4.1)",
                f"write another name after AS, such as ?{bucket.name}s",
                line,
            )
    lines = {a.name: a.source.line for a in aggregation.aggregates if a.source is not None}
    for name in aggregation.columns:
        if name in bound and name not in aggregation.group:
            raise refuse(
                f"?{name} names an aggregate and is in a pattern",
                "AS gives a name that the patterns do not use (SPARQL 1.1, 18.2.4.4)",
                f"write another name after AS, such as ?{name}s",
                lines.get(name, line),
            )
