"""Rows without a later one, by LEAD, or of the greatest time, by MAX OVER, as those numbered 1."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def number_last(select: "exp.Select", catalog: Catalog) -> None:
    """In a SELECT of rows of a stream, or around a subquery of such, make `LEAD(ts) OVER (PARTITION
    BY k ORDER BY ts) IS NULL` ROW_NUMBER() = 1, and `ts = MAX(ts) OVER (PARTITION BY k)` RANK() =
    1, by later rows first; in place, where nothing else reads what LEAD or MAX gives.

    Raises:
        SqlRefusal: LEAD(ts) IS NULL is read otherwise.
    """
    from sqlglot import exp

    if (qualify := select.args.get("qualify")) is not None:
        for condition in list(split_conjuncts(qualify.this)):
            named = {e.alias: e for e in select.expressions if isinstance(e, exp.Alias)}
            window = _find_window(condition, named, select, catalog)
            if isinstance(window, exp.Window):
                condition.replace(_is_one(_number(window)))
    where, inner = select.args.get("where"), _inner(select)
    if inner is not None and where is not None and not select.args.get("joins"):
        named = {e.alias: e for e in inner.expressions if isinstance(e, exp.Alias)}
        for condition in list(split_conjuncts(where.this)):
            found = _find_window(condition, named, inner, catalog)
            if isinstance(found, exp.Alias) and _is_read_once(found.alias, select):
                column = exp.column(found.alias)
                found.set("this", _number(found.this))
                condition.replace(_is_one(column))
    _refuse_left(select, catalog)


def _find_window(
    condition: "exp.Expr", named: "dict[str, exp.Alias]", rows: "exp.Select", catalog: Catalog
) -> "exp.Expr | None":
    """The window of a condition that says that a row of `rows` is the last one, or the item of
    SELECT that is it."""
    from sqlglot import exp

    inner = condition.unnest()
    candidates: list[tuple[exp.Expr, type[exp.Expr]]]
    if isinstance(inner, exp.Is) and inner.expression == exp.Null():
        candidates = [(inner.this.unnest(), exp.Lead)]
    elif isinstance(inner, exp.EQ):
        sides = (inner.this.unnest(), inner.expression.unnest())
        candidates = [
            (one, exp.Max)
            for one, other in (sides, sides[::-1])
            if isinstance(other, exp.Column) and is_time(other, rows, catalog)
        ]
    else:
        return None
    for node, kind in candidates:
        item = named.get(node.name) if isinstance(node, exp.Column) else None
        window = node if item is None else item.this
        if not isinstance(window, exp.Window) or not isinstance(window.this, kind):
            continue
        if _is_last(window, rows, catalog):
            return window if item is None else item
    return None


def _is_last(window: "exp.Window", rows: "exp.Select", catalog: Catalog) -> bool:
    """Whether it is the next time, or the greatest one, of the rows of a key."""
    from sqlglot import exp

    call, order = window.this, window.args.get("order")
    time = call.this
    if not isinstance(time, exp.Column) or not is_time(time, rows, catalog):
        return False
    if window.args.get("spec") is not None or not window.args.get("partition_by"):
        return False
    if isinstance(call, exp.Max):
        return order is None
    ordered = order.expressions if order is not None else []
    ascending = len(ordered) == 1 and not ordered[0].args.get("desc") and ordered[0].this == time
    return ascending and not call.args.get("offset") and not call.args.get("default")


def _has_value(column: "exp.Column", select: "exp.Select", catalog: Catalog) -> bool:
    """Whether a column of a stream that a SELECT reads is never NULL."""
    scope = list_tables(select, catalog)
    try:
        found = scope.resolve(column.table or None, column.name)
    except SqlRefusal:
        return False
    table = scope.tables.get(found.alias)
    declared = table.column(found.column) if isinstance(table, Stream) else None
    return declared is not None and not declared.nullable


def _number(window: "exp.Window") -> "exp.Window":
    from sqlglot import exp

    lead = isinstance(window.this, exp.Lead)
    ordered = exp.Ordered(this=window.this.this.copy(), desc=True, nulls_first=False)
    return exp.Window(
        this=exp.RowNumber() if lead else exp.Rank(),
        partition_by=[key.copy() for key in window.args["partition_by"]],
        order=exp.Order(expressions=[ordered]),
        over="OVER",
    )


def _is_one(number: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    return exp.EQ(this=number, expression=exp.Literal.number(1))


def _is_read_once(name: str, select: "exp.Select") -> bool:
    """Whether a column of a subquery is read in one place around it."""
    from sqlglot import exp

    if any(item.is_star for item in select.expressions):
        return False
    columns = [c for c in select.find_all(exp.Column) if c.parent_select is select]
    return sum(c.name.lower() == name.lower() for c in columns) == 1


def _inner(select: "exp.Select") -> "exp.Select | None":
    """The subquery that is first in FROM."""
    from sqlglot import exp

    start = select.args.get("from_")
    inner = start.this.this if start is not None and isinstance(start.this, exp.Subquery) else None
    return inner if isinstance(inner, exp.Select) else None


def _refuse_left(select: "exp.Select", catalog: Catalog) -> None:
    from sqlglot import exp

    named: dict[str, exp.Expr] = {}
    for rows in (_inner(select), select):
        if rows is not None:
            named |= {e.alias: e.this for e in rows.expressions if isinstance(e, exp.Alias)}
    for node in select.find_all(exp.Is):
        if node.parent_select is not select or node.expression != exp.Null():
            continue
        window = node.this.unnest()
        window = named.get(window.name, window) if isinstance(window, exp.Column) else window
        if not isinstance(window, exp.Window) or not isinstance(window.this, exp.Lead):
            continue
        time, of = window.this.this, window.parent_select or select
        if window.this.args.get("default") is not None or not isinstance(time, exp.Column):
            continue
        if not (is_time(time, of, catalog) or _has_value(time, of, catalog)):
            continue
        if isinstance(node.parent, exp.Not):
            continue  # it always holds
        raise SqlRefusal(
            f"{show_sql(window)} IS NULL",
            why="a row is an answer when the next one of its key has come, so it never is",
            fix="ask for the last row by itself, as all that is asked of LEAD in WHERE, or by "
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1; or leave it out",
            line=line_of(node),
        )
