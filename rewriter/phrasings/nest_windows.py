"""Functions over windows of groups."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import column_names
from ontoweir.rewriter.joins.is_set import is_group
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import list_windows

if TYPE_CHECKING:
    from sqlglot import exp


def nest_windows(select: "exp.Select", catalog: Catalog) -> "exp.Select":
    """SELECT f(…) OVER (…) FROM (SELECT … GROUP BY …) for a SELECT with GROUP BY and functions over
    windows of its groups, in place; the SELECT with GROUP BY, which is inside then. DISTINCT is
    of a query around the windows.

    Args:
        select: names what it is grouped by.
        catalog: the tables; a column of theirs is meant where an item of SELECT has its name, too.
    """
    from sqlglot import exp

    distinct = select.args.get("distinct")
    if distinct is not None and not distinct.args.get("on") and list_windows(select):
        inner = select.copy()
        inner.set("distinct", None)
        inner.set("with_", None)
        items = [_name(item) for item in inner.expressions]
        inner.set("expressions", items)
        if not all(isinstance(item, exp.Alias) for item in items):
            return select
        for key in [k for k, v in select.args.items() if v and k not in ("distinct", "with_")]:
            select.set(key, None)
        names = [exp.column(item.alias, "windows", quoted=True) for item in items]
        select.set("expressions", [exp.alias_(n, n.name, quoted=True) for n in names])
        table = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("windows")))
        select.set("from_", exp.From(this=table))
        return nest_windows(inner, catalog)

    group = select.args.get("group")
    if group is None or not list_windows(select) or not group.expressions:
        return select
    columns = _list_columns(select, catalog)
    named = {
        e.alias.lower(): e.this
        for e in select.expressions
        if isinstance(e, exp.Alias) and e.alias.lower() not in columns
    }
    inner = exp.Select()
    for key in ("from_", "joins", "where", "having"):
        if select.args.get(key) is not None:
            inner.set(key, select.args[key])
            select.set(key, None)
    keys = [_resolve(tree, select, named) for tree in group.expressions]
    inner.set("group", exp.Group(expressions=[k.copy() for k in keys]))
    shown: dict[exp.Expr, str] = {}
    for number, tree in enumerate(keys):
        shown.setdefault(tree, tree.name if isinstance(tree, exp.Column) else f"group {number + 1}")
    select.set("group", None)
    select.set("expressions", [_name(item) for item in select.expressions])
    for place in _list_places(select):
        _replace(place, shown, named)
    inner.set("expressions", [exp.alias_(e.copy(), n, quoted=True) for e, n in shown.items()])
    table = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("groups")))
    select.set("from_", exp.From(this=table))
    return inner


def _list_columns(select: "exp.Select", catalog: Catalog) -> set[str]:
    """The columns of FROM, as far as they are known: of declared tables, and those that are read
    where names of SELECT are not."""
    from sqlglot import exp

    known = {
        n.lower() for t in list_tables(select, catalog).tables.values() for n in column_names(t)
    }
    aliases = [e for e in select.expressions if isinstance(e, exp.Alias)]
    read = [e.this for e in aliases if e.find(exp.Window) is None]
    read += [p for p in (select.args.get("where"),) if p is not None]
    return known | {c.name.lower() for tree in read for c in tree.find_all(exp.Column)}


def _resolve(tree: "exp.Expr", select: "exp.Select", named: "dict[str, exp.Expr]") -> "exp.Expr":
    """What is grouped by: an expression, the place of one in SELECT, or its name there."""
    from sqlglot import exp

    if isinstance(tree, exp.Literal) and not tree.is_string:
        place = int(tree.this) - 1 if str(tree.this).isdigit() else -1
        if 0 <= place < len(select.expressions):
            shown: exp.Expr = select.expressions[place].unalias()
            return shown
    if isinstance(tree, exp.Column) and not tree.args.get("table"):
        return named.get(tree.name.lower(), tree)
    return tree


def _name(item: "exp.Expr") -> "exp.Expr":
    """A column keeps the name that it has."""
    from sqlglot import exp

    if isinstance(item, exp.Column) and not item.is_star:
        return exp.alias_(item.copy(), item.name, quoted=True)
    return item


def _list_places(select: "exp.Select") -> "list[exp.Expr]":
    """What is outside of the groups: items, QUALIFY, named windows, ORDER BY."""
    places = [*select.expressions, *(select.args.get("windows") or ())]
    places += [p for key in ("qualify", "order") if (p := select.args.get(key)) is not None]
    return places


def _replace(tree: "exp.Expr", shown: "dict[exp.Expr, str]", named: "dict[str, exp.Expr]") -> None:
    """Put columns of the groups in the place of what they are grouped by, and of aggregates."""
    from sqlglot import exp

    for key, held in list(tree.args.items()):
        for node in list(held) if isinstance(held, list) else [held]:
            if not isinstance(node, exp.Expr) or key == "alias":
                continue
            meant = node
            if isinstance(node, exp.Column) and not node.args.get("table"):
                meant = named.get(node.name.lower(), node)
            kinds = (exp.AggFunc, exp.Filter, exp.WithinGroup)
            call = isinstance(meant, kinds) and is_group(meant)
            if meant in shown or call:
                name = shown.setdefault(meant, f"value {len(shown) + 1}")
                node.replace(exp.column(name, "groups", quoted=True))
            elif not isinstance(node, exp.Query):
                _replace(node, shown, named)
