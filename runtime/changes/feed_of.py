"""How the answers of a query become changes."""

from dataclasses import replace

import pyarrow as pa

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.joined import Joined
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit
from ontoweir.runtime.changes.change_feed import (
    ChangeFeed,
    JoinedFeed,
    PartFeed,
)
from ontoweir.runtime.changes.group_changes import plan_groups_around
from ontoweir.runtime.changes.joined_groups import plan_part_groups, plan_row_groups
from ontoweir.runtime.changes.make_feed import make_feed, make_sliding_feed, number_feed
from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.changes.standing_groups import plan_standing_groups
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.engine.configure_run import QueryConfig
from ontoweir.runtime.results.render_results import (
    AT,
    INSTANT,
    MULTIPLICITY,
    result_schema,
    result_type,
)

_ONLY = {Emit.INSERTIONS: "+", Emit.DELETIONS: "-"}
"""The changes of a kind that are written."""


def feed_of(query: QueryConfig) -> ChangeFeed | None:
    """How the answers of a query become changes (None: they are not written so)."""
    union, emit = query.job.union, query.job.emit
    if union.joined is None:
        feed = _make(query)
    else:
        feed = _join(union.joined, query.job.catalog, query.schema)
        feed = replace(feed, snapshots=emit is Emit.SNAPSHOTS)
    only = _ONLY.get(emit)
    made = union.aggregation
    if union.joined is None and feed is not None and made is not None and made.numbered is not None:
        feed = number_feed(feed, made.numbered)
    return feed if feed is None or only is None else replace(feed, only=only)


def _join(joined: Joined[SpjUnion], tables: Catalog, answers: pa.Schema) -> ChangeFeed:
    """The feed of what is joined of several queries' rows.

    Args:
        joined: how.
        tables: the catalog.
        answers: the columns of the rows of all of them.
    """
    parts = []
    kinds: dict[str, pa.DataType] = {}
    for number, part in enumerate(joined.parts):
        catalog = extend_catalog(tables, part.query)
        rows = result_schema(part.query, catalog)
        groups = plan_standing_groups(part.query, catalog)
        if part.query.joined is not None:
            feed = _join(part.query.joined, catalog, rows)
        else:
            feed = make_feed(part.query, rows, updates=False, groups=groups)
        grouped = plan_part_groups(part, catalog)
        parts.append(PartFeed(part, feed, rows, grouped))
        shown = feed.schema if grouped is None else grouped.answers
        kinds |= {f"{number} {f.name}": f.type for f in shown}
    told = plan_row_groups(joined, tables)
    names = joined.found
    if joined.row is None:
        fields = [pa.field(name, kinds[variable]) for name, variable in joined.shown]
    elif told is None:
        fields = [pa.field(name, result_type(kind)) for name, kind in joined.row.columns]
    else:
        fields = [told.answers.field(name) for name in names]
    fields += [pa.field(OP, pa.string()), pa.field(AT, INSTANT)]
    fields += [] if joined.is_set else [pa.field(MULTIPLICITY, pa.int64())]
    feed = ChangeFeed(
        names,
        joined.is_set,
        False,
        None,
        pa.schema(fields),
        delay_us=max(part.feed.delay_us for part in parts),
        rows=answers,
        joined=JoinedFeed(joined, tuple(parts), told),
    )
    return feed if joined.numbered is None else number_feed(feed, joined.numbered)


def _make(query: QueryConfig) -> ChangeFeed | None:
    emit = query.job.emit
    if query.aggregates is not None and query.aggregates.sliding:
        union, snapshots = query.job.union, emit is Emit.SNAPSHOTS
        groups = plan_groups_around(union, extend_catalog(query.job.catalog, union))
        return make_sliding_feed(query.aggregates, union, snapshots=snapshots, groups=groups)
    if emit not in CHANGING:
        return None
    union = query.job.union
    return make_feed(
        union,
        query.schema,
        updates=has_updates(query.aggregates),
        snapshots=emit is Emit.SNAPSHOTS,
        groups=plan_standing_groups(union, extend_catalog(query.job.catalog, union)),
    )


def has_updates(groups: AggregateWork | None) -> bool:
    """Whether the rows of an aggregate query take the place of others."""
    return groups is not None and groups.keeps_groups and groups.closing is None
