"""Whether a SELECT aggregates, and whether duplicates among its rows count."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def aggregates(select: "exp.Query") -> bool:
    """Whether its results are of groups."""
    from sqlglot import exp

    return isinstance(select, exp.Select) and bool(
        select.args.get("group")
        or select.args.get("having")
        or any(is_group(c) for item in select.expressions for c in item.find_all(exp.AggFunc))
    )


def is_group(call: "exp.Expr") -> bool:
    """Whether an aggregate is of a group of rows, not of the rows around one."""
    from sqlglot import exp

    node = call
    while isinstance(node.parent, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        node = node.parent
    return not (isinstance(node.parent, exp.Window) and node.arg_key == "this")


def is_set(select: "exp.Select") -> bool:
    """Whether it says the same of rows that are there once, and several times: it is DISTINCT, or
    has such aggregates only."""
    from sqlglot import exp

    if not aggregates(select):
        return select.args.get("distinct") is not None
    having = select.args.get("having")
    places = [*select.expressions, *([] if having is None else [having])]
    calls = [call for place in places for call in place.find_all(exp.AggFunc)]
    return bool(calls) and all(
        isinstance(call, (exp.Min, exp.Max))
        or (isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct))
        for call in calls
    )
