"""What comes after a row of a window, which is in it too."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp


def imply_windows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`s.ts > NOW() - … AND NOT EXISTS (… WHERE t.ts > s.ts AND t.ts > NOW() - …)` for the same
    without the last condition, which follows; of EXISTS, too.

    Args:
        tree: the query, whose names are as they were written; it is not changed.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for part in list(made.find_all(exp.Exists)):
        around, inner = part.find_ancestor(exp.Select), part.this
        if not isinstance(around, exp.Select) or not isinstance(inner, exp.Select):
            continue
        outer, mine = _list_times(around, catalog), _list_times(inner, catalog)
        where = inner.args.get("where")
        said = [] if where is None else list(split_conjuncts(where.this))
        if any(is_now(node) for c in said for node in c.walk()):
            continue
        for earlier, later in [pair for c in said for pair in _list_later(c)]:
            if _name(earlier) in outer and _name(later) in mine:
                for window in _list_windows(around, earlier):
                    holder = exp.Paren(this=window.copy())
                    for column in list(holder.find_all(exp.Column)):
                        column.replace(later.copy())
                    inner.where(holder.this, copy=False)
    return made


def _name(column: "exp.Expr") -> tuple[str, str]:
    from sqlglot import exp

    return (
        (column.table.lower(), column.name.lower()) if isinstance(column, exp.Column) else ("", "")
    )


def _list_times(select: "exp.Select", catalog: Catalog) -> set[tuple[str, str]]:
    """The timestamps of a SELECT's streams, with their aliases."""
    tables = list_tables(select, catalog).tables
    return {(a.lower(), t.timestamp.lower()) for a, t in tables.items() if isinstance(t, Stream)}


def _list_later(condition: "exp.Expr") -> "list[tuple[exp.Expr, exp.Expr]]":
    """The column that is less than, or equal to, another one, with the latter."""
    from sqlglot import exp

    if isinstance(condition, exp.LT | exp.LTE):
        return [(condition.this, condition.expression)]
    return (
        [(condition.expression, condition.this)] if isinstance(condition, exp.GT | exp.GTE) else []
    )


def _list_windows(select: "exp.Select", time: "exp.Expr") -> "list[exp.Expr]":
    """What says how long before NOW() a time is at most."""
    from sqlglot import exp

    where = select.args.get("where")
    found = []
    for condition in [] if where is None else split_conjuncts(where.this):
        columns = list(condition.find_all(exp.Column))
        now = any(map(is_now, condition.walk()))
        if now and columns and all(_name(c) == _name(time) for c in columns):
            low = isinstance(condition, exp.GT | exp.GTE) and condition.this in columns
            high = isinstance(condition, exp.LT | exp.LTE) and condition.expression in columns
            found += [condition] if low or high else []
    return found
