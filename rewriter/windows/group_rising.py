"""Group by a column that tells the time when answers are final, as by this time."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import read_from

if TYPE_CHECKING:
    from sqlglot import exp


def group_rising(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A query of one stream of answers that is grouped by a column that rises with their timestamp
    (`Catalog.rising`): rows that are alike in it have one timestamp, by which it is grouped too, so
    that its groups are final at once. Any other query as it is.

    Args:
        tree: with names that are resolved; it is not changed.
        catalog: the tables.
    """
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None or not catalog.rising or tree.args.get("joins"):
        return tree
    columns = [c for c in group.expressions if isinstance(c, exp.Column)]
    try:
        scope, _, _ = read_from(tree, catalog)
        places = [scope.resolve(c.table or None, c.name, line_of(c)) for c in columns]
    except SqlRefusal:  # said where it is read
        return tree
    for place in places:
        stream = scope.tables[place.alias]
        rising = catalog.rising.get(stream.name, frozenset())
        if isinstance(stream, Stream) and stream.data == ANSWERS and place.column in rising:
            if any(p.column == stream.timestamp for p in places):
                return tree
            made = tree.copy()
            time = exp.column(stream.timestamp, place.alias, quoted=True)
            made.args["group"].append("expressions", time)
            return made
    return tree
