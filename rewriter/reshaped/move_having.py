"""Conditions of HAVING on what is grouped by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def move_having(tree: "exp.Query") -> "exp.Query":
    """`WHERE k = 5 GROUP BY k` for `GROUP BY k HAVING k = 5`, of columns that are grouped by alone:
    groups without it are of rows without it. In place.

    Args:
        tree: the query, with names as they were written.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        group, having = select.args.get("group"), select.args.get("having")
        if (
            group is None
            or having is None
            or {k for k, v in group.args.items() if v} - {"expressions"}
        ):
            continue
        named = {e.alias.lower() for e in select.expressions if isinstance(e, exp.Alias)}
        keys = [k for k in group.expressions if isinstance(k, exp.Column)]
        parts = list(having.this.flatten()) if isinstance(having.this, exp.And) else [having.this]
        moved = [p for p in parts if _is_of_keys(p, keys, named)]
        if not moved:
            continue
        left = [p.copy() for p in parts if not any(p is m for m in moved)]
        select.where(*(m.copy() for m in moved), copy=False)
        select.set("having", exp.Having(this=exp.and_(*left)) if left else None)
    return tree


def _is_of_keys(condition: "exp.Expr", keys: "Sequence[exp.Expr]", named: set[str]) -> bool:
    """Whether a condition reads columns that are grouped by, and nothing else, by names that SELECT
    does not give to something."""
    from sqlglot import exp

    columns = list(condition.find_all(exp.Column))
    if not columns or condition.find(exp.AggFunc, exp.Query, exp.Window, exp.Anonymous) is not None:
        return False
    return all(c in keys and c.name.lower() not in named for c in columns)
