"""EXCEPT and INTERSECT."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp


def subtract_rows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """SELECT DISTINCT … WHERE NOT EXISTS for EXCEPT, and EXISTS for INTERSECT: they say the same of
    columns that are never NULL on one of the two sides.

    Raises:
        SqlRefusal: a side is more than columns of tables, or duplicates are counted.
    """
    from sqlglot import exp

    if not isinstance(tree, (exp.Except, exp.Intersect)):
        return tree
    kind = "EXCEPT" if isinstance(tree, exp.Except) else "INTERSECT"
    left, right = (subtract_rows(_bare(side), catalog) for side in (tree.this, tree.expression))
    more = [k for k in ("limit", "offset", "by_name") if tree.args.get(k)]
    if not isinstance(left, exp.Select) or not isinstance(right, exp.Select) or more:
        raise _refuse(tree, f"{kind} of more than two SELECTs", "write NOT EXISTS, or EXISTS")
    if not tree.args.get("distinct"):
        fix = f"write {kind}, which has no duplicates; or columns of rows in windows on both sides"
        raise _refuse(tree, f"{kind} ALL", f"{fix}, … WHERE ts > NOW() - INTERVAL '10' MINUTE")
    for side in (left, right):
        held = [k for k in ("group", "having", "qualify", "limit", "order") if side.args.get(k)]
        if held or any(e.find(exp.AggFunc, exp.Star) for e in side.expressions):
            fix = "write columns by name, and aggregates in subqueries in FROM"
            raise _refuse(tree, f"{kind} of a SELECT with {held[0] if held else 'that'}", fix)
    if len(left.expressions) != len(right.expressions):
        counts = " and ".join(str(len(s.expressions)) for s in (left, right))
        raise _refuse(tree, f"{kind} of {counts} columns", "select as many on both sides")
    sides = zip(left.expressions, right.expressions, strict=True)
    lack = [
        one
        for one, other in sides
        if not _has_value(one.unalias(), left, catalog)
        and not _has_value(other.unalias(), right, catalog)
    ]
    if lack:
        fix = "write NOT EXISTS, or EXISTS, with the comparison that is meant"
        raise _refuse(tree, f"{kind} of {show_sql(lack[0].unalias())}, which may be NULL,", fix)
    made, inner = _name_apart(left, "of left"), _name_apart(right, "of right")
    for one, other in zip(left.expressions, inner.expressions, strict=True):
        outer = _find_shown(made, one.alias_or_name)
        inner.where(exp.EQ(this=other.unalias().copy(), expression=outer), copy=False)
    inner.set("expressions", [exp.alias_(exp.Literal.number(1), "there")])
    inner.set("distinct", None)
    found: exp.Expr = exp.Exists(this=inner)
    made.where(exp.Not(this=found) if kind == "EXCEPT" else found, copy=False)
    if tree.args.get("with_") is not None:
        made.set("with_", tree.args["with_"])
    if tree.args.get("order") is not None:
        made.set("order", tree.args["order"])
    return made.distinct(copy=False)


def subtract_registered(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """EXCEPT as by subtract_rows, where rows of static relations alone are on the left: that there
    are none of streams beside registered ones is read before all else. Another query as it is.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Except) or not isinstance(tree.this, exp.Select):
        return tree
    tables = list(tree.this.find_all(exp.Table))
    static = [find_name(t.name, catalog.relations) is not None for t in tables]
    plain = all(find_name(t.name, catalog.streams) is None for t in tables)
    if not tables or not all(static) or not plain:
        return tree
    try:
        return subtract_rows(tree, catalog)
    except SqlRefusal:
        return tree


def _has_value(tree: "exp.Expr", select: "exp.Select", catalog: Catalog) -> bool:
    """Whether an expression of a SELECT is never NULL: a constant, or a column of a table, or of a
    subquery that shows such a one, which is not beside an outer join."""
    from sqlglot import exp

    if isinstance(tree, exp.Literal):
        return True
    joins, start = select.args.get("joins") or [], select.args.get("from_")
    if not isinstance(tree, exp.Column) or start is None or any(j.args.get("side") for j in joins):
        return False
    found = []
    for item in [start.this, *(join.this for join in joins)]:
        if tree.table.lower() not in ("", item.alias_or_name.lower()):
            continue
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Select):
            shown = [e for e in item.this.expressions if e.alias_or_name == tree.name]
            found += [_has_value(e.unalias(), item.this, catalog) for e in shown]
            if any(e.is_star for e in item.this.expressions):
                return False
            continue
        name = find_name(item.name, [*catalog.streams, *catalog.relations])
        table = None if name is None else catalog.table(name)
        known = {} if table is None else {c.name.lower(): c for c in table.columns}
        column = known.get(tree.name.lower())
        timed = isinstance(table, Stream) and table.timestamp.lower() == tree.name.lower()
        if column is not None or timed:
            found.append(column is None or not column.nullable)
    return found == [True]


def _bare(side: "exp.Expr") -> "exp.Query":
    inner: exp.Query = side.unnest()  # type: ignore[assignment]
    return inner


def _name_apart(select: "exp.Select", suffix: str) -> "exp.Select":
    """The SELECT, where every table has an alias of its own and every column says it."""
    from sqlglot import exp

    made = select.copy()
    start = made.args.get("from_")
    items = [] if start is None else [start.this]
    items += [join.this for join in made.args.get("joins") or ()]
    names = {}
    for item in items:
        if not isinstance(item, (exp.Table, exp.Subquery)) or not item.alias_or_name:
            raise _refuse(made, "EXCEPT or INTERSECT of this FROM", "write NOT EXISTS, or EXISTS")
        old = item.alias_or_name
        names[old.lower()] = f"{old} {suffix}"
        item.set("alias", exp.TableAlias(this=exp.to_identifier(names[old.lower()], quoted=True)))
    inside = [q for q in made.find_all(exp.Select) if q is not made]
    within = [t for q in inside for t in q.find_all(exp.Table, exp.Subquery)]
    if shadow := [t.alias_or_name for t in within if t.alias_or_name.lower() in names]:
        fix = f"give {shadow[0]} another alias in one of them"
        raise _refuse(made, f"EXCEPT or INTERSECT where {shadow[0]} is two tables", fix)
    for column in made.find_all(exp.Column):
        if any(q in inside for q in _around(column, made)):
            if column.table.lower() in names:
                column.set("table", exp.to_identifier(names[column.table.lower()], quoted=True))
            continue
        if column.table:
            of = names.get(column.table.lower())
        elif len(names) == 1:
            of = next(iter(names.values()))
        else:
            raise _refuse(column, f"{show_sql(column)} of several tables", "write its table")
        if of is not None:
            column.set("table", exp.to_identifier(of, quoted=True))
    return made


def _around(node: "exp.Expr", outside: "exp.Select") -> "list[exp.Expr]":
    from sqlglot import exp

    found: list[exp.Expr] = []
    above = node.find_ancestor(exp.Select)
    while above is not None and above is not outside:
        found.append(above)
        above = above.find_ancestor(exp.Select)
    return found


def _find_shown(made: "exp.Select", name: str) -> "exp.Expr":
    shown = next(e for e in made.expressions if e.alias_or_name == name)
    inner: exp.Expr = shown.unalias().copy()
    return inner


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside the SQL read here",
        why="they are read as NOT EXISTS and EXISTS of a row that is equal",
        fix=fix,
        line=line_of(tree),
    )
