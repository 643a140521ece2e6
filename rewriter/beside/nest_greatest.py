"""The latest row beside others by the greatest time, or as one that no later one follows."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.beside.nest_correlated import number_latest
from ontoweir.rewriter.differences.name_columns import name_tables, qualify
from ontoweir.rewriter.greatest.inline_greatest import is_greatest
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def nest_conditions(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """LEFT JOIN (SELECT * FROM s AS l WHERE …) AS l for LEFT JOIN s AS l, where ON has a subquery:
    what that says of columns around it that equal those of s is said of these; in place."""
    from sqlglot import exp

    scope = list_tables(tree, catalog)
    for join in tree.args.get("joins") or ():
        table, on = join.this, join.args.get("on")
        left = str(join.args.get("side") or "").upper() == "LEFT"
        alias = table.alias_or_name
        stream = scope.tables.get(alias) if isinstance(table, exp.Table) else None
        if not left or on is None or not isinstance(stream, Stream) or not on.find(exp.Query):
            continue
        said = list(split_conjuncts(on))
        inside = [c for c in said if c.find(exp.Query)]
        equal: dict[exp.Expr, exp.Expr] = {}
        for one in (c for c in said if c not in inside and isinstance(c, exp.EQ)):
            sides = [qualify(s, scope) for s in (one.this, one.expression)]
            mine = [s for s in sides if isinstance(s, exp.Column) and s.table == alias]
            others = [s for s in sides if isinstance(s, exp.Column) and s.table != alias]
            if len(mine) == 1 and len(others) == 1:
                equal[others[0]] = mine[0]
        moved = [_say(c, equal, alias, tree, catalog) for c in inside]
        if any(m is None for m in moved):
            continue
        rows = exp.Select(expressions=_columns(alias, stream), from_=exp.From(this=table.copy()))
        rows.where(*(m for m in moved if m is not None), copy=False)
        named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
        join.set("this", exp.Subquery(this=rows, alias=named))
        join.set("on", exp.and_(*(c.copy() for c in said if c not in inside)))
    return tree


def _say(
    condition: "exp.Expr",
    equal: "dict[exp.Expr, exp.Expr]",
    alias: str,
    around: "exp.Select",
    catalog: Catalog,
) -> "exp.Expr | None":
    """A condition on the columns of one table (None: it names others)."""
    from sqlglot import exp

    made, outer = condition.copy(), list_tables(around, catalog)
    inner = next(iter(made.find_all(exp.Select)))
    inside = list_tables(inner, catalog)
    for column in list(made.find_all(exp.Column)):
        if column.find_ancestor(exp.Select) is inner and qualify(column, inside) is not None:
            continue
        found = qualify(column, outer)
        found = None if found is None else equal.get(found, found)
        if not isinstance(found, exp.Column) or found.table != alias:
            return None
        column.replace(found.copy())
    return made


def nest_greatest(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """LEFT JOIN (the latest rows), with the number 1, for LEFT JOIN (SELECT k, MAX(ts) AS t FROM s
    GROUP BY k) AS x; and for such a one, with a LEFT JOIN s ON s.k = x.k AND s.ts = x.t after it,
    one LEFT JOIN of the rows of that time; in place."""
    from sqlglot import exp

    joins = list(tree.args.get("joins") or ())
    for place, join in enumerate(joins):
        inside = join.this
        left = str(join.args.get("side") or "").upper() == "LEFT"
        groups = isinstance(inside, exp.Subquery) and is_greatest(inside.this, catalog)
        if not left or not groups or join.args.get("on") is None:
            continue
        calls = list(inside.this.find_all(exp.Max))
        if len(calls) != 1:
            continue
        after = joins[place + 1] if place + 1 < len(joins) else None
        if after is not None and _unite(tree, join, after, catalog):
            tree.set("joins", [j for j in joins if j is not join])
            return tree
        rows = inside.this
        keys = [k.copy() for k in rows.args["group"].expressions]
        time = calls[0].this.copy()
        rows.set("group", None)
        calls[0].replace(time.copy())
        number_latest(rows, keys, time)
    return tree


def _unite(tree: "exp.Select", groups: "exp.Join", rows: "exp.Join", catalog: Catalog) -> bool:
    """Put rows that are joined with the groups of the greatest time in the place of both; whether
    they are."""
    from sqlglot import exp

    table, on = rows.this, rows.args.get("on")
    left = str(rows.args.get("side") or "").upper() == "LEFT"
    scope = list_tables(tree, catalog)
    alias, own = groups.this.alias_or_name, table.alias_or_name
    stream = scope.tables.get(own) if isinstance(table, exp.Table) else None
    start = groups.this.this.args["from_"].this
    if not left or on is None or not isinstance(stream, Stream) or start.name != table.name:
        return False
    shown = {e.alias_or_name.lower(): e.unalias() for e in groups.this.this.expressions}
    pairs: dict[str, exp.Expr] = {}
    for condition in split_conjuncts(on):
        if not isinstance(condition, exp.EQ):
            return False
        sides = [condition.this, condition.expression]
        theirs = [
            s for s in sides if isinstance(s, exp.Column) and s.table.lower() == alias.lower()
        ]
        mine = [s for s in sides if isinstance(s, exp.Column) and s.table.lower() == own.lower()]
        if len(theirs) != 1 or len(mine) != 1:
            return False
        pairs[theirs[0].name.lower()] = mine[0]
    if pairs.keys() != shown.keys():
        return False
    for name, mine_of in pairs.items():
        value = shown[name]
        of = value.this if isinstance(value, exp.Max) else value
        if of.name.lower() != mine_of.name.lower():
            return False
    inner = exp.Select(expressions=[exp.column(exp.Star(), own)])
    inner.set("from_", exp.From(this=table.copy()))
    inner.set("joins", [exp.Join(this=groups.this.copy(), on=on.copy())])
    for column in list(tree.find_all(exp.Column)):
        if column.table.lower() == alias.lower() and column.name.lower() in pairs:
            column.replace(pairs[column.name.lower()].copy())
    rows.set("this", _with_columns(inner, own, stream))
    rows.set("on", groups.args["on"].copy())
    name_tables(tree, scope)
    return True


def _with_columns(inner: "exp.Select", own: str, stream: Stream) -> "exp.Subquery":
    """A subquery that shows the columns of its stream."""
    from sqlglot import exp

    inner.set("expressions", _columns(own, stream))
    return exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(own, quoted=True)))


def _columns(alias: str, stream: Stream) -> "list[exp.Expr]":
    from sqlglot import exp

    names = [stream.timestamp, *(c.name for c in stream.columns)]
    return [exp.alias_(exp.column(n, alias, quoted=True), n, quoted=True) for n in names]
