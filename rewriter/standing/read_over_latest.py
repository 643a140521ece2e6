"""What is asked of the latest row of each key, in SQL: which of them are told."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.beside.nest_outer import nest_outer
from ontoweir.rewriter.beside.put_columns import (
    PutColumns,
    is_told,
    list_beside,
    share_names,
)
from ontoweir.rewriter.differences.name_columns import name_tables
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_latest import named_windows, read_latest
from ontoweir.rewriter.standing.nest_latest import nest_latest, says_which
from ontoweir.rewriter.standing.standing_rows import KEY, StandingRows

if TYPE_CHECKING:
    from sqlglot import exp


def read_over_latest(tree: "exp.Query", catalog: Catalog) -> StandingRows | None:
    """SELECT … FROM (the latest row of each key) WHERE …: the latest row ends the earlier ones of
    its key whether it is told or not.

    None: it is something else, or nothing but the latest rows themselves.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: a column is none of the subquery.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    tree = nest_outer(nest_latest(tree), catalog)
    start = tree.args.get("from_")
    inside = None if start is None else start.this
    beyond = [k for k in ("qualify", "laterals", "with_") if tree.args.get(k)]
    beside = list_beside(tree, catalog)
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select) or beyond:
        return None
    if beside is None or not is_plain(inside) or says_which(tree) or named_windows(inside.this):
        return None
    where = tree.args.get("where")
    if any(e.find(exp.Window, exp.Subquery, exp.Exists) for e in tree.expressions):
        return None
    said = [] if where is None else list(split_conjuncts(where.this))
    if not all(is_told(c, catalog) for c in said):
        return None
    latest = read_latest(inside.this, catalog)
    if latest.key is None or not isinstance(latest.tree, exp.Select):
        return None
    rows = latest.tree
    static = bool(beside) or any(c.find(exp.Query) for c in said)
    static = static or len(list(rows.find_all(exp.Select))) > 1
    if static:
        if share_names(rows, tree):
            return None
        name_tables(rows, list_tables(rows, catalog))
    own = inside.alias_or_name.lower()
    key = [rows.expressions[place].unalias() for place in latest.key]

    put = PutColumns(rows, own, beside, catalog)
    told = rows.copy()
    if said:
        told.where(*map(put, said), copy=False)
    for join in beside:
        side, on = join.args.get("side"), join.args.get("on")
        on = None if on is None else put(on)
        told.append("joins", exp.Join(this=join.this.copy(), side=side, on=on))
    if beside and any(item.is_star for item in tree.expressions):
        return None
    items = _list_items(tree, put)
    keyed = [exp.alias_(e.copy(), f"{KEY} {n + 1}", quoted=True) for n, e in enumerate(key)]
    groups = aggregates(tree)
    if groups:
        for part in ("group", "having"):
            told.set(part, put(of) if (of := tree.args.get(part)) is not None else None)
    counted = [
        exp.alias_(exp.Count(this=e.copy()), f"{KEY} {n + 1}", quoted=True)
        for n, e in enumerate(key)
    ]
    told.set("expressions", [*items, *(counted if groups else keyed)])
    enders = rows.copy()
    enders.set("expressions", [e.copy() for e in keyed])
    distinct = tree.args.get("distinct") is not None
    return StandingRows(
        told,
        (enders,),
        len(key),
        tuple(range(len(key))),
        distinct=distinct,
        nulls=True,
        groups=groups,
        over=True,
        beside=static,
    )


def _list_items(tree: "exp.Select", put: PutColumns) -> "list[exp.Expr]":
    """What is selected around the latest rows, of what these are."""
    from sqlglot import exp

    items: list[exp.Expr] = []
    for item in tree.expressions:
        if item.is_star:
            items += [exp.alias_(e.copy(), n, quoted=True) for n, e in put.named.items()]
        else:
            plain = item.alias or isinstance(item, exp.Column)
            name = item.alias_or_name if plain else item.sql("spark")
            items.append(exp.alias_(put(item.unalias()), name, quoted=True))
    return items
