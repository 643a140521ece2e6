"""Intervals that are cast from texts, and sums of conditions, in the words that are read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def spell_values(tree: "exp.Query") -> "exp.Query":
    """INTERVAL '1 hour' for '1 hour'::interval; SUM(CASE WHEN c THEN 1 WHEN NOT c THEN 0 END) for
    SUM(c) of a condition, and AVG likewise; in place.

    Args:
        tree: the query, with names as they were written.
    """
    from sqlglot import exp, parse_one

    for cast in list(tree.find_all(exp.Cast)):
        text = cast.this
        if cast.to.is_type("interval") and isinstance(text, exp.Literal) and text.is_string:
            made = parse_one(f"SELECT INTERVAL '{text.this}'", dialect="spark")
            interval = made.find(exp.Interval)
            if interval is not None and interval.unit is not None:
                cast.replace(interval)
    kinds = (exp.Predicate, exp.Connector, exp.Not)
    for call in list(tree.find_all(exp.Sum, exp.Avg)):
        condition = call.this.unnest()
        if isinstance(condition, kinds) and not isinstance(condition, exp.Query):
            value = exp.Case(
                ifs=[
                    exp.If(this=condition.copy(), true=exp.Literal.number(1)),
                    exp.If(this=exp.not_(condition.copy()), true=exp.Literal.number(0)),
                ]
            )
            call.set("this", value)
    return tree
