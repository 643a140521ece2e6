"""Whether a column of a table of a query has the values by which rows are divided."""

from collections.abc import Sequence

from ontoweir.checker.partition.trace_column import trace_column
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.model.spj import View
from ontoweir.runtime.division.division import Division


def find_divider(
    division: Division, catalog: Catalog, views: Sequence[View], table: str, column: str
) -> Stream | None:
    """A stream whose dividing column has the values of a column of a table as they are (None: none
    has).

    Args:
        division: of the rows.
        catalog: the tables, views among them.
        views: the views of the query.
        table: a stream, or a view over streams.
        column: of it.
    """
    traced = trace_column(catalog, views, table, column)
    if not traced or any(division.columns.get(stream) != name for stream, name in traced):
        return None
    return catalog.streams[traced[0][0]]
