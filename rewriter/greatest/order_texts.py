"""Comparisons of texts by order, of two columns, as the truth values that they compute."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, StringType
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def order_texts(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in which a condition with `a.id < b.id`, of texts, is `(a.id < b.id) IS TRUE`.

    Numbers and times of two columns are compared as differences, which have a closure; texts have
    none, so their order is computed of the row, or of the match. Of a conjunct the whole is
    computed, as NOT of what is NULL is not true. Beside outer joins, and of what a subquery in
    WHERE compares with the rows around it, it is not. It is changed in place.

    Args:
        tree: the query, before its subqueries are merged.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        if any(join.side for join in select.args.get("joins") or ()):
            continue
        where = select.args.get("where")
        places = [] if where is None else [where.this]
        for join in select.args.get("joins") or ():
            if join.kind in ("", "INNER") and join.args.get("on") is not None:
                places.append(join.args["on"])
        scope = list_tables(select, catalog)
        for conjunct in [c for place in places for c in split_conjuncts(place)]:
            if conjunct.find(exp.Query) is None and _orders_texts(conjunct, scope):
                inner = exp.paren(conjunct.unnest().copy())
                conjunct.replace(exp.Is(this=inner, expression=exp.true()))
    return tree


def _orders_texts(condition: "exp.Expr", scope: Scope) -> bool:
    """Whether it compares two columns of texts by order, or a column with what has others."""
    from sqlglot import exp

    compared = list(condition.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE))
    return any(
        all(_is_text(side.unnest(), scope) for side in (one.this, one.expression))
        and not condition.find(exp.Is, exp.Case)
        for one in compared
    )


def _is_text(tree: "exp.Expr", scope: Scope) -> bool:
    found = resolve(scope, tree)
    column = None if found is None else scope.tables[found[0]].column(found[1])
    return column is not None and isinstance(column.type, StringType)
