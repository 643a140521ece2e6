"""Aggregates that count rows of windows only, as aggregates of the widest of these."""

from typing import TYPE_CHECKING, NamedTuple

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.windows.read_sql_grid import read_interval
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "where"}


def limit_filters(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`SELECT COUNT(*) FILTER (WHERE ts > NOW() - INTERVAL '1' HOUR), … FROM s` with `WHERE ts >
    NOW() - INTERVAL '1' DAY`, the longest of its windows, where all that it selects is filtered by
    one, and it is not grouped: rows before are counted nowhere. In place.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        start, where = select.args.get("from_"), select.args.get("where")
        if start is None or {k for k, v in select.args.items() if v} - _READ:
            continue
        table = start.this
        name = find_name(table.name, catalog.streams) if isinstance(table, exp.Table) else None
        if name is None or (where is not None and any(map(is_now, where.walk()))):
            continue
        calls = [c for e in select.expressions for c in e.find_all(exp.AggFunc)]
        if not calls or select.find(exp.Window, exp.Subquery) is not None:
            continue
        found = [_find_window(call, catalog.streams[name].timestamp) for call in calls]
        columns = [c for e in select.expressions for c in e.find_all(exp.Column)]
        inside = all(c.find_ancestor(exp.AggFunc, exp.Filter) for c in columns)
        known = [one for one in found if one is not None]
        if not inside or len(known) < len(calls):
            continue
        select.where(_unite(known), copy=False)
    return tree


def _unite(windows: "list[_Window]") -> "exp.Expr":
    """A condition on rows of any of some windows: that of one which has the others, or of one that
    begins with the greatest of their units, and by the longest of their times before it."""
    from sqlglot import exp

    for one in windows:
        if all(one.unit >= o.unit and one.reach >= o.reach for o in windows):
            return one.said.copy()
    unit, long = max(w.unit for w in windows), max(w.long_us for w in windows)
    begin: exp.Expr = exp.CurrentTimestamp()
    if unit:
        begin = exp.TimestampTrunc(this=begin, unit=exp.var(_UNITS[unit]))
    before = exp.Interval(this=exp.Literal.string(str(long)), unit=exp.var("MICROSECOND"))
    since = exp.Sub(this=begin, expression=before)
    return exp.GTE(this=windows[0].said.this.copy(), expression=since)


class _Window(NamedTuple):
    """Since when rows are in a window: so long (µs) before now, or before its second, minute, hour
    or day began, by its number (0: before now); and the condition that says so."""

    unit: int
    long_us: int
    said: "exp.Expr"

    @property
    def reach(self) -> tuple[int, bool]:
        """How far back it reaches."""
        return self.long_us, type(self.said).__name__ == "GTE"


_UNITS = ("", "SECOND", "MINUTE", "HOUR", "DAY")


def _find_window(call: "exp.Expr", timestamp: str) -> _Window | None:
    """The window that an aggregate is filtered by (None: it is not)."""
    from sqlglot import exp

    if not isinstance(call.parent, exp.Filter) or call.arg_key != "this":
        return None
    for conjunct in split_conjuncts(call.parent.expression.this):
        column = conjunct.this if isinstance(conjunct, (exp.GT, exp.GTE)) else None
        if not isinstance(column, exp.Column) or column.name.lower() != timestamp.lower():
            continue
        since, long = conjunct.expression.unnest(), 0
        if isinstance(since, exp.Sub):
            length = read_interval(since.expression)
            if length is None:
                continue
            since, long = since.this.unnest(), length
        unit = ""
        if isinstance(since, (exp.DateTrunc, exp.TimestampTrunc)):
            unit, since = since.text("unit").upper(), since.this
        if is_now(since) and unit in _UNITS and (unit or long):
            return _Window(_UNITS.index(unit), long, conjunct)
    return None
