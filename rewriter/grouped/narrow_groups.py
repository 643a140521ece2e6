"""Groups of what is rounded, of numbers between two ends that WHERE names: a histogram."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group

if TYPE_CHECKING:
    from sqlglot import exp


def narrow_groups(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`CASE WHEN x >= 0 AND x < 100 THEN FLOOR(x / 10) END` for `FLOOR(x / 10)` that a SELECT
    groups by, where WHERE says so of x: it is the same in all of its rows, and has few values. In
    place.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        _narrow(select, catalog)
    return tree


def _narrow(select: "exp.Select", catalog: Catalog) -> None:
    from sqlglot import exp

    group, where = select.args.get("group"), select.args.get("where")
    if group is None or where is None or {k for k, v in group.args.items() if v} != {"expressions"}:
        return
    scope = list_tables(select, catalog)
    said = list(split_conjuncts(where.this))
    for item in list(group.expressions):
        meant = mean_group(item, select, scope).unnest()
        if meant.find(exp.Floor, exp.Ceil, exp.Round, exp.IntDiv, exp.Cast) is None:
            continue
        columns = {resolve(scope, c) for c in meant.find_all(exp.Column)}
        if len(columns) != 1 or None in columns or meant.find(exp.Case, exp.AggFunc, exp.Window):
            continue
        limits = [c for c in said if resolve(scope, _limited(c)) in columns]
        if {"least", "most"} <= {end for c in limits for end in _list_ends(c)}:
            case = exp.case().when(exp.and_(*(c.copy() for c in limits)), meant.copy())
            _replace(select, meant, case)
            item.replace(case.copy())


def _limited(condition: "exp.Expr") -> "exp.Expr":
    """What a condition compares with numbers (itself: it does not)."""
    from sqlglot import exp

    side: exp.Expr
    condition = condition.unnest()
    if isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
        ends = [condition.args["low"], condition.args["high"]]
        side = condition.this if _are_numbers(ends) else condition
        return side
    if isinstance(condition, (exp.GT, exp.GTE, exp.LT, exp.LTE)):
        if _are_numbers([condition.expression]):
            side = condition.this
            return side
        if _are_numbers([condition.this]):
            side = condition.expression
            return side
    return condition


def _list_ends(condition: "exp.Expr") -> list[str]:
    """Which ends a comparison with numbers says."""
    from sqlglot import exp

    condition = condition.unnest()
    if isinstance(condition, exp.Between):
        return ["least", "most"]
    above = isinstance(condition, (exp.GT, exp.GTE)) == _are_numbers([condition.expression])
    return ["least" if above else "most"]


def _are_numbers(values: "Sequence[exp.Expr]") -> bool:
    from sqlglot import exp

    plain = (v.this if isinstance(v, exp.Neg) else v for v in values)
    return all(isinstance(v, exp.Literal) and not v.is_string for v in plain)


def _replace(select: "exp.Select", meant: "exp.Expr", case: "exp.Expr") -> None:
    """Show it so, by the name that it has."""
    from sqlglot import exp

    for item in list(select.expressions):
        inner = item.unalias()
        if not isinstance(item, exp.Alias) and any(n.unnest() == meant for n in inner.walk()):
            item.replace(
                exp.alias_(inner.copy(), item.output_name or item.sql("spark"), quoted=True)
            )
    others = [select.args.get(key) for key in ("having", "qualify", "order")]
    for place in [*select.expressions, *(part for part in others if part is not None)]:
        for node in [n for n in place.walk() if n == meant and not n.find_ancestor(exp.AggFunc)]:
            node.replace(case.copy())
