"""What is asked around what comes and goes, in the words that are read: joins and unions of it."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.around.join_filters import join_filters
from ontoweir.rewriter.around.join_totals import join_totals
from ontoweir.rewriter.around.nest_running import nest_running
from ontoweir.rewriter.around.open_outer import open_outer
from ontoweir.rewriter.around.open_scalars import open_scalars
from ontoweir.rewriter.around.show_keys import show_keys
from ontoweir.rewriter.grouped.lift_having import lift_having
from ontoweir.rewriter.ordered.split_groupings import split_groupings

if TYPE_CHECKING:
    from sqlglot import exp


def open_around(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query without values alone, RIGHT and FULL JOIN, totals over rows or groups, several
    groupings, groups that do not show their keys, and HAVING of groups of all rows so far, of a
    subquery too: these are joins, unions, subqueries and conditions around them.

    Args:
        tree: the query, whose names are as they were written; it is not changed.
        catalog: the tables.
    """
    from sqlglot import exp

    made = open_outer(open_scalars(tree), catalog)
    made = join_filters(join_totals(made))
    made = lift_having(split_groupings(made.copy(), catalog))
    for inner in [s for s in made.find_all(exp.Select) if s is not made]:
        if (nested := nest_running(inner)) is not inner:
            inner.replace(nested)
    return nest_running(show_keys(made))
