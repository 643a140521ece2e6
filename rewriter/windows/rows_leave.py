"""Whether rows of a SELECT are in windows, and leave them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp


def has_now(tree: "exp.Expr") -> bool:
    """Whether it names the time of evaluation, itself or inside."""
    return any(is_now(node) for node in tree.walk())


def is_windowed(select: "exp.Select") -> bool:
    """Whether it says of its own rows that they are in a window."""
    return any(map(is_now, _walk_conditions(select)))


def rows_leave(select: "exp.Select") -> bool:
    """Whether its own rows leave their window: they are later than some time before NOW(). Those of
    a delay alone stay, as the latest row of each key does (`standing`)."""
    from sqlglot import exp

    for node in _walk_conditions(select):
        match node:
            case exp.GT() | exp.GTE():
                least = node.expression
            case exp.LT() | exp.LTE():
                least = node.this
            case exp.Between():
                least = node.args["low"]
            case _:
                continue
        if has_now(least):
            return True
    return False


def _walk_conditions(select: "exp.Select") -> "Iterator[exp.Expr]":
    """What is in its WHERE and ON, but for subqueries."""
    from sqlglot import exp

    where = select.args.get("where")
    places = [] if where is None else [where]
    places += [on for j in select.args.get("joins") or () if (on := j.args.get("on")) is not None]
    for place in places:
        yield from place.walk(prune=lambda n: isinstance(n, exp.Query))
