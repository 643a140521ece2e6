"""The views of a query after something else is declared of the tables that they read."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.model.spj import SpjUnion, View
from ontoweir.rewriter.views.declare_view import declare_relation, declare_stream


def redeclare_views(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query with what a catalog's declarations say of its views."""
    return replace(union, views=tuple(_redeclare(v, catalog) for v in union.views))


def _redeclare(view: View, catalog: Catalog) -> View:
    declare = declare_stream if isinstance(view.table, Stream) else declare_relation
    table = declare(view.name, view.branches, catalog, distinct=view.distinct)
    return replace(view, table=table)
