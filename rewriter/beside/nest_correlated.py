"""The latest row by a subquery that names columns of the query around it, as one that is joined."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.differences.name_columns import name_tables, qualify
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

KEY = "key of the latest"
"""How the columns are called by which it is joined, with a number."""


@dataclass(frozen=True, slots=True)
class _Correlated:
    """`rows`: the latest rows of each key, as a SELECT; `on`: what they are joined by."""

    rows: "exp.Select"
    on: "exp.Expr"


def nest_lateral(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """JOIN (SELECT …) for JOIN LATERAL (SELECT … ORDER BY … LIMIT n); in place."""
    from sqlglot import exp

    for join in tree.args.get("joins") or ():
        lateral, on = join.this, join.args.get("on")
        if not isinstance(lateral, exp.Lateral) or not isinstance(lateral.this, exp.Subquery):
            continue
        side = str(join.args.get("side") or "").upper()
        plain = on is None or (isinstance(on, exp.Boolean) and bool(on.this))
        alias = lateral.alias_or_name
        if side not in ("", "LEFT") or not plain or not alias or join.args.get("using"):
            continue
        found = _read(lateral.this.this, tree, alias, catalog, several=True)
        if found is None:
            continue
        named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
        join.set("this", exp.Subquery(this=found.rows, alias=named))
        join.set("on", found.on)
        join.set("side", side or None)
        join.set("kind", None)
    return tree


def nest_values(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """LEFT JOIN (SELECT …) for (SELECT x … ORDER BY ts DESC LIMIT 1), or (SELECT MAX(ts) …), as a
    value in SELECT; those of the same rows are one; in place."""
    from sqlglot import exp

    joined: dict[exp.Expr, exp.Join] = {}
    for item in tree.expressions:
        value = item.unalias()
        inner = value.this if isinstance(value, exp.Subquery) else None
        if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
            continue
        inner, shown = inner.copy(), inner.expressions[0].unalias()
        inner = _order_greatest(inner, catalog) or inner
        shown = inner.expressions[0].unalias()
        bare = inner.copy()
        bare.set("expressions", [])
        alias = f"latest value {len(joined) + 1}"
        known = joined.get(bare)
        alias = alias if known is None else known.this.alias_or_name
        name = f"value {0 if known is None else len(known.this.this.expressions)}"
        inner.set("expressions", [exp.alias_(shown.copy(), name, quoted=True)])
        found = _read(inner, tree, alias, catalog)
        if found is None:
            continue
        if known is None:
            named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
            join = exp.Join(
                this=exp.Subquery(this=found.rows, alias=named), side="LEFT", on=found.on
            )
            joined[bare] = join
        else:
            known.this.this.append("expressions", found.rows.expressions[0].copy())
        column = exp.column(name, alias, quoted=True)
        called = item.alias or shown.alias_or_name or value.sql("spark")
        item.replace(exp.alias_(column, called, quoted=True))
    for join in joined.values():
        tree.append("joins", join)
    return tree


def _order_greatest(inner: "exp.Select", catalog: Catalog) -> "exp.Select | None":
    """SELECT ts … ORDER BY ts DESC LIMIT 1 for SELECT MAX(ts) …."""
    from sqlglot import exp

    call = inner.expressions[0].unalias()
    scope = list_tables(inner, catalog)
    if not isinstance(call, exp.Max) or len(scope.tables) != 1 or inner.args.get("group"):
        return None
    column = qualify(call.this, scope)
    ((alias, table),) = scope.tables.items()
    if not isinstance(table, Stream) or column != exp.column(table.timestamp, alias, quoted=True):
        return None
    made = inner.copy()
    made.set("expressions", [call.this.copy()])
    made.set("order", exp.Order(expressions=[exp.Ordered(this=call.this.copy(), desc=True)]))
    made.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    return made


def _read(
    inner: "exp.Expr",
    around: "exp.Select",
    alias: str,
    catalog: Catalog,
    *,
    several: bool = False,
) -> _Correlated | None:
    """SELECT columns FROM s WHERE s.k = r.k AND … ORDER BY s.ts DESC LIMIT 1, of which only the
    equalities name columns around it (None: it is something else); `several`: or the first n in
    any order."""
    from sqlglot import exp

    allowed = {"expressions", "from_", "where", "order", "limit"}
    if not isinstance(inner, exp.Select) or {k for k, v in inner.args.items() if v} - allowed:
        return None
    order, limit, where = (inner.args.get(k) for k in ("order", "limit", "where"))
    mine, outer = list_tables(inner, catalog), list_tables(around, catalog)
    if order is None or limit is None or where is None or len(mine.tables) != 1:
        return None
    size = limit.expression
    if not isinstance(size, exp.Literal) or size.is_string or not size.name.isdigit():
        return None
    most = int(size.name)
    if most < 1:
        return None
    ((own, stream),) = mine.tables.items()
    made = inner.copy()
    name_tables(made, mine)
    ordered = made.args["order"].expressions[0]
    if not isinstance(stream, Stream):
        return None
    latest = most == len(order.expressions) == 1 and bool(ordered.args.get("desc"))
    latest = latest and ordered.this == exp.column(stream.timestamp, own, quoted=True)
    if not latest and not several:
        return None
    local: list[exp.Expr] = []
    keys: list[tuple[exp.Expr, exp.Expr]] = []
    for condition in split_conjuncts(made.args["where"].this):
        if condition.find(exp.Query):
            return None
        inside = [c.table == own for c in condition.find_all(exp.Column)]
        if all(inside):
            local.append(condition)
            continue
        sides = (condition.this, condition.expression) if isinstance(condition, exp.EQ) else ()
        of = [s for s in sides if isinstance(s, exp.Column) and s.table == own]
        others = [q for s in sides if s not in of and (q := qualify(s, outer)) is not None]
        if len(of) != 1 or len(others) != 1:
            return None
        keys.append((of[0], others[0]))
    if not keys or any(c.table != own for e in made.expressions for c in e.find_all(exp.Column)):
        return None
    return _join(made, keys, local, alias, None if latest else most)


def _join(
    inner: "exp.Select",
    keys: "list[tuple[exp.Expr, exp.Expr]]",
    local: "list[exp.Expr]",
    alias: str,
    most: int | None,
) -> _Correlated:
    """The rows, numbered by key; `most`: so many in their order (None: the latest one)."""
    from sqlglot import exp

    rows = exp.Select(expressions=[e.copy() for e in inner.expressions])
    rows.set("from_", inner.args["from_"].copy())
    on: list[exp.Expr] = []
    for number, (own, other) in enumerate(keys):
        name = f"{KEY} {number + 1}"
        rows.append("expressions", exp.alias_(own.copy(), name, quoted=True))
        column = exp.column(name, alias, quoted=True)
        on.append(exp.EQ(this=column, expression=other.copy()))
    if local:
        rows.where(*(c.copy() for c in local), copy=False)
    own_keys, order = [k for k, _ in keys], inner.args["order"]
    if most is None:
        number_latest(rows, own_keys, order.expressions[0].this)
    else:
        partition = [k.copy() for k in own_keys]
        numbered = exp.Window(this=exp.RowNumber(), partition_by=partition, order=order.copy())
        told = exp.LTE(this=numbered, expression=exp.Literal.number(most))
        rows.set("qualify", exp.Qualify(this=told))
    return _Correlated(rows, exp.and_(*on))


def number_latest(rows: "exp.Select", keys: "list[exp.Expr]", time: "exp.Expr") -> None:
    """QUALIFY ROW_NUMBER() OVER (PARTITION BY keys ORDER BY time DESC) = 1, in place."""
    from sqlglot import exp

    ordered = exp.Ordered(this=time.copy(), desc=True, nulls_first=False)
    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[k.copy() for k in keys],
        order=exp.Order(expressions=[ordered]),
    )
    rows.set("qualify", exp.Qualify(this=exp.EQ(this=window, expression=exp.Literal.number(1))))
