"""HAVING in a subquery, as a condition around it."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.latest_rows import is_plain

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "group", "having"}
_VALUE = "value of having"
"""How the aggregates are called that HAVING compares, and nothing shows, with a number."""


def lift_having(tree: "exp.Query") -> "exp.Query":
    """`SELECT … FROM (SELECT k, AVG(x) AS m … GROUP BY k) AS b WHERE b.m > 3` for `SELECT … FROM
    (SELECT k, AVG(x) AS m … GROUP BY k HAVING AVG(x) > 3) AS b`, where nothing is joined with it,
    and its columns are named one by one.

    Args:
        tree: the query, whose names are as they were written; it is not changed.
    """
    from sqlglot import exp

    made = tree.copy()
    for select in list(made.find_all(exp.Select)):
        start = select.args.get("from_")
        starred = any(e.is_star for e in select.expressions)
        if start is None or select.args.get("joins") or starred:
            continue
        item = start.this
        inner = item.this if isinstance(item, exp.Subquery) and is_plain(item) else None
        if isinstance(inner, exp.Select) and item.alias and inner.args.get("having") is not None:
            _lift(select, inner, item.alias)
    return made


def _lift(select: "exp.Select", inner: "exp.Select", alias: str) -> None:
    """Say of the groups what HAVING does, in place, if all that it reads can be shown."""
    from sqlglot import exp

    if {k for k, v in inner.args.items() if v} - _READ or inner.args.get("group") is None:
        return
    if any(e.is_star or not e.alias_or_name for e in inner.expressions):
        return
    shown = {e.unalias(): e.alias_or_name for e in inner.expressions}
    names = {name.lower() for name in shown.values()}
    more: list[exp.Expr] = []
    holder = exp.Paren(this=inner.args["having"].this.copy())
    for call in list(holder.find_all(exp.AggFunc, exp.Filter)):
        if call.find_ancestor(exp.AggFunc, exp.Filter, exp.Query) is None:
            name = shown.get(call)
            if name is None:
                name = shown[call.copy()] = f"{_VALUE} {len(more)}"
                more.append(exp.alias_(call.copy(), name, quoted=True))
            call.replace(exp.column(name, alias, quoted=True))
    for column in list(holder.find_all(exp.Column)):
        if column.table == alias:
            continue
        name = shown.get(column)
        if name is None and not column.table and column.name.lower() in names:
            name = column.name
        if name is None or holder.find(exp.Query) is not None:
            return
        column.replace(exp.column(name, alias, quoted=True))
    inner.set("having", None)
    inner.set("expressions", [*inner.expressions, *more])
    select.where(holder.this.copy(), copy=False)
