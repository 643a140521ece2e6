"""Adds the views of a query to the catalog, as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ontoweir.mappings.expressions.derive_column import add_derived
from ontoweir.mappings.model.catalog import Catalog, Column, Lag, Meeting, Relation, Stream
from ontoweir.rewriter.model.share_steps import share_steps
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Occurrence,
    SpjUnion,
    View,
    ViewBranch,
)
from ontoweir.rewriter.model.weakest_lags import weakest_lags


def add_views(catalog: Catalog, views: Sequence[View]) -> Catalog:
    """The catalog with views as tables of it. A lag behind a stream is one behind its views too,
    where they have its columns."""
    if all(view.name in catalog.streams or view.name in catalog.relations for view in views):
        return catalog  # there are none, or they are there
    streams = {**catalog.streams, **{v.name: v.table for v in views if isinstance(v.table, Stream)}}
    relations = {
        **catalog.relations,
        **{v.name: v.table for v in views if isinstance(v.table, Relation)},
    }
    for name, stream in streams.items():
        if not stream.lags:
            continue
        more = [made for view in views for made in _behind(stream.lags, view)]
        if more:
            streams[name] = replace(stream, lags=(*stream.lags, *more))
    return replace(catalog, streams=streams, relations=relations)


def extend_catalog(catalog: Catalog, union: SpjUnion) -> Catalog:
    """The catalog with a query's views, and the queries that it reads, as tables of it; its buckets
    as columns of streams, and the columns that are derived in it."""
    catalog = share_steps(add_statics(catalog, union.statics), union.step_us)
    if union.blocks:
        made = {block.stream.name: block.stream for block in union.blocks}
        catalog = replace(catalog, streams={**catalog.streams, **made})
        catalog = _follow_rows(catalog, union.blocks)
    catalog = _add_buckets(add_views(catalog, union.views), union.buckets)
    return add_derived(catalog, union.derived) if union.derived else catalog


def add_statics(catalog: Catalog, statics: Sequence[Relation]) -> Catalog:
    """The catalog with static relations that a query makes."""
    if all(relation.name in catalog.relations for relation in statics):
        return catalog
    relations = {**catalog.relations, **{r.name: r for r in statics}}
    return replace(catalog, relations=relations)


def _follow_rows(catalog: Catalog, blocks: Sequence[Block]) -> Catalog:
    """The catalog where what lags behind a stream lags behind its rows with versions, too."""
    streams = dict(catalog.streams)
    for block in blocks:
        if block.meeting is None:
            continue
        for name, stream in streams.items():
            more = [
                replace(lag, behind=block.stream.name)
                for lag in stream.lags
                if lag.behind == block.meeting.base
            ]
            if more:
                lags = tuple(dict.fromkeys((*stream.lags, *more)))
                streams[name] = replace(stream, lags=lags)
    return replace(catalog, streams=streams)


def _add_buckets(catalog: Catalog, buckets: Sequence[tuple[str, Column]]) -> Catalog:
    streams = dict(catalog.streams)
    for name, column in buckets:
        stream = streams[name]
        if stream.column(column.name) is None:
            streams[name] = replace(stream, columns=(*stream.columns, column))
    return replace(catalog, streams=streams) if buckets else catalog


def tables_of(union: SpjUnion) -> set[str]:
    """The tables of the catalog that a query reads, those included that its views, and the queries
    that it reads, are made from."""
    names = base_tables({o.table for q in union.disjuncts for o in q.occurrences}, union.views)
    for block in union.blocks:
        if block.meeting is not None:
            names |= base_tables([block.meeting.base], union.views)
        if isinstance(block.meeting, Meeting):
            names.add(block.meeting.versions.stream)
    names -= {block.stream.name for block in union.blocks}
    return names.union(*(tables_of(q) for block in union.blocks for q in block.queries))


def base_tables(names: Iterable[str], views: Sequence[View]) -> set[str]:
    """The tables of the catalog that tables are made from: of what is no view, itself."""
    made = {view.name: view for view in views}
    tables: set[str] = set()
    unread = list(dict.fromkeys(names))
    while unread:
        name = unread.pop()
        if name in made:
            unread += made[name].tables
        else:
            tables.add(name)
    return tables


def used_views(names: Iterable[str], views: Sequence[View]) -> tuple[View, ...]:
    """Those of the views that are among some tables, and those that these are made from; a view
    comes after what it is made from, as it is given."""
    made = {view.name: view for view in views}
    unread = list(names)
    read: set[str] = set()
    while unread:
        name = unread.pop()
        if name in made and name not in read:
            read.add(name)
            unread += made[name].tables
    return tuple(view for view in views if view.name in read)


def _stream_of(branch: ViewBranch) -> Occurrence | None:
    """The stream that a branch is over."""
    if branch.time is None:
        return None
    return next(o for o in branch.occurrences if o.alias == branch.time.alias)


def _behind(lags: Sequence[Lag], view: View) -> tuple[Lag, ...]:
    """The lags behind a view: those behind the streams of all its branches."""
    of_each = []
    for branch in view.branches:
        base = _stream_of(branch)
        if base is None:
            return ()
        names = {
            column.column: made.name
            for column, made in zip(branch.columns, view.table.columns, strict=True)
            if isinstance(column, Attribute) and column.alias == base.alias
        }
        of_each.append(
            [
                replace(lag, behind=view.name, to=tuple(names[c] for c in lag.to))
                for lag in lags
                if lag.behind == base.table and set(lag.to) <= set(names)
            ]
        )
    return weakest_lags(of_each)
