"""How the answers of a query become changes."""

from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.windows.choose_emit import CHANGING, Emit
from ontoweir.runtime.changes.change_feed import (
    ChangeFeed,
    make_feed,
    make_sliding_feed,
    number_feed,
)
from ontoweir.runtime.changes.group_changes import plan_groups_around
from ontoweir.runtime.changes.standing_groups import plan_standing_groups
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.engine.configure_run import QueryConfig


def feed_of(query: QueryConfig) -> ChangeFeed | None:
    """How the answers of a query become changes (None: they are not written so)."""
    made = query.job.union.aggregation
    feed = _make(query)
    if feed is None or made is None or made.numbered is None:
        return feed
    return number_feed(feed, made.numbered)


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
