"""Refuse buckets of time that close no group."""

from collections.abc import Sequence

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Column
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes


def refuse_ungrouped(union: SpjUnion, columns: Sequence[tuple[str, Column]]) -> None:
    """Raise QueryError for a bucket of time that is not grouped by, where answers are a set, and
    for one that overlaps others: a row lies in several of these."""
    once = union.aggregation is None and not union.distinct
    group = () if union.aggregation is None else union.aggregation.group
    read = {*group, *union.ends, *union.begins}
    buckets = {
        (table, column.name)
        for table, column in columns
        if column.bucket is not None
        and not isinstance(column.bucket.buckets, Moments)
        and (column.bucket.sliding is not None or not once)
    }
    for query in union.disjuncts:
        of = {o.alias: o.table for o in query.occurrences}
        for name, output in query.outputs:
            for attribute in output_attributes(output):
                if name in read or (of[attribute.alias], attribute.column) not in buckets:
                    continue
                raise QueryError(
                    f"{attribute.column} is selected or aggregated, and not grouped by",
                    why="a bucket of time is read where it closes groups: in GROUP BY",
                    fix="group by it; every result carries its own time `at`",
                    source=union.source,
                )
