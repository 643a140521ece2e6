"""GROUP BY ALL."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def group_all(select: "exp.Select") -> None:
    """Group by all that is selected and has no aggregate, where GROUP BY ALL says so."""
    from sqlglot import exp

    group = select.args.get("group")
    if group is None or not group.args.get("all") or group.expressions:
        return
    plain = [
        inner.copy()
        for item in select.expressions
        if not (inner := item.unalias()).find(exp.AggFunc) and not isinstance(inner, exp.Literal)
    ]
    select.set("group", exp.Group(expressions=plain) if plain else None)
