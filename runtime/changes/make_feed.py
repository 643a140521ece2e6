"""The feeds of queries: how their answers become changes."""

from dataclasses import replace

import pyarrow as pa

from ontoweir.rewriter.model.aggregation import NumberedGroups, Standing
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes
from ontoweir.runtime.changes.change_feed import ChangeFeed, NumberedFeed
from ontoweir.runtime.changes.sliding_groups import OP, change_schema
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL, has_end


def number_feed(feed: ChangeFeed, numbered: NumberedGroups) -> ChangeFeed:
    """The feed of the groups with the first numbers, of all that a feed tells."""
    standing = Standing(numbered.key, first=numbered.first)
    fields = [
        pa.field(name, pa.int64()) if name == numbered.first.number else feed.schema.field(name)
        for name in (*numbered.columns, OP, AT)
    ]
    fields += [f for f in feed.schema if f.name == MULTIPLICITY and not feed.distinct]
    inner = NumberedFeed(replace(feed, snapshots=False), standing)
    columns = numbered.columns
    return replace(feed, variables=columns, schema=pa.schema(fields), numbered=inner)


def make_sliding_feed(
    work: AggregateWork,
    union: SpjUnion,
    *,
    snapshots: bool = False,
    groups: AggregateWork | None = None,
) -> ChangeFeed:
    """The feed of groups of sliding windows, or of `groups` of their rows."""
    told = work if groups is None else groups
    return ChangeFeed(
        told.aggregation.columns,
        True,
        True,
        None,
        change_schema(told),
        snapshots,
        work,
        delay_us=_find_delay(union),
        groups=groups,
    )


def make_feed(
    union: SpjUnion,
    answers: pa.Schema,
    *,
    updates: bool,
    snapshots: bool = False,
    groups: AggregateWork | None = None,
) -> ChangeFeed:
    """The feed of a query.

    Args:
        union: the query.
        answers: the columns of its answers.
        updates: they are updates of groups.
        snapshots: all that holds is written, whenever it changes.
        groups: of rows that hold until others end them, what makes the groups that are told.
    """
    ends = has_end(answers)
    own = (AT, UNTIL, MULTIPLICITY) if ends else (AT, MULTIPLICITY)
    standing = union.standing or Standing(())
    fields = [f for f in answers if f.name not in (*own, *standing.hidden)]
    named = (*fields, pa.field(OP, pa.string()), pa.field(AT, INSTANT))
    told = MULTIPLICITY in answers.names and not standing.distinct and groups is None
    counted = (answers.field(MULTIPLICITY),) if told else ()
    group = union.aggregation.group if updates and union.aggregation is not None else None
    variables = tuple(f.name for f in fields)
    schema = pa.schema([*named, *counted])
    if groups is not None:
        variables, schema = groups.aggregation.columns, change_schema(groups)
    return ChangeFeed(
        variables,
        not counted,
        ends,
        group,
        schema,
        snapshots,
        delay_us=_find_delay(union),
        latest=standing.key if standing.ender is None and standing.first is None else (),
        ending=None if standing.ender is None else standing,
        rows=answers,
        groups=groups,
        first=None if standing.first is None else standing,
    )


def _find_delay(union: SpjUnion) -> int:
    """How much later than it is found an answer may begin, in µs."""
    delays = {column.name: column.bucket.latest_us for _, column in union.buckets if column.bucket}
    begins = {
        attribute.column
        for query in union.disjuncts
        for name, output in query.outputs
        if name in union.begins
        for attribute in output_attributes(output)
    }
    return max((delays[name] for name in begins), default=0)
