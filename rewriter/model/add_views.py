"""Adds the views of a query to the catalog, as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Lag, Relation, Stream
from ontoweir.rewriter.model.spj import Attribute, Occurrence, SpjUnion, View


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
    behind = [(b, v) for v in views if (b := _only_stream(v)) is not None]
    for name, stream in streams.items():
        more = [made for lag in stream.lags for b, v in behind if (made := _behind(lag, b, v))]
        if more:
            streams[name] = replace(stream, lags=(*stream.lags, *more))
    return replace(catalog, streams=streams, relations=relations)


def extend_catalog(catalog: Catalog, union: SpjUnion) -> Catalog:
    """The catalog with a query's views as tables of it."""
    return add_views(catalog, union.views)


def tables_of(union: SpjUnion) -> set[str]:
    """The tables of the catalog that a query reads, those that its views are made from included."""
    return base_tables({o.table for q in union.disjuncts for o in q.occurrences}, union.views)


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


def _only_stream(view: View) -> Occurrence | None:
    """The stream of a view that has one branch."""
    if len(view.branches) != 1 or view.branches[0].time is None:
        return None
    (branch,) = view.branches
    assert branch.time is not None
    return next(o for o in branch.occurrences if o.alias == branch.time.alias)


def _behind(lag: Lag, base: Occurrence, view: View) -> Lag | None:
    if lag.behind != base.table:
        return None
    names = {
        column.column: made.name
        for column, made in zip(view.branches[0].columns, view.table.columns, strict=True)
        if isinstance(column, Attribute) and column.alias == base.alias
    }
    if not set(lag.to) <= set(names):
        return None
    return replace(lag, behind=view.name, to=tuple(names[c] for c in lag.to))
