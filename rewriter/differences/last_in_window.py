"""The latest, or the first, row of each key among those of a window, as groups."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope, column_names
from ontoweir.rewriter.differences.name_columns import qualify
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


def last_in_window(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """SELECT k, LAST(x ORDER BY ts) AS x, MAX(ts) AS ts … GROUP BY k for SELECT k, x, ts FROM s
    WHERE ts > NOW() - … QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1, and for
    DISTINCT ON (k) … ORDER BY k, ts DESC; FIRST and MIN in the other order; another query as it is.

    A key of the stream says that there is one row of a key at a time, and all of what rows are
    numbered by is shown.

    Args:
        tree: the query.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not rows_leave(tree) or aggregates(tree):
        return tree
    scope = list_tables(tree, catalog)
    found = _find_number(tree)
    if found is None or len(scope.tables) != 1 or tree.args.get("joins"):
        return tree
    ((alias, stream),) = scope.tables.items()
    parted, order = found
    keys = [qualify(k, scope) for k in parted]
    if not isinstance(stream, Stream) or stream.versions or not keys:
        return tree
    time = exp.column(stream.timestamp, alias, quoted=True)
    named = {k.name for k in keys if isinstance(k, exp.Column)}
    once = any(set(key) <= {*named, stream.timestamp} for key in stream.keys)
    if len(named) < len(keys) or not once or qualify(order.this, scope) != time:
        return tree
    late = bool(order.args.get("desc"))
    items = [_put(e, keys, time, scope, late=late) for e in _open_stars(tree, alias, stream)]
    shown = [e.unalias() for e in items if e is not None]
    if any(e is None for e in items) or not all(k in shown for k in keys):
        return tree
    made = tree.copy()
    for part in ("qualify", "order", "distinct"):
        made.set(part, None)
    made.set("expressions", items)
    made.set("group", exp.Group(expressions=[k.copy() for k in keys if k is not None]))
    return made


def _find_number(tree: "exp.Select") -> "tuple[list[exp.Expr], exp.Ordered] | None":
    """By what rows are numbered, of which the first one is chosen, and in which order (None: they
    are not, or more is said)."""

    distinct, said = tree.args.get("distinct"), tree.args.get("qualify")
    order = tree.args.get("order")
    allowed = {"expressions", "from_", "where", "qualify", "distinct", "order"}
    if {k for k, v in tree.args.items() if v} - allowed:
        return None
    ordered = [] if order is None else list(order.expressions)
    if distinct is not None and distinct.args.get("on") and said is None:
        keys = list(distinct.args["on"].expressions)
        names = {o.this.sql("spark", normalize=True) for o in ordered[: len(keys)]}
        same = {k.sql("spark", normalize=True) for k in keys} == names
        return (keys, ordered[-1]) if same and len(ordered) == len(keys) + 1 else None
    if said is None or distinct is not None or ordered:
        return None
    window = equals_one(said.this, named_windows(tree))
    if window is None or window.args.get("spec"):
        return None
    ordered = list(window.args["order"].expressions) if window.args.get("order") else []
    return (list(window.args.get("partition_by") or ()), ordered[0]) if len(ordered) == 1 else None


def _open_stars(tree: "exp.Select", alias: str, stream: Stream) -> "list[exp.Expr]":
    """What is shown, but the number of a row."""
    from sqlglot import exp

    items: list[exp.Expr] = []
    for item in tree.expressions:
        if item.is_star:
            items += [exp.column(c, alias, quoted=True) for c in column_names(stream)]
        elif not (isinstance(item.unalias(), exp.Window) and is_number(item.unalias())):
            items.append(item)
    return items


def _put(
    item: "exp.Expr", keys: "list[exp.Expr | None]", time: "exp.Expr", scope: Scope, *, late: bool
) -> "exp.Expr | None":
    """An item of the latest, or the first, row as one of its group (None: of more than columns)."""
    from sqlglot import exp

    value = qualify(item.unalias(), scope)
    if value is None or value.find(exp.Window, exp.Query, exp.AggFunc):
        return None
    order = exp.Ordered(this=time.copy())

    def put(node: "exp.Expr") -> "exp.Expr":
        if node in keys:
            return node.copy()
        if node == time:
            return exp.Max(this=node.copy()) if late else exp.Min(this=node.copy())
        ordered = exp.Order(this=node.copy(), expressions=[order.copy()])
        return exp.Last(this=ordered) if late else exp.First(this=ordered)

    if isinstance(value, exp.Column):
        made = put(value)
    else:
        made = value
        for column in list(value.find_all(exp.Column)):
            column.replace(put(column))
    name = item.alias_or_name or item.sql("spark")
    return exp.alias_(made, name, quoted=True)
