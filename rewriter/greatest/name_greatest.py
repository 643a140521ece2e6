"""The greatest time of each key, in the words in which it is read."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.greatest.compare_extremes import name_extremes
from ontoweir.rewriter.greatest.inline_greatest import inline_greatest
from ontoweir.rewriter.greatest.keep_groups import keep_groups
from ontoweir.rewriter.greatest.number_last import number_last
from ontoweir.rewriter.latest.compare_all import compare_all
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp


def name_greatest(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in which

    - `LEAD(ts) OVER (PARTITION BY k ORDER BY ts) IS NULL` is ROW_NUMBER() … = 1, and
      `ts = MAX(ts) OVER (PARTITION BY k)` is RANK() … = 1, in the order of later rows first;
    - groups of the greatest time of each key, which WITH names and one join reads, are written
      there, and USING is ON;
    - the greatest values of a window, by >= ALL and = (SELECT MAX …), are those without a greater
      one;
    - what compares such a time with NOW(), around its groups or rows, is HAVING.

    Args:
        tree: the query; it is changed in place.
        catalog: the tables.

    Raises:
        SqlRefusal: LEAD of a time IS NULL beside others, which it never is where it is read.
    """
    from sqlglot import exp

    for select in [s for s in tree.find_all(exp.Select) if has_now(s)]:
        compare_all(select, catalog)
        name_extremes(select, catalog)
    if tree.find(exp.Window) is not None:
        for select in list(tree.find_all(exp.Select)):
            number_last(select, catalog)
    if tree.find(exp.Max, exp.Min, exp.Window) is not None:
        inline_greatest(tree, catalog)
        return keep_groups(tree, catalog)
    return tree
