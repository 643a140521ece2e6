"""The SELECTs whose WHERE says something of NOW()."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp


def list_dated(tree: "exp.Query") -> "Iterator[tuple[exp.Select, exp.Expr]]":
    """The SELECTs of a query with NOW() in WHERE, each with its first item of FROM; they may be
    changed.

    Args:
        tree: the query.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        where, start = select.args.get("where"), select.args.get("from_")
        if where is not None and start is not None and any(map(is_now, where.walk())):
            yield select, start.this
