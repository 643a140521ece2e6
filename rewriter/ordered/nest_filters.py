"""Conditions with subqueries below functions over windows: rows are chosen before they are looked
at, in a subquery of their own."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_place, list_windows
from ontoweir.rewriter.ordered.nest_joined import nest_joined

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = frozenset({"expressions", "from_", "where", "qualify", "windows", "with_", "order"})


def nest_filters(tree: "exp.Query", catalog: Catalog) -> None:
    """Where a SELECT of functions over windows of the rows of a stream has EXISTS, IN or other
    conditions with subqueries in WHERE, read these of the rows in FROM, in place: `LAG(x) OVER (…)
    FROM s WHERE k IN (SELECT …)` is that of `(SELECT * FROM s WHERE k IN (SELECT …)) AS s`. And of
    rows that are joined with static relations (nest_joined).

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    nest_joined(tree, catalog)
    for select in list(tree.find_all(exp.Select)):
        start, where = select.args.get("from_"), select.args.get("where")
        if start is None or where is None or where.find(exp.Query) is None:
            continue
        windows = list_windows(select)
        if not windows or any(is_place(w) or w.args.get("order") is None for w in windows):
            continue  # the latest rows, and those of a bucket, are read with their conditions
        if not {k for k, v in select.args.items() if v} <= _PLAIN:
            continue
        table, tables = start.this, list_tables(select, catalog).tables
        if not isinstance(table, exp.Table) or {k for k, v in table.args.items() if v} - {
            "this",
            "alias",
        }:
            continue
        if not isinstance(tables.get(table.alias_or_name), Stream):
            continue
        inside: list[exp.Expr] = []
        left: list[exp.Expr] = []
        for condition in split_conjuncts(where.this):
            (inside if condition.find(exp.Query) is not None else left).append(condition.copy())
        rows = exp.select("*").from_(table.copy()).where(*inside, copy=False)
        start.set("this", rows.subquery(table.alias_or_name))
        select.set("where", exp.Where(this=exp.and_(*left, copy=False)) if left else None)
