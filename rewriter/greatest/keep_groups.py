"""What compares the greatest time of each key with NOW(), around its groups or rows, as HAVING."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.greatest.inline_greatest import is_greatest
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp


def keep_groups(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`SELECT k, t FROM (SELECT k, MAX(ts) AS t FROM s GROUP BY k) WHERE t < NOW() - …` with
    HAVING; the same of the latest row of each key by number, of which the key and the time are
    shown, and of a LEFT JOIN of a static relation with such groups. Another query as it is."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return tree
    for node in [n for n in tree.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE) if has_now(n)]:
        _turn_span(node)
    where = tree.args.get("where")
    if where is None or not has_now(where):
        return tree
    more = {k for k, v in tree.args.items() if v} - {"expressions", "from_", "where", "joins"}
    start = tree.args.get("from_")
    if more or start is None or not isinstance(start.this, exp.Subquery | exp.Table):
        return tree
    if tree.args.get("joins"):
        return _beside_register(tree, catalog) or tree
    subquery = tree.args["from_"].this
    inner = subquery.this if isinstance(subquery, exp.Subquery) else None
    if not isinstance(inner, exp.Select):
        return tree
    if is_greatest(inner, catalog):
        return _around(tree, inner, where.this) or tree
    return _of_latest(tree, inner, catalog) or tree


def _turn_span(node: "exp.Expr") -> None:
    """`NOW() - t > INTERVAL …` as `t < NOW() - INTERVAL …`, in place."""
    from sqlglot import exp

    span, length = node.this.unnest(), node.expression.unnest()
    if not isinstance(span, exp.Sub) or not isinstance(length, exp.Interval):
        return
    now, time = span.this.unnest(), span.expression.unnest()
    if not has_now(now) or now.find(exp.Column) or not isinstance(time, exp.Max | exp.Column):
        return
    limit = exp.Sub(this=now.copy(), expression=length.copy())
    node.replace(turn_comparison(type(node))(this=time.copy(), expression=limit))


def _around(tree: "exp.Select", inner: "exp.Select", condition: "exp.Expr") -> "exp.Select | None":
    """A SELECT of columns of groups as the groups themselves."""
    shown = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    made = inner.copy()
    if not any(item.is_star for item in tree.expressions):
        items = _list_items(tree, shown)
        if items is None:
            return None
        made.set("expressions", items)
    return _having(made, condition, shown)


def _having(
    made: "exp.Select", condition: "exp.Expr", shown: "dict[str, exp.Expr]"
) -> "exp.Select | None":
    from sqlglot import exp

    held = condition.copy()
    holder = exp.Having(this=held)
    for column in list(holder.find_all(exp.Column)):
        if column.name.lower() not in shown:
            return None
        column.replace(shown[column.name.lower()].copy())
    made.set("having", holder)
    return made


def _list_items(tree: "exp.Select", shown: "dict[str, exp.Expr]") -> "list[exp.Expr] | None":
    """The items of a SELECT, of columns of a subquery (None: they are more than that)."""
    from sqlglot import exp

    made: list[exp.Expr] = []
    for item in tree.expressions:
        column = item.unalias()
        if not isinstance(column, exp.Column) or column.name.lower() not in shown:
            return None
        made.append(exp.alias_(shown[column.name.lower()].copy(), item.alias_or_name, quoted=True))
    return made


def _of_latest(tree: "exp.Select", inner: "exp.Select", catalog: Catalog) -> "exp.Select | None":
    """The key and the time of the row whose number is 1, as the greatest time of each key."""
    from sqlglot import exp

    more = {k for k, v in inner.args.items() if v} - {"expressions", "from_", "where"}
    numbers = [
        e for e in inner.expressions if isinstance(e.unalias(), exp.Window) and is_number(e.this)
    ]
    if more or len(numbers) != 1 or not isinstance(numbers[0].this.this, exp.RowNumber):
        return None
    window, name = numbers[0].this, numbers[0].alias
    order, keys = window.args.get("order"), window.args.get("partition_by") or []
    if order is None or len(order.expressions) != 1 or not order.expressions[0].args.get("desc"):
        return None
    time = order.expressions[0].this
    plain = all(isinstance(c, exp.Column) for c in (time, *keys)) and keys
    if not plain or not is_time(time, inner, catalog):
        return None
    conditions = list(split_conjuncts(tree.args["where"].this))
    first = [c for c in conditions if _is_first(c, name)]
    rest = [c for c in conditions if c not in first]
    if len(first) != 1 or not rest:
        return None
    known = {k.name.lower(): k for k in keys} | {time.name.lower(): exp.Max(this=time.copy())}
    shown: dict[str, exp.Expr] = {} if not _has_star(inner) else dict(known)
    for item in inner.expressions:
        column = item.unalias()
        if isinstance(column, exp.Column) and column.name.lower() in known:
            shown[item.alias_or_name.lower()] = known[column.name.lower()]
    made = inner.copy()
    made.set("group", exp.Group(expressions=[k.copy() for k in keys]))
    items = _list_items(tree, shown)
    if items is None:
        return None
    made.set("expressions", items)
    return _having(made, exp.and_(*(c.copy() for c in rest)), shown)


def _is_first(condition: "exp.Expr", name: str) -> bool:
    from sqlglot import exp

    inner = condition.unnest()
    if not isinstance(inner, exp.EQ) or not isinstance(inner.this, exp.Column):
        return False
    return inner.this.name.lower() == name.lower() and inner.expression == exp.Literal.number(1)


def _has_star(select: "exp.Select") -> bool:
    return any(item.is_star for item in select.expressions)


def _beside_register(tree: "exp.Select", catalog: Catalog) -> "exp.Select | None":
    """`m LEFT JOIN (SELECT k, MAX(ts) AS t FROM s GROUP BY k) AS l ON l.k = m.id WHERE l.t IS NULL
    OR l.t < NOW() - …` as m LEFT JOIN s, grouped by m.id, with HAVING."""
    from sqlglot import exp

    (join, *others), start = tree.args["joins"], tree.args["from_"].this
    groups = join.this
    side = str(join.args.get("side") or "").upper()
    if others or side != "LEFT" or not isinstance(groups, exp.Subquery) or not groups.alias:
        return None
    inner, on = groups.this, join.args.get("on")
    if not is_greatest(inner, catalog) or inner.args.get("where") or on is None:
        return None
    tables = list_tables(tree, catalog).tables
    if len(tables) != 1 or not isinstance(on.unnest(), exp.EQ) or not isinstance(start, exp.Table):
        return None
    ((alias, table),) = tables.items()
    equal = on.unnest()
    columns = [s for s in (equal.this, equal.expression) if isinstance(s, exp.Column)]
    sides = {column.table.lower(): column for column in columns}
    if not isinstance(table, Relation) or sides.keys() != {alias.lower(), groups.alias.lower()}:
        return None
    mine, theirs = sides[alias.lower()], sides[groups.alias.lower()]
    name = find_name(mine.name, [c.name for c in table.columns])
    if not any(key == (name,) for key in table.keys):
        return None
    of = groups.alias
    shown: dict[tuple[str, str], exp.Expr] = {(alias.lower(), mine.name.lower()): mine}
    for item in inner.expressions:
        value = item.unalias().copy()
        for column in [value] if isinstance(value, exp.Column) else value.find_all(exp.Column):
            column.set("table", exp.to_identifier(of))
        shown[of.lower(), item.alias_or_name.lower()] = value
    key = shown.get((of.lower(), theirs.name.lower()))
    if not isinstance(key, exp.Column) or len(inner.args["group"].expressions) != 1:
        return None
    made = tree.copy()
    made.set("where", None)
    held = exp.Having(this=tree.args["where"].this.copy())
    joined = made.args["joins"][0]
    stream = inner.args["from_"].this.copy()
    stream.set("alias", exp.TableAlias(this=exp.to_identifier(of)))
    joined.set("this", stream)
    joined.set("on", exp.EQ(this=key.copy(), expression=mine.copy()))
    for item in made.expressions:
        if not isinstance(item.unalias(), exp.Column):
            return None
        if not isinstance(item, exp.Alias):
            item.replace(exp.alias_(item.copy(), item.alias_or_name, quoted=True))
    for column in [*held.find_all(exp.Column), *(e.unalias() for e in made.expressions)]:
        place = (column.table.lower(), column.name.lower())
        if not column.table:
            place = next((p for p in shown if p[1] == column.name.lower()), place)
        if place not in shown or (place[0] == of.lower() and shown[place] == key):
            return None
        column.replace(shown[place].copy())
    made.set("having", held)
    made.set("group", exp.Group(expressions=[mine.copy()]))
    return made
