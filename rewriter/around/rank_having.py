"""HAVING of groups that may leave what it lets through: each group numbered by itself."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "group", "having"}


def rank_having(tree: "exp.Query") -> "exp.Select | None":
    """`SELECT k, MEDIAN(x) … GROUP BY k QUALIFY RANK() OVER (PARTITION BY k ORDER BY k) = 1 AND
    MEDIAN(x) > 3` for `… HAVING MEDIAN(x) > 3`: as it is the first of its key, which groups are
    told is what HAVING says, and they are changes (None: it has no HAVING, or no key, or more).

    Args:
        tree: the query, whose names are as they were written.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or {k for k, v in tree.args.items() if v} - _READ:
        return None
    group, having = tree.args.get("group"), tree.args.get("having")
    if group is None or having is None or len(group.args) != 1 or has_now(tree):
        return None
    keys = list(group.expressions)
    if not keys or not all(isinstance(k, exp.Column) for k in keys):
        return None
    order = exp.Order(expressions=[exp.Ordered(this=k.copy()) for k in keys])
    number = exp.Window(this=exp.Rank(), partition_by=[k.copy() for k in keys], order=order)
    first = exp.EQ(this=number, expression=exp.Literal.number(1))
    made = tree.copy()
    made.set("having", None)
    made.set("qualify", exp.Qualify(this=exp.and_(first, having.this.copy())))
    return made
