"""Names of subqueries in FROM that have none, and are more than rows of tables."""

from itertools import count
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog

if TYPE_CHECKING:
    from sqlglot import exp


def name_subqueries(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`FROM (SELECT k, COUNT(*) …) AS subquery` for `FROM (SELECT k, COUNT(*) …)`: what asks for
    the columns of a part by its name finds them of each. In place.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables, whose names are not given again.
    """
    from sqlglot import exp

    taken = {i.name.lower() for i in tree.find_all(exp.Identifier)}
    taken |= {name.lower() for name in (*catalog.streams, *catalog.relations, *catalog.views)}
    names = ("subquery" if n == 1 else f"subquery_{n}" for n in count(1))
    more = (exp.AggFunc, exp.Window, exp.Except, exp.Intersect, exp.Limit, exp.Distinct)
    free = (name for name in names if name not in taken)
    for item in tree.find_all(exp.Subquery, bfs=True):
        if isinstance(item.parent, exp.From | exp.Join) and not item.args.get("alias"):
            while isinstance(item.this, exp.Subquery) and not item.this.args.get("alias"):
                item.this.replace(item.this.this)
            if isinstance(item.this, exp.Query) and item.this.find(*more) is not None:
                name = exp.to_identifier(next(free), quoted=True)
                item.set("alias", exp.TableAlias(this=name))
    return tree
