"""DISTINCT ON."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def number_rows(select: "exp.Select") -> None:
    """QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY …) = 1 for SELECT DISTINCT ON (key) …
    ORDER BY key, …; in place. Without an order that begins with the key it stays, and is
    refused."""
    from sqlglot import exp

    distinct, order = select.args.get("distinct"), select.args.get("order")
    on = None if distinct is None else distinct.args.get("on")
    if on is None or order is None or select.args.get("qualify"):
        return
    keys = [k.unnest() for k in (on.expressions if isinstance(on, exp.Tuple) else [on])]
    first, rest = order.expressions[: len(keys)], order.expressions[len(keys) :]
    if not rest or any(k not in keys for k in (o.this for o in first)):
        return
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[k.copy() for k in keys],
        order=exp.Order(expressions=[o.copy() for o in rest]),
    )
    one = exp.EQ(this=window, expression=exp.Literal.number(1))
    select.set("distinct", None)
    select.set("order", None)
    select.set("qualify", exp.Qualify(this=one))
