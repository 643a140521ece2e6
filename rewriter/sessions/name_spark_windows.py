"""Spark's windows of time, `GROUP BY window(ts, '10 minutes')`, in the words of buckets."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import is_column, mean_group
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.windows.read_sql_grid import read_interval

if TYPE_CHECKING:
    from sqlglot import exp

_PARTS = {"start": "_START", "end": "_END"}


def name_spark_windows(select: "exp.Select", catalog: Catalog) -> None:
    """Write TUMBLE_START, or HOP_START of a window that slides, in the place of `window(ts, size,
    slide, offset)` and its parts, in place. A window that is selected whole is its two parts, as
    answers have no structs. A name that a table has is its column.

    Raises:
        SqlRefusal: it has other arguments, or there are several windows.
    """
    from sqlglot import exp

    calls = [c for c in list_own(select, exp.Anonymous) if c.name.upper() == "WINDOW"]
    if not calls:
        return
    if any(call != calls[0] for call in calls):
        raise SqlRefusal(
            f"{show_sql(calls[0])} beside other windows",
            why="groups are of one window of time, whose start and end are window.start and "
            "window.end",
            fix="write the same window throughout, or a query for each",
            line=line_of(calls[0]),
        )
    scope = list_tables(select, catalog)
    group = select.args.get("group")
    for item in () if group is None else list(group.expressions):
        if isinstance(item, exp.Literal) and item.name.isdigit():  # places change below
            item.replace(mean_group(item, select, scope))
    names = {"window": calls[0].copy()}
    for item in select.expressions:
        if isinstance(item, exp.Alias) and item.this in calls:
            names[item.alias.lower()] = item.this.copy()
    alone = {n: call for n, call in names.items() if not is_column(n, select, scope)}
    select.set("expressions", [part for e in select.expressions for part in _open(e, alone)])
    for node in list_own(select, exp.Dot):
        part = node.expression.name.lower()
        if _is_window(node.this) and part in _PARTS:
            _put(node, _part(node.this, part), part)
    for column in list_own(select, exp.Column):
        assert isinstance(column, exp.Column)
        of, part = column.table.lower(), column.name.lower()
        if of in names and part in _PARTS:
            _put(column, _part(names[of], part), part)
    for item in () if group is None else list(group.expressions):
        called = alone.get(item.name.lower()) if _is_name(item) else item
        if called is not None and _is_window(called):
            item.replace(_part(called, "start"))


def _open(item: "exp.Expr", names: "dict[str, exp.Expr]") -> "list[exp.Expr]":
    """An item of SELECT; a whole window as its parts."""
    from sqlglot import exp

    inner = item.unalias()
    call = names.get(inner.name.lower()) if _is_name(inner) else inner
    if call is None or not _is_window(call):
        return [item]
    name = item.alias if isinstance(item, exp.Alias) else "window"
    return [exp.alias_(_part(call, part), f"{name}_{part}", quoted=True) for part in _PARTS]


def _put(node: "exp.Expr", made: "exp.Expr", name: str) -> None:
    """Write one in the place of another, and in SELECT under the name that Spark gives it."""
    from sqlglot import exp

    in_select = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
    node.replace(exp.alias_(made, name, quoted=True) if in_select else made)


def _is_name(item: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(item, exp.Column) and not item.table


def _is_window(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Anonymous) and node.name.upper() == "WINDOW"


def _part(call: "exp.Expr", part: str) -> "exp.Expr":
    """Where a window begins, or ends."""
    from sqlglot import exp

    given = list(call.expressions)
    lengths = [read_length(length) for length in given[1:]]
    widths_us = [None if length is None else read_interval(length) for length in lengths]
    slides_on = len(lengths) > 1 and (widths_us[1] or 0) > (widths_us[0] or 0)
    if len(given) not in (2, 3, 4) or None in widths_us or slides_on:
        raise SqlRefusal(
            f"{show_sql(call)} of other arguments",
            why="a window is of a stream's timestamp and of durations of weeks, days or less, and "
            "slides by no more than its size",
            fix="write window(ts, '10 minutes'), window(ts, size, slide), or window(ts, size, "
            "slide, offset)",
            line=line_of(call),
        )
    time, size, *rest = given[0], *lengths
    slide, offset = [*rest, size, None][0], rest[1:2]
    slides = slide != size
    widths = [slide, size] if slides else [size]
    made = [time, *widths, *(o for o in offset if o is not None)]
    name = ("HOP" if slides else "TUMBLE") + _PARTS[part]
    return exp.Anonymous(this=name, expressions=[one.copy() for one in made if one is not None])


def read_length(given: "exp.Expr") -> "exp.Interval | None":
    """A duration, as '10 minutes' or as an INTERVAL (None: it is neither)."""
    from sqlglot import exp

    if isinstance(given, exp.Interval):
        return given
    if not isinstance(given, exp.Literal) or not given.is_string:
        return None
    amount, _, unit = str(given.this).strip().lower().removeprefix("interval ").partition(" ")
    unit = unit.strip().removesuffix("s")
    if not amount.isdigit() or not unit.isalpha():
        return None
    return exp.Interval(this=exp.Literal.string(amount), unit=exp.var(unit.upper()))
