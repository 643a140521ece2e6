"""The bucket of time by which the groups of an aggregate query are final."""

from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import TimeBucket
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, SpjQuery, SpjUnion


@dataclass(frozen=True, slots=True)
class Closing:
    """A group is final when its bucket has ended, and all that may still match is over.

    `variable`: the group's column with the bucket, which is `bucket`; `attributes`: of every
    disjunct, where it comes from.
    """

    variable: str
    bucket: TimeBucket
    attributes: tuple[Attribute, ...]


def find_closing(union: SpjUnion, catalog: Catalog) -> Closing | None:
    """The first column of the group that is the same bucket of time in all disjuncts (None: there
    is none, and groups are never final).

    Args:
        union: an aggregate query.
        catalog: with its views and buckets (`extend_catalog`).
    """
    assert union.aggregation is not None
    if not union.buckets or not union.disjuncts:
        return None
    panes = union.aggregation.panes
    for variable in union.aggregation.group if panes is None else (panes.variable,):
        found = [bucket_of(query, variable, catalog) for query in union.disjuncts]
        known = [f for f in found if f is not None]
        if len(known) == len(found) and len({bucket for _, bucket in known}) == 1:
            return Closing(variable, known[0][1], tuple(a for a, _ in known))
    return None


def bucket_of(
    query: SpjQuery, variable: str, catalog: Catalog
) -> tuple[Attribute, TimeBucket] | None:
    """Where a variable comes from in a disjunct, if it is a bucket of time, and which."""
    output = dict(query.outputs)[variable]
    if not isinstance(output, LiteralOutput):
        return None
    attribute = output.value
    table = {o.alias: o.table for o in query.occurrences}[attribute.alias]
    stream = catalog.table(table)
    column = stream.column(attribute.column) if isinstance(stream, Stream) else None
    if column is None or column.bucket is None:
        return None
    return attribute, column.bucket
