"""The latest value of a stream beside each row of static relations, by ARG_MAX over a LEFT JOIN."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.beside.nest_correlated import KEY, number_latest
from ontoweir.rewriter.beside.nest_numbered import read_pairs, tells_rows
from ontoweir.rewriter.differences.name_columns import qualify
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

_VALUE, _TIME = "latest value", "latest time"


def nest_chosen(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """LEFT JOIN (the latest row with a value of x) for SELECT r.k, ARG_MAX(s.x, s.ts), MAX(s.ts) …
    FROM r LEFT JOIN s … GROUP BY r.k, where each row of the relations is a group; else as it is.

    Raises:
        SqlRefusal: MAX(s.ts) looks at rows without a value of x, too.
    """
    from sqlglot import exp

    pairs, group = read_pairs(tree, catalog), tree.args.get("group")
    allowed = {"expressions", "from_", "joins", "where", "group"}
    if pairs is None or group is None or {k for k, v in tree.args.items() if v} - allowed:
        return tree
    scope, alias = list_tables(tree, catalog), pairs.alias
    stream = scope.tables[alias]
    assert isinstance(stream, Stream)
    named = {e.alias.lower(): e.unalias() for e in tree.expressions if e.alias}
    keys = [qualify(_mean(g, tree, named), scope) for g in group.expressions]
    if any(k is None for k in keys) or not tells_rows(keys, pairs.equal, scope, alias):
        return tree
    time = exp.column(stream.timestamp, alias, quoted=True)
    values: dict[exp.Expr, None] = {}
    last, items = False, list[exp.Expr]()
    for item in tree.expressions:
        made = qualify(item.unalias(), scope)
        name = item.alias_or_name or item.sql("spark")
        if made is None:
            return tree
        if isinstance(made, exp.ArgMax) and made.expression == time:
            values[made.this] = None
            made = exp.column(_VALUE, alias, quoted=True)
        elif isinstance(made, exp.Max) and made.this == time:
            last, made = True, exp.column(_TIME, alias, quoted=True)
        elif made not in keys:
            return tree
        items.append(exp.alias_(made, name, quoted=True))
    if len(values) != 1:
        return tree
    (value,) = values
    if not isinstance(value, exp.Column) or value.table != alias:
        return tree
    if last and not any(_is_there(c, value) for c in pairs.local):
        raise _refuse(value, stream.timestamp, tree)
    rows = exp.Select(from_=exp.From(this=pairs.join.this.copy()))
    for number, own in enumerate(pairs.equal):
        rows.append("expressions", exp.alias_(own.copy(), f"{KEY} {number + 1}", quoted=True))
    rows.append("expressions", exp.alias_(value.copy(), _VALUE, quoted=True))
    rows.append("expressions", exp.alias_(time.copy(), _TIME, quoted=True))
    there = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    rows.where(*(c.copy() for c in pairs.local), there, copy=False)
    number_latest(rows, list(pairs.equal), time)
    on = [
        exp.EQ(this=exp.column(f"{KEY} {n + 1}", alias, quoted=True), expression=other.copy())
        for n, other in enumerate(pairs.equal.values())
    ]
    told = tree.copy()
    told.set("expressions", items)
    told.set("group", None)
    pairs.put(told, rows, on)
    return told


def _mean(item: "exp.Expr", select: "exp.Select", named: "dict[str, exp.Expr]") -> "exp.Expr":
    """What is grouped by, where it is a position in SELECT or a name that is given there."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and item.name.isdigit():
        shown = select.expressions[int(item.name) - 1 : int(item.name)]
        return shown[0].unalias() if shown else item
    if isinstance(item, exp.Column) and not item.table:
        return named.get(item.name.lower(), item)
    return item


def _is_there(condition: "exp.Expr", value: "exp.Expr") -> bool:
    """Whether a condition says that a column has a value."""
    from sqlglot import exp

    inner = condition.unnest()
    if isinstance(inner, exp.Not) and isinstance(inner.this.unnest(), exp.Is):
        said = inner.this.unnest()
        return bool(said.this == value and said.expression == exp.Null())
    compares = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    return isinstance(inner, compares) and value in (inner.this, inner.expression)


def _refuse(value: "exp.Expr", time: str, place: "exp.Expr") -> SqlRefusal:
    shown = show_sql(value)
    return SqlRefusal(
        f"MAX({time}) beside ARG_MAX({shown}, {time}) over a LEFT JOIN",
        why=f"of rows in which {shown} is NULL the one looks at the time, and the other does not",
        fix=f"add {shown} IS NOT NULL to ON; or join the latest row, whatever it holds: LEFT JOIN "
        f"(SELECT … QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY {time} DESC) = 1) AS l",
        line=line_of(place),
    )
