"""The views of a query after something else is declared of the tables that they read."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.model.add_views import add_views
from ontoweir.rewriter.model.spj import SpjUnion, View
from ontoweir.rewriter.views.declare_view import declare_relation, declare_stream


def redeclare_views(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query with what a catalog's declarations say of its views."""
    views: list[View] = []
    for view in union.views:
        views.append(_redeclare(view, catalog))
        catalog = add_views(catalog, views[-1:])
    return replace(union, views=tuple(views))


def _redeclare(view: View, catalog: Catalog) -> View:
    table: Stream | Relation
    if isinstance(view.table, Stream):
        table = declare_stream(
            view.name, view.branches, catalog, distinct=view.distinct, without=view.without
        )
    else:
        table = declare_relation(view.name, view.branches, catalog, distinct=view.distinct)
    return replace(view, table=table)
