"""Of a query over views: without which of their branches it would be bounded."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ontoweir.diagnostics import Label, Reason
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.model.moments import is_moments
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion, View
from ontoweir.rewriter.views.redeclare_views import redeclare_views

MAX_BRANCHES = 8
"""Of views of more branches it is not asked."""


def blame_branches(
    query: SpjQuery, union: SpjUnion, catalog: Catalog, holds: Callable[[Catalog], bool]
) -> Iterator[Reason]:
    """The mappings without which a disjunct that has no plan would have one.

    Args:
        query: the disjunct.
        union: the query, with its views.
        catalog: the tables, the views among them.
        holds: whether the disjunct is bounded over a catalog.
    """
    for view in union.views:
        if not any(o.table == view.name for o in query.occurrences):
            continue
        if is_moments(view) or not 1 < len(view.branches) <= MAX_BRANCHES:
            continue
        for number, branch in enumerate(view.branches):
            others = view.branches[:number] + view.branches[number + 1 :]
            if holds(_declare(replace(view, branches=others), catalog)):
                _, origin = branch.provenance[0]
                label = None
                if origin.mapping_source is not None:
                    place = origin.mapping_source
                    label = Label("mapping", place, "only it is to blame", origin.shown)
                yield Reason(
                    f"without the mapping {origin.shown} the query would be bounded", label
                )


def _declare(view: View, catalog: Catalog) -> Catalog:
    (changed,) = redeclare_views(SpjUnion("", (), (), False, views=(view,)), catalog).views
    pairs = zip(changed.table.columns, view.table.columns, strict=True)
    names = {own.name: given.name for own, given in pairs}  # as the query has them
    columns = tuple(replace(c, name=names[c.name]) for c in changed.table.columns)
    match changed.table:
        case Relation() as table:
            table = replace(table, columns=columns, keys=view.table.keys)
            return replace(catalog, relations={**catalog.relations, view.name: table})
        case Stream() as stream:
            references = (
                replace(r, columns=tuple(names[c] for c in r.columns)) for r in stream.references
            )
            lags = (replace(g, columns=tuple(names[c] for c in g.columns)) for g in stream.lags)
            stream = replace(
                stream,
                timestamp=view.timestamp or stream.timestamp,
                columns=columns,
                keys=view.table.keys,
                references=tuple(references),
                lags=tuple(lags),
            )
            return replace(catalog, streams={**catalog.streams, view.name: stream})
