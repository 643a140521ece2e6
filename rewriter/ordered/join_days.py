"""Rows of groups that are compared by their days: `… x JOIN … y ON y.day = x.day` of subqueries
that GROUP BY CAST(ts AS DATE)."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.mean_group import find_named
from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_grid_or_day

if TYPE_CHECKING:
    from sqlglot import exp


def join_days(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """Let subqueries that group by the day of a timestamp show where it begins, too, and conditions
    of WHERE and ON that compare such days, or those of timestamps beside them, compare that, which
    is in the same order; in place.

    So it is known for how long a group waits for another one, as of `date_trunc('day', ts)`.

    Args:
        tree: a query, whose items have names.
        catalog: the tables.
    """
    from sqlglot import exp

    selects = list(tree.find_all(exp.Select))
    if any(item.is_star for select in selects for item in select.expressions):
        return tree
    for select in selects:
        where = select.args.get("where")
        places = [] if where is None else [where]
        places += [on for j in select.args.get("joins") or () if (on := j.args.get("on"))]
        kinds = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
        for node in [n for place in places for n in place.find_all(*kinds)]:
            if node.find_ancestor(exp.Select) is select:
                _compare(node, select, catalog)
    return tree


def _compare(node: "exp.Expr", select: "exp.Select", catalog: Catalog) -> None:
    from sqlglot import exp

    leaves: list[exp.Expr] = []
    plain = (exp.Add, exp.Sub, exp.Paren, exp.Interval)
    inside = (exp.Literal, exp.Var)  # of an INTERVAL
    todo = [node.this, node.expression]
    while todo:
        part = todo.pop()
        if isinstance(part, exp.Column) or _read_day(part) is not None:
            leaves.append(part)
        elif isinstance(part, plain) or (
            isinstance(part, inside) and part.find_ancestor(exp.Interval)
        ):
            todo += part.iter_expressions()
        else:
            return
    columns = [c for leaf in leaves for c in leaf.find_all(exp.Column)]
    if len({c.table for c in columns}) < 2:
        return
    found = [
        _find_day(c, select, catalog) if c is leaf else None
        for c, leaf in zip(columns, leaves, strict=True)
    ]
    if not any(found) or not all(
        day is not None or is_time(column, select, catalog) is True
        for column, day in zip(columns, found, strict=True)
    ):
        return
    for leaf, column, day in zip(leaves, columns, found, strict=True):
        if day is None:
            leaf.replace(column.copy() if leaf is column else _begin_day(column))
            continue
        query, begin = day
        name = f"begin of {column.name}"
        if name not in [item.alias_or_name for item in query.expressions]:
            query.append("expressions", exp.alias_(begin, name, quoted=True))
            query.args["group"].append("expressions", begin.copy())
        column.replace(exp.column(name, column.args["table"].copy(), quoted=True))


def _read_day(part: "exp.Expr") -> "exp.Column | None":
    """The column whose day it is, as a date."""
    from sqlglot import exp

    read = None if is_grid(part) else read_grid_or_day(part)
    return read[0] if read is not None and isinstance(read[0], exp.Column) else None


def _begin_day(column: "exp.Column") -> "exp.Expr":
    from sqlglot import exp

    given = [exp.Literal.string("day"), column.copy()]
    return exp.Anonymous(this="DATE_TRUNC", expressions=given)


def _find_day(
    column: "exp.Column", select: "exp.Select", catalog: Catalog
) -> "tuple[exp.Select, exp.Expr] | None":
    """The subquery that groups by the day that a column is, and where that begins (None: it is
    something else)."""
    from sqlglot import exp

    start = select.args.get("from_")
    around = [] if start is None else [start.this]
    for place in [*around, *(join.this for join in select.args.get("joins") or ())]:
        if not column.table or place.alias_or_name.lower() != column.table.lower():
            continue
        named = find_named(place, select) if isinstance(place, exp.Table) else None
        query = named.this if named is not None else place.this
        if not isinstance(query, exp.Select) or (named and named.args["alias"].columns):
            return None
        group = query.args.get("group")
        if group is None or any(v for k, v in group.args.items() if k != "expressions"):
            return None
        items = [e for e in query.expressions if e.alias_or_name.lower() == column.name.lower()]
        time = _read_day(items[0].unalias().unnest()) if len(items) == 1 else None
        if time is None or is_time(time, query, catalog) is not True:
            return None
        return query, _begin_day(time)
    return None
