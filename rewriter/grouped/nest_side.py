"""Groups of all rows so far, as they are read beside others."""

from typing import TYPE_CHECKING

from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_GROUPS = "groups of a side"
"""What the subquery is called."""


def nest_side(tree: "exp.Select") -> "exp.Select":
    """`SELECT k, v … FROM (SELECT k, AVG(x) AS v FROM s GROUP BY k)` for groups of all rows so far
    alone, as they are read beside others; another query as it is.

    Args:
        tree: the query, whose names are as they were written.
    """
    from sqlglot import exp

    starred = any(e.is_star for e in tree.expressions)
    if tree.args.get("group") is None or starred or rows_leave(tree):
        return tree
    inner, items, columns = tree.copy(), [], []
    for item in tree.expressions:
        name, value = item.alias_or_name or show_sql(item), item.unalias().copy()
        if value.find(exp.Column, exp.AggFunc) is not None:
            items.append(exp.alias_(value, name, quoted=True))
            value = exp.column(name, _GROUPS, quoted=True)
        columns.append(exp.alias_(value, name, quoted=True))
    inner.set("expressions", items)
    alias = exp.TableAlias(this=exp.to_identifier(_GROUPS, quoted=True))
    return exp.Select(expressions=columns).from_(exp.Subquery(this=inner, alias=alias))
