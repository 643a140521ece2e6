"""Aggregates of conditions: COUNT_IF, BOOL_OR, BOOL_AND; SUM of a constant; ANY_VALUE; and
APPROX_COUNT_DISTINCT, which is exact."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_ALL, _SOME = ("EVERY", "BOOL_AND", "LOGICAL_AND"), ("SOME", "BOOL_OR", "LOGICAL_OR")


def name_conditions(select: "exp.Select") -> None:
    """Put COUNT in the place of COUNT_IF(c), MAX and MIN of 1 and 0 in those of BOOL_OR(c) and
    BOOL_AND(c), all with their FILTER; the number of rows in that of SUM(1), and a multiple of it
    in that of SUM(2); of ANY_VALUE(x) the least, or x if it is grouped by. IFF is IF."""
    from sqlglot import exp

    for named in list(select.find_all(exp.Anonymous)):
        if named.name.upper() == "IFF" and len(named.expressions) == 3:
            test, yes, no = named.expressions
            made: exp.Expr = exp.If(this=test, true=yes, false=no)
            named.replace(made)
    for about in list(select.find_all(exp.ApproxDistinct)):  # the error that is allowed is none
        if not isinstance(about.this, (exp.Distinct, exp.Star)):
            about.replace(exp.Count(this=exp.Distinct(expressions=[about.this.copy()])))
    for item in list(select.expressions):
        if not isinstance(item, exp.Alias) and _find(item):
            item.replace(exp.alias_(item.copy(), item.sql("spark"), quoted=True))
    having = select.args.get("having")
    for place in [*select.expressions, *([] if having is None else [having])]:
        for call in _find(place):
            _replace(call, select)


def _find(place: "exp.Expr") -> "list[exp.Expr]":
    from sqlglot import exp

    return [node for node in place.walk() if _kind(node) or isinstance(node, exp.AnyValue)]


def _kind(node: "exp.Expr") -> str:
    """ "count", "some" or "all": of which conditions it is an aggregate; "rows": it is SUM of a
    constant; "": it is none."""
    from sqlglot import exp

    if isinstance(node, exp.Sum) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        over = isinstance(node.parent, exp.Filter) or node.find_ancestor(exp.Window)
        return "" if over else "rows"
    if isinstance(node, exp.CountIf):
        return "count"
    name = node.name.upper() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.LogicalOr) or name in _SOME:
        return "some"
    return "all" if isinstance(node, exp.LogicalAnd) or name in _ALL else ""


def _replace(call: "exp.Expr", select: "exp.Select") -> None:
    from sqlglot import exp

    kind = _kind(call)
    if isinstance(call, exp.AnyValue):
        if isinstance(call.this, exp.Having) or isinstance(call.parent, exp.Filter):
            return
        group = select.args.get("group")
        grouped = group is not None and call.this in group.expressions
        call.replace(call.this.copy() if grouped else exp.Min(this=call.this.copy()))
        return
    if kind == "rows":  # without GROUP BY there may be none, of which the sum is NULL
        rows: exp.Expr = exp.Count(this=exp.Star())
        if not select.args.get("group"):
            rows = exp.Nullif(this=rows, expression=exp.Literal.number(0))
        if call.this.name != "1":
            rows = exp.Paren(this=exp.Mul(this=rows, expression=call.this.copy()))
        call.replace(rows)
        return
    given = call.expressions if isinstance(call, exp.Anonymous) else [call.this]
    if len(given) != 1 or isinstance(given[0], exp.Distinct):
        return
    condition, place = given[0].copy(), call
    if isinstance(call.parent, exp.Filter) and call.arg_key == "this":
        place = call.parent
        condition = _choose(place.expression.this.copy(), condition)
    if kind == "count":
        place.replace(exp.Count(this=_choose(condition, exp.Literal.number(1))))
        return
    value = _choose(condition, exp.Literal.number(1))
    not_so = exp.Not(this=exp.Paren(this=condition.copy()))
    value.append("ifs", exp.If(this=not_so, true=exp.Literal.number(0)))
    found = exp.Max(this=value) if kind == "some" else exp.Min(this=value)
    place.replace(exp.Paren(this=exp.EQ(this=found, expression=exp.Literal.number(1))))


def _choose(condition: "exp.Expr", value: "exp.Expr") -> "exp.Case":
    from sqlglot import exp

    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value)])
