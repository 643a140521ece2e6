"""The views of a query after something else is declared of the tables that they read."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Stream
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
    declare = declare_stream if isinstance(view.table, Stream) else declare_relation
    table = declare(view.name, view.branches, catalog, distinct=view.distinct)
    return replace(view, table=table)
