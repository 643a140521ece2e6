"""Which columns of the catalog's tables a view's column is made from."""

from collections.abc import Iterator, Mapping

from ontoweir.rewriter.model.spj import View, column_attributes


def find_origins(table: str, column: str, views: Mapping[str, View]) -> Iterator[tuple[str, str]]:
    """(table, column) for every branch of a view; of a table that is no view, itself."""
    view = views.get(table)
    if view is None:
        yield table, column
        return
    place = next((n for n, c in enumerate(view.table.columns) if c.name == column), None)
    for branch in view.branches:
        tables = {o.alias: o.table for o in branch.occurrences}
        given = branch.time if place is None else branch.columns[place]
        for made in () if given is None else column_attributes(given):
            yield from find_origins(tables[made.alias], made.column, views)
