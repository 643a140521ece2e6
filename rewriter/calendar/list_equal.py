"""Equations of two buckets of time of one kind: `date_trunc('hour', a.ts) = date_trunc('hour',
b.ts)`, and tables of windows that are joined on `window_start`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_sql_grid

if TYPE_CHECKING:
    from sqlglot import exp


def list_equal(tree: "exp.Select") -> "Iterator[tuple[exp.Expr, exp.Expr]]":
    """The sides of equations of two buckets of one kind, in WHERE and ON."""
    from sqlglot import exp

    where = tree.args.get("where")
    places = [] if where is None else [where.this]
    places += [on for j in tree.args.get("joins") or () if (on := j.args.get("on"))]
    for place in places:
        for node in place.find_all(exp.EQ):
            left, right = node.this, node.expression
            if not (is_grid(left) and is_grid(right)):
                continue
            one, other = read_sql_grid(left), read_sql_grid(right)
            if (one.grid, one.ends) == (other.grid, other.ends):
                yield left, right
