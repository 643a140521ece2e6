"""Which aggregates may be of the rows of several sides, some of which only say that a group is
there."""

from collections.abc import Set
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.registers.group_sides import ROWS
from ontoweir.rewriter.registers.is_strict import adds_nothing, is_strict, never_true

if TYPE_CHECKING:
    from sqlglot import exp


def list_calls(select: "exp.Select") -> "list[exp.Expr]":
    """The aggregates of SELECT and HAVING, each with its FILTER."""
    from sqlglot import exp

    having = select.args.get("having")
    places = [*select.expressions, *([] if having is None else [having])]
    calls = [c for p in places for c in p.find_all(exp.AggFunc)]
    return [c.parent if isinstance(c.parent, exp.Filter) else c for c in calls]


def list_plain_counts(select: "exp.Select") -> "list[exp.Expr]":
    """Its COUNT(*) and COUNT(column), but those with a FILTER."""
    from sqlglot import exp

    counts = [c for c in list_calls(select) if isinstance(c, exp.Count)]
    return [c for c in counts if isinstance(c.this, (exp.Star, exp.Column))]


def is_mark(call: "exp.Expr") -> bool:
    """Whether an aggregate is of what marks the rows of a side."""
    from sqlglot import exp

    columns = list(call.find_all(exp.Column))
    return bool(columns) and all(c.table == ROWS for c in columns)


def check_call(call: "exp.Expr", hidden: Set[tuple[str, str]]) -> None:
    """Raise SqlRefusal unless rows in which some columns are NULL change nothing in an aggregate,
    but that there is a group.

    Args:
        call: with its FILTER; its columns say of which table they are.
        hidden: these columns, by alias and name.
    """
    from sqlglot import exp

    inner = call
    if isinstance(call, exp.Filter):
        if never_true(call.expression.this, hidden):
            return
        inner = call.this
    if isinstance(inner, (exp.ArgMax, exp.ArgMin)) and is_strict(inner.expression, hidden):
        return
    argument = inner.this
    once = isinstance(inner, (exp.Min, exp.Max, exp.AnyValue))
    if isinstance(argument, exp.Distinct):
        once = isinstance(inner, exp.Count) and len(argument.expressions) == 1
        argument = argument.expressions[0]
    if isinstance(argument, exp.Expr):
        columns = {(c.table, c.name) for c in argument.find_all(exp.Column)}
        if is_strict(argument, hidden) or (once and columns and not columns & hidden):
            return
        if isinstance(inner, exp.Sum) and adds_nothing(argument, hidden):
            return
        if isinstance(inner, exp.CountIf) and never_true(argument, hidden):
            return
    raise SqlRefusal(
        f"{show_sql(call)} of rows without a partner",
        why="an aggregate over a LEFT JOIN of a static relation with a stream, or beside a HAVING "
        "with NOW(), is of columns of the stream, which are NULL in a row without a partner: "
        "COALESCE, IS NULL and CASE … ELSE make it count too, and so do columns of the relation in "
        "SUM, COUNT and AVG",
        fix="count and add up columns of the stream, as in COUNT(r.sensor), SUM(r.value), or "
        "COUNT(*) FILTER (WHERE r.value > 5); or use MIN or MAX of a column of the relation",
        line=line_of(call),
    )
