"""What a SELECT computes of what it groups by: of the rows of groups."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_interval

if TYPE_CHECKING:
    from sqlglot import exp


def compute_groups(select: "exp.Select", catalog: Catalog) -> None:
    """Where a SELECT that groups shows an expression of what it groups by, as `UPPER(k) … GROUP BY
    k`, let it be one of the group's value, `UPPER(ANY_VALUE(k))`, in place; and so what HAVING says
    of what a subquery computes. What groups by the end of a bucket of time, `date_trunc('hour', ts)
    + INTERVAL '1' HOUR`, groups by the bucket.

    Args:
        select: the query, or a part of it.
        catalog: the tables.
    """
    from sqlglot import exp

    group = select.args.get("group")
    if group is None or any(v for k, v in group.args.items() if k != "expressions"):
        return
    scope = list_tables(select, catalog)
    _open_ends(select, scope)
    for item in group.expressions:
        if (bucket := _find_shifted(mean_group(item, select, scope))) is not None:
            item.replace(bucket.copy())
    plain = _name_plainly(scope)
    meant = {plain(mean_group(item, select, scope)) for item in group.expressions}
    for item in select.expressions:
        inner = item.unalias()
        if isinstance(inner, exp.Column) or inner.find(exp.Window, exp.Query):
            continue
        if inner.find(exp.AggFunc):
            continue
        if plain(inner) in meant or inner.find(exp.Column) is None:
            continue
        made: exp.Expr = exp.Paren(this=inner.copy())
        found = [n for n in made.walk(prune=lambda n: plain(n) in meant) if plain(n) in meant]
        for node in found:
            node.replace(exp.AnyValue(this=node.copy()))
        columns = made.find_all(exp.Column)
        if found and all(c.find_ancestor(exp.AnyValue) is not None for c in columns):
            called = item.alias or inner.sql("spark")
            item.replace(exp.alias_(made.this, called, quoted=True))
    if (having := select.args.get("having")) is not None and scope.tables == {}:
        inside = having.walk(prune=lambda n: isinstance(n, exp.AggFunc) or plain(n) in meant)
        for node in [n for n in inside if plain(n) in meant]:
            node.replace(exp.AnyValue(this=node.copy()))


def _open_ends(select: "exp.Select", scope: Scope) -> None:
    """`TUMBLE_START(ts, w) + w` for `TUMBLE_END(ts, w)` of a row of several, where it is a value;
    in place: a bucket is told by when it begins."""
    from sqlglot import exp

    tables = scope.tables.values()
    if len(tables) < 2 or len(tables) != 1 + len(select.args.get("joins") or ()):
        return  # of one row, or of subqueries: which times are theirs is known when these are read
    own = {t.timestamp.lower() for t in tables if isinstance(t, Stream)}
    grouped = [mean_group(item, select, scope) for item in select.args["group"].expressions]
    for node in list_own(select, exp.Anonymous):
        if node.name.upper() != "TUMBLE_END" or len(node.expressions) < 2:
            continue
        time, width = node.expressions[0].unnest(), node.expressions[1]
        mine = isinstance(time, exp.Column) and time.name.lower() in own
        if not mine or not isinstance(width, exp.Interval):
            continue
        given = [e.copy() for e in node.expressions]
        begin: exp.Expr = exp.Anonymous(this="TUMBLE_START", expressions=given)
        plain = exp.Anonymous(this="TUMBLE", expressions=[e.copy() for e in given])
        begin = plain if plain in grouped else begin
        end: exp.Expr = exp.Add(this=begin, expression=width.copy())
        if node.parent is select and node.arg_key == "expressions":
            end = exp.alias_(end, node.sql("spark"), quoted=True)
        elif not isinstance(node.parent, (exp.Alias, exp.Group)):
            end = exp.Paren(this=end)
        node.replace(end)


def _find_shifted(item: "exp.Expr") -> "exp.Expr | None":
    """The bucket of time of which it is so long after, or before: other buckets are other such
    times (None: it is something else)."""
    from sqlglot import exp

    tree = item.unnest()
    if not isinstance(tree, (exp.Add, exp.Sub)) or not isinstance(tree.expression, exp.Interval):
        return None
    bucket = tree.this.unnest()
    return bucket if is_grid(bucket) and read_interval(tree.expression) is not None else None


def _name_plainly(scope: Scope) -> "Callable[[exp.Expr], exp.Expr]":
    """An expression without parentheses around it, whose columns are called as the catalog has
    them, each of its table."""
    from sqlglot import exp

    def plain(tree: "exp.Expr") -> "exp.Expr":
        made: exp.Expr = exp.Paren(this=tree.unnest().copy())
        for column in list(made.find_all(exp.Column)):
            name, table = column.name.lower(), column.table.lower()
            try:
                of = scope.resolve(column.table or None, column.name)
                name, table = of.column, of.alias
            except SqlRefusal:
                pass
            column.replace(exp.column(name, table or None, quoted=True))
        inner: exp.Expr = made.this
        return inner

    return plain
