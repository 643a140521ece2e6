"""The busiest hour of each day: groups of hours that are numbered within a day."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.joins.own_nodes import list_own, list_windows
from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_grid_or_day

if TYPE_CHECKING:
    from sqlglot import exp

_BUCKET = "bucket of groups"
_READ = {"expressions", "from_", "joins", "where", "group", "having"}


def number_days(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`FROM (SELECT date_trunc('day', hour) AS day, hour, ANY_VALUE(n) AS n FROM (SELECT … AS hour,
    COUNT(*) AS n … GROUP BY hour) GROUP BY day, hour) QUALIFY RANK() OVER (PARTITION BY day ORDER
    BY n DESC) = 1` for the same of the hours, OVER (PARTITION BY date_trunc('day', hour) …): all
    groups of a day are final when it is over. In place.

    Windows in the order of the hours are read of these as they come, and stay as they are.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        start, windows = select.args.get("from_"), list_windows(select)
        if start is None or not windows or select.args.get("joins"):
            continue
        item = start.this
        inner = item.this if isinstance(item, exp.Subquery) and is_plain(item) else None
        if isinstance(inner, exp.Select) and item.alias and _is_of_groups(inner):
            keys = _list_keys(inner, catalog)
            if keys is not None:
                _nest(select, item, keys, windows)
    return tree


def _is_of_groups(inner: "exp.Select") -> bool:
    """Whether it shows groups, each column by a name of its own."""
    group = inner.args.get("group")
    if group is None or {k for k, v in inner.args.items() if v} - _READ or len(group.args) != 1:
        return False
    names = [e.alias_or_name.lower() for e in inner.expressions]
    return all(names) and len({*names}) == len(names) and not any(e.is_star for e in inner.selects)


def _list_keys(inner: "exp.Select", catalog: Catalog) -> "list[str] | None":
    """The names of what is grouped by (None: not all of it is shown)."""
    scope = list_tables(inner, catalog)
    shown = {e.unalias(): e.alias_or_name for e in inner.expressions}
    keys = [shown.get(mean_group(k, inner, scope)) for k in inner.args["group"].expressions]
    named = [key for key in keys if key is not None]
    return named if len(named) == len(keys) else None


def _nest(
    select: "exp.Select", item: "exp.Subquery", keys: list[str], windows: "list[exp.Expr]"
) -> None:
    """Let a SELECT be over the groups of each bucket of a longer time, in place; `keys`: the names
    of what these are grouped by."""
    from sqlglot import exp

    inner = item.this
    times = {e.alias_or_name.lower() for e in inner.expressions if is_grid(e.unalias())}
    found = [
        part
        for window in windows
        for part in window.args.get("partition_by") or ()
        if _is_of_times(part, times, item.alias) and not _is_by_time(window, times)
    ]
    if len({*found}) != 1 or any(e.is_star for e in select.expressions):
        return
    bucket = found[0].copy()
    shown = [
        exp.column(e.alias_or_name, item.alias, quoted=True) if e.alias_or_name in keys else None
        for e in inner.expressions
    ]
    columns = [
        exp.alias_(
            exp.AnyValue(this=exp.column(e.alias_or_name, item.alias, quoted=True))
            if key is None
            else key,
            e.alias_or_name,
            quoted=True,
        )
        for e, key in zip(inner.expressions, shown, strict=True)
    ]
    over = exp.Select(expressions=[exp.alias_(bucket.copy(), _BUCKET, quoted=True), *columns])
    over = over.from_(item.copy())
    group = [bucket.copy(), *(key.copy() for key in shown if key is not None)]
    over.set("group", exp.Group(expressions=group))
    for node in [n for n in list_own(select, type(bucket)) if n == bucket]:
        made: exp.Expr = exp.column(_BUCKET, item.alias, quoted=True)
        if node.parent is select:
            made = exp.alias_(made, node.sql("spark"), quoted=True)
        node.replace(made)
    item.set("this", over)


def _is_of_times(part: "exp.Expr", times: set[str], alias: str) -> bool:
    """Whether it is a bucket of a bucket of time."""
    from sqlglot import exp

    read = read_grid_or_day(part)
    column = None if read is None else read[0].unnest()
    if not isinstance(column, exp.Column) or column.table.lower() not in ("", alias.lower()):
        return False
    return column.name.lower() in times


def _is_by_time(window: "exp.Expr", times: set[str]) -> bool:
    """Whether it is in the order of a bucket."""
    order = window.args.get("order")
    first = None if order is None else order.expressions[0].this
    return first is not None and first.name.lower() in times
