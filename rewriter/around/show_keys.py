"""Groups that do not show their keys, or are told each once, as a query around those that do."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "group", "having", "distinct"}


def show_keys(tree: "exp.Query") -> "exp.Query":
    """SELECT … FROM (SELECT k, … GROUP BY k), where SELECT … GROUP BY k does not show k, or
    tells equal rows once; another query as it is.

    Args:
        tree: the query, whose names are as they were written.
    """
    from sqlglot import exp

    group = tree.args.get("group")
    if not isinstance(tree, exp.Select) or group is None or set(_said(tree)) - _READ:
        return tree
    keys, shown = list(group.expressions), [e.unalias() for e in tree.expressions]
    hidden = [k for k in keys if k not in shown and not isinstance(k, exp.Literal)]
    named = all(e.alias_or_name and not e.is_star for e in tree.expressions)
    distinct = tree.args.get("distinct")
    if not (hidden or distinct) or (distinct and distinct.args.get("on")):
        return tree
    if distinct and not rows_leave(tree):
        return tree  # of final groups what is told once is decided by itself
    if len(group.args) > 1 or not named or keys != [k.unnest() for k in keys]:
        return tree
    inner = tree.copy()
    inner.set("distinct", None)
    for number, key in enumerate(hidden):
        inner.append("expressions", exp.alias_(key.copy(), f"key {number}", quoted=True))
    outer = "groups by keys"
    items = [
        exp.alias_(exp.column(e.alias_or_name, outer, quoted=True), e.alias_or_name, quoted=True)
        for e in tree.expressions
    ]
    name = exp.TableAlias(this=exp.to_identifier(outer, quoted=True))
    rows = exp.Subquery(this=inner, alias=name)
    made = exp.Select(expressions=items, from_=exp.From(this=rows))
    return made.distinct(copy=False) if distinct else made


def _said(tree: "exp.Expr") -> list[str]:
    return [name for name, value in tree.args.items() if value]
