"""The latest rows of keys in subqueries, however they are written, as those whose number is 1."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.rewriter.joins.latest_rows import lacks_values, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_latest import read_latest
from ontoweir.rewriter.phrasings.settle_phrasings import settle_phrasings

if TYPE_CHECKING:
    from sqlglot import exp


def number_nested(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """SELECT … FROM s QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1 for each subquery
    of FROM, of WITH and of IN that has the latest rows of a stream in other words: (k, ts) IN (…
    MAX(ts) …), ts = (SELECT MAX(ts) …), a LEFT JOIN with later rows, NOT EXISTS, >= ALL, ARG_MAX,
    LAST, MAX(STRUCT(ts, x)).x, DISTINCT ON and FIRST_VALUE. What is read of numbered rows is then
    read of all of these.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    inner = [s for s in tree.find_all(exp.Select) if s is not tree and _is_nested(s, catalog)]
    if not inner:
        return tree
    made = tree.copy()
    nested = [s for s in made.find_all(exp.Select) if s is not made and _is_nested(s, catalog)]
    for select in reversed(nested):  # the innermost first
        if (numbered := number_rows(select, catalog)) is not None:
            select.replace(numbered)
    return made


def _is_nested(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether rows of a stream are read that are no value, and numbered by no QUALIFY."""
    from sqlglot import exp

    start = select.args.get("from_")
    table = None if start is None else start.this
    if isinstance(table, exp.Subquery) and isinstance(table.this, exp.Select):
        below = table.this.args.get("from_")  # rows that show what tells which is the latest
        if below is not None and table.this.find(exp.Window) is not None:
            table = below.this
    if not isinstance(table, exp.Table) or select.args.get("qualify"):
        return False
    rows = isinstance(select.parent, exp.CTE) or (
        isinstance(select.parent, exp.Subquery)
        and isinstance(select.parent.parent, (exp.From, exp.Join))
    )
    chooses = (exp.Max, exp.ArgMax, exp.Last, exp.First, exp.Exists, exp.All, exp.Window)
    says = select.find(*chooses) is not None or bool(select.args.get("distinct"))
    return rows and (says or bool(select.args.get("joins"))) and _stream(table, catalog) is not None


def _stream(table: "exp.Table", catalog: Catalog) -> Stream | None:
    name = find_name(table.name, catalog.streams)
    stream = None if name is None else catalog.streams[name]
    return None if stream is None or stream.versions is not None else stream


def number_rows(select: "exp.Select", catalog: Catalog) -> "exp.Select | None":
    """The latest rows that a SELECT is, as numbered ones (None: it is something else).

    Args:
        select: a query of rows of one stream.
        catalog: the tables.
    """
    from sqlglot import exp

    alone = _name_values(select.copy(), catalog)
    try:
        latest = read_latest(settle_phrasings(alone, catalog), catalog)
    except SqlRefusal:
        return None  # said where it is read
    rows = latest.tree
    if latest.key is None or not isinstance(rows, exp.Select):
        return None
    table = rows.args["from_"].this
    stream = _stream(table, catalog) if isinstance(table, exp.Table) else None
    if stream is None or rows.args.get("joins") or rows.args.get("distinct"):
        return None
    time = exp.column(stream.timestamp, table.alias_or_name, quoted=True)
    window = exp.Window(
        this=exp.Rank(),
        partition_by=[rows.expressions[n].unalias().copy() for n in latest.key],
        order=exp.Order(expressions=[exp.Ordered(this=time, desc=True)]),
        over="OVER",
    )
    one = exp.EQ(this=window, expression=exp.Literal.number(1))
    rows.set("qualify", exp.Qualify(this=one))
    return rows


def _name_values(select: "exp.Select", catalog: Catalog) -> "exp.Select":
    """ARG_MAX(x, ts) for LAST(x ORDER BY ts) and FIRST(x ORDER BY ts DESC), of columns that are
    never NULL, which the former passes over."""
    from sqlglot import exp

    scope = list_tables(select, catalog)
    for call in list(select.find_all(exp.Last, exp.First)):
        order, late = call.this, isinstance(call, exp.Last)
        if not isinstance(order, exp.Order) or len(order.expressions) != 1:
            continue
        time, value = order.expressions[0], resolve(scope, order.this)
        table = None if value is None else scope.tables[value[0]]
        if value is None or not isinstance(table, Stream) or late == bool(time.args.get("desc")):
            continue
        if not lacks_values(table, value[0], [value[1]], select, scope):
            call.replace(exp.ArgMax(this=order.this.copy(), expression=time.this.copy()))
    return select
