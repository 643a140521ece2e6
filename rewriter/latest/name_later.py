"""The latest row of each key by joins: with those that are later, or with the greatest time."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.joins.find_absence import split_conjuncts

if TYPE_CHECKING:
    from sqlglot import exp


def name_later(select: "exp.Select") -> None:
    """NOT EXISTS for a LEFT JOIN of a table with itself whose rows are those without a partner; IN
    for a JOIN with the key and the greatest, or least, time of each group; in place.

    Args:
        select: the query, or a part of it.
    """
    _read_partners(select)
    _read_greatest(select)


def _read_partners(select: "exp.Select") -> None:
    """SELECT … FROM s LEFT JOIN s AS o ON … WHERE o.key IS NULL, of a column that ON compares."""
    from sqlglot import exp

    joins, start = select.args.get("joins") or [], select.args.get("from_")
    if len(joins) != 1 or start is None or not isinstance(start.this, exp.Table):
        return
    join, where = joins[0], select.args.get("where")
    on, table = join.args.get("on"), join.this
    plain = str(join.side).upper() == "LEFT" and not join.args.get("method")
    if where is None or on is None or not plain or not isinstance(table, exp.Table):
        return
    own, other = start.this.alias_or_name, table.alias_or_name
    if table.name.lower() != start.this.name.lower() or other.lower() == own.lower():
        return
    if any(
        not c.table for c in select.find_all(exp.Column) if c.find_ancestor(exp.Select) is select
    ):
        return
    compared = {
        side.name.lower()
        for c in split_conjuncts(on)
        if isinstance(c, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE))
        for side in (c.this, c.expression)
        if isinstance(side, exp.Column) and side.table.lower() == other.lower()
    }
    conjuncts = list(split_conjuncts(where.this))
    missing = [c for c in conjuncts if _is_missing(c, other, compared)]
    rest = [c for c in conjuncts if c not in missing]
    shown = [
        *select.expressions,
        *rest,
        *(select.args.get(k) for k in ("group", "having", "qualify", "order")),
    ]
    if len(missing) != 1 or any(_reads(e, other) for e in shown if e is not None):
        return
    if any(e.find(exp.Star) for e in select.expressions):
        return
    inner = exp.select("1").from_(table.copy()).where(on.copy())
    absent = exp.Not(this=exp.Exists(this=inner))
    select.set("joins", None)
    select.set("where", exp.Where(this=exp.and_(*rest, absent)))


def _is_missing(condition: "exp.Expr", alias: str, compared: set[str]) -> bool:
    """Whether it says that a column of a table is NULL, one that is compared with others, so that
    there is no row of the table."""
    from sqlglot import exp

    condition = condition.unnest()
    if not isinstance(condition, exp.Is) or not isinstance(condition.expression, exp.Null):
        return False
    column = condition.this
    return (
        isinstance(column, exp.Column)
        and column.table.lower() == alias.lower()
        and column.name.lower() in compared
    )


def _reads(tree: "exp.Expr", alias: str) -> bool:
    from sqlglot import exp

    return any(c.table.lower() == alias.lower() for c in tree.find_all(exp.Column))


def _read_greatest(select: "exp.Select") -> None:
    """SELECT … FROM s JOIN (SELECT k, MAX(ts) AS m FROM s GROUP BY k) AS x ON x.k = s.k AND x.m =
    s.ts."""
    from sqlglot import exp

    joins, start = select.args.get("joins") or [], select.args.get("from_")
    if len(joins) != 1 or start is None or not isinstance(start.this, exp.Table):
        return
    join, subquery = joins[0], joins[0].this
    inner = subquery.this if isinstance(subquery, exp.Subquery) else None
    on, alias = join.args.get("on"), subquery.alias_or_name
    if not isinstance(inner, exp.Select) or on is None or not inner.args.get("group"):
        return
    if any(join.args.get(k) for k in ("side", "method", "using")):
        return
    items = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    extremes = [e for e in items.values() if isinstance(e, (exp.Max, exp.Min))]
    table = inner.args["from_"].this if inner.args.get("from_") else None
    if len(extremes) != 1 or not isinstance(table, exp.Table):
        return
    if table.name.lower() != start.this.name.lower():
        return
    pairs: dict[str, exp.Expr] = {}
    mine: list[exp.Expr] = []
    for condition in split_conjuncts(on):
        if not _reads(condition, alias):
            mine.append(condition)
            continue
        if not isinstance(condition, exp.EQ):
            return
        one, two = condition.this, condition.expression
        if isinstance(two, exp.Column) and two.table.lower() == alias.lower():
            one, two = two, one
        if not isinstance(one, exp.Column) or one.table.lower() != alias.lower():
            return
        pairs[one.name.lower()] = two
    shown = [*select.expressions, *mine, *pairs.values(), select.args.get("where")]
    if pairs.keys() != items.keys() or any(_reads(e, alias) for e in shown if e is not None):
        return
    if any(e.find(exp.Star) for e in select.expressions):
        return
    row = exp.Tuple(expressions=[pairs[name].copy() for name in items])
    held = inner.copy()
    held.set("expressions", [e.copy() for e in items.values()])
    own = start.this.alias_or_name
    unnamed = [
        c
        for c in select.find_all(exp.Column)
        if not c.table and c.find_ancestor(exp.Select) is select
    ]
    if any(c.name.lower() in items for c in unnamed):
        return
    for column in unnamed:
        column.set("table", exp.to_identifier(own))
    select.set("joins", None)
    select.where(
        *(c.copy() for c in mine), exp.In(this=row, query=exp.Subquery(this=held)), copy=False
    )
