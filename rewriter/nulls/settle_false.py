"""Conditions of constants that never hold, as conditions of columns that never hold."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_condition import read_condition
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, find_name

if TYPE_CHECKING:
    from sqlglot import exp


def settle_false(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in which what never holds is said of columns where rows are beside others, or are
    grouped for others, or all of them are one group, whose row over nothing begins with the tables:
    `LEFT JOIN t ON FALSE` is `ON t.k <> t.k`, and WHERE likewise; it is changed in place.

    Where that is not needed, it stays a condition of constants. NULL as a condition, and a constant
    compared with NULL, is never true, alone or negated (SQL-92, 8.2); a column compared with NULL
    is refused where it is read: it is written by mistake.

    Args:
        tree: the query, before its subqueries are merged.
        catalog: the tables.
    """
    from sqlglot import exp

    one = any(_is_one_group(select) for select in tree.find_all(exp.Select))
    for select in list(tree.find_all(exp.Select)):
        single = one and select.find_ancestor(exp.Where) is None
        tables = _list_tables(select, catalog)
        made = _first_of_query(select) if single and not tables else None
        where = select.args.get("where")
        for part in list(_list_conjuncts(where.this)) if where is not None else []:
            if _is_never(part, catalog):
                _settle(part, tables[:1] if single or _needs_columns(select) else [], made)
        for join in select.args.get("joins") or ():
            if join.side == "LEFT" and join.args.get("on") is not None:
                _settle_join(join, tables, catalog)
            elif not join.side and join.args.get("on") is not None:
                for part in list(_list_conjuncts(join.args["on"])):
                    if _is_never(part, catalog):
                        _settle(part, tables[:1] if single else [], made)
    return tree


def _settle_join(
    join: "exp.Join", tables: "list[tuple[str, Stream | Relation]]", catalog: Catalog
) -> None:
    """What never holds of the rows of a LEFT JOIN, said of a column of its table; of two streams,
    at one time, so that it is known at once."""
    from sqlglot import exp

    mine = [t for t in tables if t[0] == join.this.alias_or_name]
    on = join.args["on"]
    never = [part for part in _list_conjuncts(on) if _is_never(part, catalog)]
    if not never or not mine:
        return
    table = mine[0][1]
    alone = on.find(exp.Column) is None
    for part in never:
        _settle(part, mine)
    if alone and isinstance(table, Stream):
        first = tables[0][1]
        if not isinstance(first, Stream) or tables[0] == mine[0]:
            return
        times = ((mine[0][0], table.timestamp), (tables[0][0], first.timestamp))
        sides = [exp.column(time, name, quoted=True) for name, time in times]
        same = exp.EQ(this=sides[0], expression=sides[1])
        join.set("on", exp.And(this=same, expression=exp.paren(join.args["on"].copy())))


def _settle(
    part: "exp.Expr",
    tables: "list[tuple[str, Stream | Relation]]",
    column: "exp.Expr | None" = None,
) -> None:
    """Put what never holds in the place of a conjunct: of a column where one is needed, of the
    first of the tables or of a query (`column`)."""
    from sqlglot import exp

    if tables:
        alias, table = tables[0]
        name = table.timestamp if isinstance(table, Stream) else _first_column(table)
        column = None if name is None else exp.column(name, alias, quoted=True)
    if column is None:
        if part.find(exp.Null) is not None:
            part.replace(exp.false())
        return
    part.replace(exp.NEQ(this=column.copy(), expression=column.copy()))


def _first_of_query(select: "exp.Select") -> "exp.Expr | None":
    """The first column of the query that comes first in FROM, written there or named by WITH."""
    from sqlglot import exp

    start = select.args.get("from_")
    item = None if start is None else start.this
    inner = item.this if isinstance(item, exp.Subquery) else None
    around: exp.Expr | None = select
    while isinstance(item, exp.Table) and inner is None and around is not None:
        for cte in getattr(around, "ctes", ()):
            inner = cte.this if cte.alias.lower() == item.name.lower() else inner
        around = around.parent
    first = inner.selects[0] if isinstance(inner, exp.Query) and inner.selects else None
    if item is None or first is None or first.is_star or not first.alias_or_name:
        return None
    return exp.column(first.alias_or_name, item.alias_or_name, quoted=True)


def _first_column(table: Relation) -> str | None:
    plain = [c.name for c in table.columns if c.expression is None and c.bucket is None]
    return plain[0] if plain else None


def _is_one_group(select: "exp.Select") -> bool:
    """Whether it has one row, also over nothing: it aggregates, without GROUP BY."""
    from sqlglot import exp

    calls = [call for item in select.expressions for call in item.find_all(exp.AggFunc)]
    inside = any(call.find_ancestor(exp.Window) is None for call in calls)
    return inside and not select.args.get("group")


def _needs_columns(select: "exp.Select") -> bool:
    """Whether it has outer joins, or others read its groups."""
    from sqlglot import exp

    if any(join.side for join in select.args.get("joins") or ()):
        return True
    inside = isinstance(select.parent, (exp.Subquery, exp.CTE))
    return inside and select.args.get("group") is not None


def _list_tables(select: "exp.Select", catalog: Catalog) -> "list[tuple[str, Stream | Relation]]":
    """The declared tables of FROM and its joins, by their aliases, from the first one on."""
    from sqlglot import exp

    named: set[str] = set()
    around: exp.Expr | None = select
    while around is not None:
        named |= {cte.alias.lower() for cte in getattr(around, "ctes", ())}
        around = around.parent
    start = select.args.get("from_")
    found: list[tuple[str, Stream | Relation]] = []
    items = [] if start is None else [start.this, *(j.this for j in select.args.get("joins") or ())]
    for place, item in enumerate(items):
        plain = isinstance(item, exp.Table) and not item.args.get("db")
        known = [*catalog.streams, *catalog.relations]
        name = find_name(item.name, known) if plain else None
        if name is not None and name.lower() not in named:
            found.append((item.alias_or_name, catalog.table(name)))
        elif not place:
            return []
    return found


def _list_conjuncts(tree: "exp.Expr") -> "Iterator[exp.Expr]":
    from sqlglot import exp

    inner = tree.unnest()
    if isinstance(inner, exp.And):
        yield from _list_conjuncts(inner.this)
        yield from _list_conjuncts(inner.expression)
    else:
        yield tree


def _is_never(tree: "exp.Expr", catalog: Catalog, *, negated: bool = False) -> bool:
    """Whether a condition (or its negation) is false or unknown for every row, by its constants."""
    from sqlglot import exp

    match tree:
        case exp.Paren():
            return _is_never(tree.this, catalog, negated=negated)
        case exp.Not():
            return _is_never(tree.this, catalog, negated=not negated)
        case exp.Null():
            return True
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            sides = [tree.this.unnest(), tree.expression.unnest()]
            if any(isinstance(side, exp.Null) for side in sides):
                plain = (exp.Null, exp.Literal, exp.Boolean)
                return all(isinstance(side, plain) for side in sides)
        case exp.And() | exp.Or():
            both = [_is_never(s, catalog, negated=negated) for s in (tree.this, tree.expression)]
            constant = tree.find(exp.Column) is None
            return constant and (any(both) if isinstance(tree, exp.And) != negated else all(both))
        case _:
            pass
    if tree.find(exp.Column, exp.Query, exp.Null) is not None:
        return False
    try:
        return read_condition(tree, Scope(catalog, {}), bag=False, negated=negated) == ()
    except SqlRefusal:
        return False
