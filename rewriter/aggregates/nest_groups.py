"""Groups that are compared with aggregates of other rows, as groups that are joined with these."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.phrasings.name_conditions import name_conditions
from ontoweir.rewriter.syntax.name_items import write_name

if TYPE_CHECKING:
    from sqlglot import exp

_GROUPS, _KEY, _CALL = "groups", "key", "call"


def nest_groups(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """SELECT … FROM (SELECT k, AVG(x) … GROUP BY k) AS groups WHERE … for SELECT … GROUP BY k
    HAVING AVG(x) > (SELECT …): where a subquery is a value in SELECT or HAVING of an aggregate
    query. A query without one stays as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return tree
    grouped = tree.args.get("group") or tree.args.get("having")
    if not grouped and not list_own(tree, exp.AggFunc):
        return tree
    having = tree.args.get("having")
    places = [*tree.expressions, *([] if having is None else [having])]
    values = [n for p in places for n in p.find_all(exp.Subquery)]
    if all(v.find_ancestor(exp.AggFunc, exp.Select) is not tree for v in values):
        return tree
    inner = tree.copy()
    name_conditions(inner)
    inner = name_aggregates(inner)
    having = inner.args.get("having")
    scope, group = list_tables(inner, catalog), inner.args.get("group")
    if group is not None and {k for k, v in group.args.items() if v} - {"expressions"}:
        return tree
    listed = [] if group is None else group.expressions
    keys = list(dict.fromkeys(mean_group(g, inner, scope).copy() for g in listed))
    outer = exp.Select()
    for item in inner.expressions:
        if item.is_star:
            return tree
        plain = item.alias or isinstance(item, exp.Column)
        name = item.alias_or_name if plain else write_name(item)
        outer.append("expressions", exp.alias_(item.unalias().copy(), name, quoted=True))
    if having is not None:
        outer.set("where", exp.Where(this=having.this.copy()))
    calls: list[exp.Expr] = []
    for call in list_own(outer, exp.AggFunc):
        if call not in calls:
            calls.append(call.copy())
    for node in list(outer.walk()):
        column: exp.Expr | None = None
        if node in calls and node.find_ancestor(exp.Select) is outer:
            column = exp.column(f"{_CALL} {calls.index(node)}", _GROUPS, quoted=True)
        elif node in keys and _is_outer(node, outer):
            column = exp.column(f"{_KEY} {keys.index(node)}", _GROUPS, quoted=True)
        if column is not None and node.parent is not None:
            node.replace(column)
    shown = [exp.alias_(k.copy(), f"{_KEY} {n}", quoted=True) for n, k in enumerate(keys)]
    shown += [exp.alias_(c.copy(), f"{_CALL} {n}", quoted=True) for n, c in enumerate(calls)]
    inner.set("expressions", shown)
    inner.set("having", None)
    inner.set("group", exp.Group(expressions=[k.copy() for k in keys]) if keys else None)
    outer.set("from_", exp.From(this=inner.subquery(_GROUPS)))
    return outer


def _is_outer(node: "exp.Expr", outer: "exp.Select") -> bool:
    """Whether what is grouped by is meant: within a subquery, only a column that says of which
    table it is, which the subquery does not read."""
    from sqlglot import exp

    around = node.find_ancestor(exp.Select)
    while around is not None and around is not outer:
        read = [t.alias_or_name.lower() for t in around.find_all(exp.Table, exp.Subquery)]
        if not isinstance(node, exp.Column) or not node.table or node.table.lower() in read:
            return False
        around = around.find_ancestor(exp.Select)
    return True
