"""Groups of all rows so far that are joined: the latest row of each key, with what it and the rows
of its key before it add up to."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "where", "group"}
_NAMES = ("Count", "Sum", "Avg", "Min", "Max")


def run_groups(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query where `SELECT k, AVG(x) … FROM s GROUP BY k` of FROM and JOIN is
    `SELECT DISTINCT k, AVG(x) OVER (PARTITION BY k ORDER BY ts) … FROM s QUALIFY RANK() OVER
    (PARTITION BY k ORDER BY ts DESC) = 1`: rows of one timestamp have one value of each aggregate.
    Others are as they are: with HAVING, of distinct values, of a key that may be NULL
    and of which WHERE does not say that it is not, and what is not grouped, which has a row over
    nothing.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for select in list(made.find_all(exp.Select)):
        joins = list(select.args.get("joins") or ())
        start = select.args.get("from_")
        if start is None:
            continue
        where = select.args.get("where")
        said = [] if where is None else list(split_conjuncts(where.this))
        for one in (start, *joins):
            item, inner = one.this, not (one.args.get("side") or one.args.get("method"))
            if isinstance(item, exp.Subquery) and is_plain(item) and item.alias:
                _run(item, catalog, said if inner else [], alone=not joins)
    return made


def _run(item: "exp.Subquery", catalog: Catalog, said: "list[exp.Expr]", *, alone: bool) -> None:
    """Write a subquery of groups as the latest row of each; in place, if it is read. What is `said`
    around it of their keys alone is said of the rows, too; `alone`: nothing is joined with it."""
    from sqlglot import exp

    inner = item.this.copy()
    if not isinstance(inner, exp.Select) or {k for k, v in inner.args.items() if v} - _READ:
        return
    stream = _find_stream(inner, catalog)
    group = inner.args.get("group")
    if stream is None or group is None or has_now(inner):
        return
    keys = list(group.expressions)
    columns = [stream.column(find_name(k.name, column_names(stream)) or "") for k in keys]
    plain = all(isinstance(k, exp.Column) for k in keys) and len(group.args) == 1
    told = _list_told(inner)
    plain = plain and all(c is not None and (not c.nullable or c.name in told) for c in columns)
    shown = all(e.alias_or_name and not e.is_star for e in inner.expressions)
    _open_filters(inner)
    calls = [c for c in list_own(inner, exp.AggFunc) if c.find_ancestor(exp.Group) is None]
    if not (plain and keys and shown) or not calls or not all(map(_is_read, calls)):
        return
    for call in [c for e in inner.expressions for c in e.find_all(exp.AggFunc)]:
        over = exp.Window(this=call.copy(), partition_by=[k.copy() for k in keys])
        over.set("order", exp.Order(expressions=[exp.Ordered(this=_column(stream.timestamp))]))
        call.replace(over)
    _say_of_rows(inner, (item.alias.lower(), *([""] if alone else [])), keys, said)
    inner.set("group", None)
    inner.set("distinct", exp.Distinct())
    inner.set("qualify", exp.Qualify(this=_latest(stream, keys)))
    item.set("this", inner)


def _say_of_rows(
    inner: "exp.Select", aliases: tuple[str, ...], keys: "list[exp.Expr]", said: "list[exp.Expr]"
) -> None:
    """Choose the rows of groups, which have some aliases around them, by the conditions there that
    read nothing but their keys; in place."""
    from sqlglot import exp

    shown = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    named = {name: column for name, column in shown.items() if column in keys}
    for condition in said:
        columns = list(condition.find_all(exp.Column))
        own = [c for c in columns if c.table.lower() in aliases and c.name.lower() in named]
        if not columns or len(own) < len(columns) or condition.find(exp.Query, exp.Window):
            continue
        holder = exp.Paren(this=condition.copy())
        for column in list(holder.find_all(exp.Column)):
            column.replace(named[column.name.lower()].copy())
        inner.where(holder.this.copy(), copy=False)


def _open_filters(inner: "exp.Select") -> None:
    """COUNT(CASE WHEN c THEN 1 END) for COUNT(*) FILTER (WHERE c) and COUNT_IF(c), and other
    aggregates likewise, in place: what has no value is not counted."""
    from sqlglot import exp

    def when(condition: "exp.Expr", value: "exp.Expr") -> "exp.Expr":
        return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])

    one = exp.Literal.number(1)
    for node in [n for e in inner.expressions for n in e.find_all(exp.Filter)]:
        call, condition = node.this, node.expression.this
        if type(call).__name__ in _NAMES and call.find(exp.Distinct) is None:
            made = call.copy()
            value = one if isinstance(call.this, exp.Star) else call.this
            made.set("this", when(condition, value))
            node.replace(made)
    for node in [n for e in inner.expressions for n in e.find_all(exp.CountIf)]:
        if not isinstance(node.parent, exp.Filter):
            node.replace(exp.Count(this=when(node.this, one), big_int=True))


def _list_told(inner: "exp.Select") -> set[str]:
    """The columns of which WHERE says that they have a value."""
    from sqlglot import exp

    where = inner.args.get("where")
    told = [] if where is None else split_conjuncts(where.this)
    said = [c.this for c in told if isinstance(c, exp.Not) and isinstance(c.this, exp.Is)]
    nulls = [one for one in said if isinstance(one.expression, exp.Null)]
    return {one.this.name for one in nulls if isinstance(one.this, exp.Column)}


def _find_stream(inner: "exp.Select", catalog: Catalog) -> Stream | None:
    from sqlglot import exp

    start = inner.args.get("from_")
    table = None if start is None else start.this
    if not isinstance(table, exp.Table) or inner.find(exp.Subquery, exp.Window, exp.Exists):
        return None
    name = find_name(table.name, catalog.streams)
    stream = None if name is None else catalog.streams[name]
    return None if stream is None or stream.versions else stream


def _is_read(call: "exp.Expr") -> bool:
    """Whether it is an aggregate that runs, of no distinct values, or of those that are chosen."""
    from sqlglot import exp

    distinct = call.find(exp.Distinct) is not None or isinstance(call.parent, exp.Filter)
    return type(call).__name__ in _NAMES and not distinct


def _latest(stream: Stream, keys: "list[exp.Expr]") -> "exp.Expr":
    """A row of a key is one of the latest."""
    from sqlglot import exp

    order = [exp.Ordered(this=_column(stream.timestamp), desc=True, nulls_first=False)]
    number = exp.Window(this=exp.Rank(), partition_by=[k.copy() for k in keys])
    number.set("order", exp.Order(expressions=order))
    return exp.EQ(this=number, expression=exp.Literal.number(1))


def _column(name: str) -> "exp.Expr":
    from sqlglot import exp

    return exp.column(name, quoted=True)
