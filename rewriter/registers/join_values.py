"""A value of a static relation in the place of a subquery, as `(SELECT s.limit FROM sensor s WHERE
s.id = t.sensor)`."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "where"}


def join_values(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """LEFT JOIN of a static relation in the place of a subquery in SELECT or WHERE that shows one
    value of its row with a key; JOIN, where a condition of WHERE does not hold without a value; in
    place.

    There is one row with a key, or none, so that rows of the query are as many as before.

    Args:
        tree: a query, whose stars are named.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        asked = any(_is_value(s, select) for s in select.find_all(exp.Subquery))
        if asked and not _name_stars(select):
            continue
        made = dict[str, exp.Join]()
        for call in [s for s in select.find_all(exp.Subquery) if _is_value(s, select)]:
            text = call.sql()
            join = made.get(text) or _make_join(call.this, len(made) + 1, catalog)
            if join is None:
                continue
            made[text] = join
            if _is_needed(call, select):
                join.set("side", None)
            value = join.this.this.expressions[0].alias
            column: exp.Expr = exp.column(value, join.this.alias, quoted=True)
            if any(call is item for item in select.expressions):
                named = call.this.expressions[0].alias_or_name
                column = exp.alias_(column, named or value, quoted=True)
            call.replace(column)
        bare = {c.name.lower() for c in select.find_all(exp.Column) if not c.table}
        for join in made.values():
            select.append("joins", join)
            table = list_tables(join.this.this, catalog).tables.popitem()[1]
            if bare.isdisjoint(name.lower() for name in column_names(table)):
                _name_table(join, select)
    return tree


def _name_stars(select: "exp.Select") -> bool:
    """Whether `*` shows what it did before, and nothing of what is joined: it is `t.*` of each item
    of FROM then, in place."""
    from sqlglot import exp

    joins = select.args.get("joins") or ()
    items = [select.args["from_"].this, *(j.this for j in joins)]
    stars = [e for e in select.expressions if isinstance(e, exp.Star)]
    if not stars:
        return True
    names = [i.alias_or_name for i in items]
    if (
        not all(names)
        or any(j.args.get("using") for j in joins)
        or any(any(s.args.values()) for s in stars)
    ):
        return False
    hidden = ("SEMI", "ANTI")
    shown = [names[0]]
    shown += [
        n
        for n, j in zip(names[1:], joins, strict=True)
        if str(j.args.get("kind") or "").upper() not in hidden
    ]
    made: list[exp.Expr] = []
    for item in select.expressions:
        named = [exp.Column(this=exp.Star(), table=exp.to_identifier(n)) for n in shown]
        made += named if isinstance(item, exp.Star) else [item]
    select.set("expressions", made)
    return True


def _name_table(join: "exp.Join", select: "exp.Select") -> None:
    """Let a join be of the relation itself, in place: what a SELECT computes of it, and compares,
    is in the place of the columns that the subquery shows."""
    from sqlglot import exp

    inner, alias = join.this.this, join.this.alias
    for column in list(inner.find_all(exp.Column)):
        column.replace(exp.column(column.name, alias, quoted=True))
    shown = {item.alias: item.unalias() for item in inner.expressions}
    for column in [c for c in select.find_all(exp.Column) if c.table == alias]:
        if column.find_ancestor(exp.Subquery) is not join.this and column.name in shown:
            column.replace(exp.Paren(this=shown[column.name].copy()))
    where = inner.args.get("where")
    both = [join.args["on"], *([] if where is None else [where.this])]
    join.set("on", exp.and_(*both, copy=False))
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    table = inner.args["from_"].this
    join.set("this", exp.Table(this=table.this.copy(), alias=name))


def _is_value(call: "exp.Subquery", select: "exp.Select") -> bool:
    """Whether a subquery is a value in SELECT or WHERE: of groups, in WHERE or in an aggregate."""
    from sqlglot import exp

    if call.alias or not isinstance(call.this, exp.Select) or not select.args.get("from_"):
        return False
    inner: exp.Expr = call
    above = call.parent
    while above is not None and above is not select:
        if isinstance(above, (exp.Query, exp.Window, exp.From, exp.Join, exp.In, exp.Exists)):
            return False
        if isinstance(above, (exp.Any, exp.All, exp.Group, exp.Having, exp.Order, exp.Qualify)):
            return False
        inner, above = above, above.parent
    if isinstance(inner, exp.Where):
        return above is select
    grouped = select.args.get("group") or any(e.find(exp.AggFunc) for e in select.expressions)
    shown = any(inner is item for item in select.expressions)
    return (
        above is select and shown and (not grouped or call.find_ancestor(exp.AggFunc) is not None)
    )


def _is_needed(call: "exp.Subquery", select: "exp.Select") -> bool:
    """Whether a condition that WHERE makes of it does not hold where it is NULL."""
    from sqlglot import exp

    node: exp.Expr | None = call.parent
    computed = (exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Neg)
    while isinstance(node, computed):
        node = node.parent
    compared = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    where = select.args.get("where")
    return (
        isinstance(node, compared)
        and where is not None
        and any(node is conjunct.unnest() for conjunct in split_conjuncts(where.this))
    )


def _make_join(query: "exp.Select", number: int, catalog: Catalog) -> "exp.Join | None":
    """The LEFT JOIN for a subquery (None: it is not of one static row, or of more than that);
    `number`: of the join."""
    from sqlglot import exp

    where = query.args.get("where")
    if {k for k, v in query.args.items() if v} - _READ or where is None:
        return None
    tables = list_tables(query, catalog).tables
    (name, table), *more = tables.items() if len(tables) == 1 else [("", None)]
    if more or not isinstance(table, Relation) or len(query.expressions) != 1:
        return None
    shown = query.expressions[0].unalias().copy()
    if shown.find(exp.AggFunc, exp.Window, exp.Query, exp.Star) or where.find(exp.Query):
        return None

    def own(tree: "exp.Expr") -> set[bool]:
        """Whether columns are of the relation: some, none, or both."""
        return {_is_of(column, name, table) for column in tree.find_all(exp.Column)}

    kept, on, equated = list[exp.Expr](), list[exp.Expr](), set[str]()
    alias = f"{table.name} {number}"
    value = f"{shown.name if isinstance(shown, exp.Column) else 'value'} {number}"
    items = [exp.alias_(shown, value, quoted=True)]
    for conjunct in split_conjuncts(where.this):
        sides = [conjunct.this, conjunct.expression] if isinstance(conjunct, exp.EQ) else []
        mine = [s.unnest() for s in sides if own(s) == {True}]
        others = [s for s in sides if own(s) == {False}]
        constant = [s for s in sides if not own(s)]
        plain = len(mine) == 1 and isinstance(mine[0], exp.Column)
        column = find_name(mine[0].name, column_names(table)) if plain else None
        if column is not None and others + constant:
            equated.add(column)
        if own(conjunct) == {True}:
            kept.append(conjunct.copy())
            continue
        if column is None or not others:
            return None
        items.append(exp.alias_(mine[0].copy(), f"key {len(items)}", quoted=True))
        key = exp.column(items[-1].alias, alias, quoted=True)
        on.append(exp.EQ(this=key, expression=others[0].copy()))
    if own(shown) != {True} or not any(key and equated >= {*key} for key in table.keys):
        return None
    inner = exp.Select(expressions=items, from_=query.args["from_"].copy())
    if kept:
        inner.set("where", exp.Where(this=exp.and_(*kept, copy=False)))
    made = exp.Subquery(
        this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    )
    return exp.Join(this=made, side="LEFT", on=exp.and_(*on, copy=False) if on else exp.true())


def _is_of(column: "exp.Column", name: str, table: Relation) -> bool:
    if column.table:
        return bool(column.table.lower() == name.lower())
    return find_name(column.name, column_names(table)) is not None
