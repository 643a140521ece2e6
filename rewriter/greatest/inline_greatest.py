"""Groups of the greatest time of each key that WITH names, in the place where they are read."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def inline_greatest(tree: "exp.Query", catalog: Catalog) -> None:
    """Put `SELECT k, MAX(ts) AS t FROM s GROUP BY k` of WITH where its name is, if it is read once;
    and make ON of USING beside such groups; in place."""
    from sqlglot import exp

    head = tree.args.get("with_")
    for cte in [] if head is None else list(head.expressions):
        read = [t for t in tree.find_all(exp.Table) if t.name.lower() == cte.alias.lower()]
        if len(read) != 1 or cte.args["alias"].columns or not is_greatest(cte.this, catalog):
            continue
        if not is_plain(read[0]):
            continue
        (table,) = read
        alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
        table.replace(exp.Subquery(this=cte.this, alias=alias))
        cte.pop()
    if head is not None and not head.expressions:
        tree.set("with_", None)
    for select in list(tree.find_all(exp.Select)):
        _open_using(select, catalog)


def is_greatest(query: "exp.Expr", catalog: Catalog) -> bool:
    """Whether a query is of columns of a stream and the greatest, or least, time of each group."""
    from sqlglot import exp

    if not isinstance(query, exp.Select) or not query.args.get("group"):
        return False
    more = {k for k, v in query.args.items() if v} - {"expressions", "from_", "where", "group"}
    calls = [e.unalias() for e in query.expressions if e.find(exp.AggFunc)]
    if more or len(calls) != 1 or not isinstance(calls[0], exp.Max | exp.Min):
        return False
    rest = [e.unalias() for e in query.expressions if not e.find(exp.AggFunc)]
    keys = list(query.args["group"].expressions)
    whole = all(isinstance(c, exp.Column) for c in (*rest, *keys))
    names = {c.name.lower() for c in rest}
    tables = list_tables(query, catalog).tables
    return (
        whole
        and names == {k.name.lower() for k in keys}
        and len(tables) == 1
        and all(isinstance(t, Stream) for t in tables.values())
        and isinstance(calls[0].this, exp.Column)
        and bool(is_time(calls[0].this, query, catalog))
    )


def _open_using(select: "exp.Select", catalog: Catalog) -> None:
    """USING of one table and such groups as ON, where columns without a table are the table's."""
    from sqlglot import exp

    start, joins = select.args.get("from_"), list[exp.Join](select.args.get("joins") or ())
    if start is None or len(joins) != 1 or not joins[0].args.get("using"):
        return
    sides = (start.this, joins[0].this)
    groups = [s for s in sides if isinstance(s, exp.Subquery) and is_greatest(s.this, catalog)]
    tables = list_tables(select, catalog).tables
    if len(groups) != 1 or len(tables) != 1 or joins[0].args.get("side"):
        return
    ((alias, table),) = tables.items()
    if not groups[0].alias:
        groups[0].set("alias", exp.TableAlias(this=exp.to_identifier("greatest", quoted=True)))
    names = [name.name for name in joins[0].args["using"]]
    if any(item.is_star for item in select.expressions):
        return
    on = [
        exp.EQ(this=exp.column(n, alias), expression=exp.column(n, groups[0].alias)) for n in names
    ]
    for column in list(select.find_all(exp.Column)):
        mine = find_name(column.name, column_names(table)) is not None
        if column.parent_select is select and not column.table and mine:
            column.set("table", exp.to_identifier(alias))
    joins[0].set("using", None)
    joins[0].set("on", exp.and_(*on))
