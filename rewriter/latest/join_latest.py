"""The latest row of another stream for each row, in other words than ASOF JOIN."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

_RANKED = {"expressions", "from_", "where", "order", "limit"}


def join_latest(select: "exp.Select", catalog: Catalog) -> None:
    """ASOF JOIN, in place, for

    - a LATERAL subquery of the rows of a stream that are not later, ORDER BY ts DESC LIMIT 1;
    - such a subquery of one column in SELECT, which is NULL where there is no row: ASOF LEFT JOIN;
    - a JOIN with t whose time equals (SELECT MAX(o.ts) FROM t AS o WHERE … o.ts <= s.ts).

    Args:
        select: the query, or a part of it.
        catalog: the tables.
    """
    for join in list(select.args.get("joins") or ()):
        _read_lateral(select, join, catalog)
        _read_extreme(select, join, catalog)
    for number, item in enumerate(list(select.expressions)):
        _read_value(select, item, number, catalog)


def _read_lateral(select: "exp.Select", join: "exp.Join", catalog: Catalog) -> None:
    from sqlglot import exp

    lateral = join.this
    if not isinstance(lateral, exp.Lateral) or not isinstance(lateral.this, exp.Subquery):
        return
    inner, alias, on = lateral.this.this, lateral.alias_or_name, join.args.get("on")
    side = str(join.args.get("side") or "").upper()
    if side not in ("", "LEFT") or (on is not None and not _is_true(on)):
        return
    if not alias or join.args.get("using"):
        return
    found = _read_ranked(inner, alias, catalog)
    if found is None:
        return
    rows, conditions, shown = found
    for column in select.find_all(exp.Column):
        of = shown.get(column.name.lower())
        if column.table.lower() == alias.lower() and of is not None:
            column.set("this", exp.to_identifier(of, quoted=True))
    _put(join, rows, conditions, side)


def _read_value(select: "exp.Select", item: "exp.Expr", number: int, catalog: Catalog) -> None:
    """A subquery as a column of SELECT."""
    from sqlglot import exp

    subquery = item.unalias()
    if not isinstance(subquery, exp.Subquery) or not isinstance(subquery.this, exp.Select):
        return
    if len(subquery.this.expressions) != 1 or not list_tables(select, catalog).tables:
        return
    alias = f"latest {number}"
    found = _read_ranked(subquery.this, alias, catalog)
    if found is None or len(found[2]) != 1:
        return
    rows, conditions, shown = found
    ((name, of),) = shown.items()
    join = exp.Join(this=rows)
    select.append("joins", join)
    _put(join, rows, conditions, "LEFT")
    made = exp.column(exp.to_identifier(of, quoted=True), exp.to_identifier(alias, quoted=True))
    item.replace(exp.alias_(made, item.alias or name, quoted=True))


def _put(join: "exp.Join", rows: "exp.Expr", conditions: "list[exp.Expr]", side: str) -> None:
    from sqlglot import exp

    join.meta["written"] = "the latest row"  # for messages of what is made an ASOF JOIN
    join.set("this", rows)
    join.set("on", exp.and_(*conditions))
    join.set("method", "ASOF")
    join.set("side", side or None)
    join.set("kind", None)


def _read_ranked(
    inner: "exp.Expr", alias: str, catalog: Catalog
) -> "tuple[exp.Subquery, list[exp.Expr], dict[str, str]] | None":
    """SELECT columns FROM t WHERE t.k = s.k AND t.ts <= s.ts ORDER BY t.ts DESC LIMIT 1: the rows
    of t that count, the comparisons with s, of `alias`, and the columns by their names."""
    from sqlglot import exp

    if not isinstance(inner, exp.Select) or {k for k, v in inner.args.items() if v} - _RANKED:
        return None
    order, limit, start = (inner.args.get(k) for k in ("order", "limit", "from_"))
    tables = list_tables(inner, catalog).tables
    if order is None or limit is None or start is None or len(order.expressions) != 1:
        return None
    one = limit.expression
    if not isinstance(one, exp.Literal) or str(one.this) != "1" or len(tables) != 1:
        return None
    ((mine, stream),) = tables.items()
    ordered = order.expressions[0]
    if not isinstance(stream, Stream) or not ordered.args.get("desc"):
        return None
    tree = inner.copy()
    known = [stream.timestamp, *(c.name for c in stream.columns)]
    for column in tree.find_all(exp.Column):
        if not column.table and find_name(column.name, known) is not None:
            column.set("table", exp.to_identifier(mine))
    ordered = tree.args["order"].expressions[0].this
    if not _is_of(ordered, mine, stream.timestamp):
        return None
    shown: dict[str, str] = {}
    for item in tree.expressions:
        column = item.unalias()
        if not isinstance(column, exp.Column) or column.table.lower() != mine.lower():
            return None
        shown[item.alias_or_name.lower()] = column.name
    return _split(tree, mine, alias, stream, shown)


def _split(
    tree: "exp.Select", mine: str, alias: str, stream: Stream, shown: dict[str, str]
) -> "tuple[exp.Subquery, list[exp.Expr], dict[str, str]] | None":
    from sqlglot import exp

    local: list[exp.Expr] = []
    outer: list[exp.Expr] = []
    where = tree.args.get("where")
    for condition in split_conjuncts(where.this) if where is not None else ():
        if condition.find(exp.Select) is not None:
            return None
        inside = {c.table.lower() == mine.lower() for c in condition.find_all(exp.Column)}
        (local if inside == {True} else outer).append(condition)
    times = [c for c in outer if not isinstance(c, exp.EQ)]
    if len(times) != 1 or not _is_before(times[0], mine, stream.timestamp):
        return None
    rows = exp.select("*").from_(exp.table_(stream.name, quoted=True))
    for condition in local:
        made = condition.copy()
        for column in made.find_all(exp.Column):
            column.set("table", None)
        rows.where(made, copy=False)
    compared = []
    for condition in outer:
        made = condition.copy()
        for column in made.find_all(exp.Column):
            if column.table.lower() == mine.lower():
                column.set("table", exp.to_identifier(alias, quoted=True))
        compared.append(made)
    named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    return exp.Subquery(this=rows, alias=named), compared, shown


def _is_of(tree: "exp.Expr", alias: str, name: str) -> bool:
    from sqlglot import exp

    return (
        isinstance(tree, exp.Column)
        and tree.table.lower() == alias.lower()
        and find_name(tree.name, [name]) is not None
    )


def _is_before(condition: "exp.Expr", alias: str, time: str) -> bool:
    """Whether it says that a table's time is not later, or is earlier, than something else."""
    from sqlglot import exp

    if isinstance(condition, (exp.LTE, exp.LT)):
        return _is_of(condition.this, alias, time)
    return isinstance(condition, (exp.GTE, exp.GT)) and _is_of(condition.expression, alias, time)


def _is_true(tree: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(tree, exp.Boolean) and bool(tree.this)


def _read_extreme(select: "exp.Select", join: "exp.Join", catalog: Catalog) -> None:
    if (compared := compare_greatest(select, join, catalog)) is not None:
        _put(join, join.this, compared, str(join.args.get("side") or ""))


def compare_greatest(
    select: "exp.Select", join: "exp.Join", catalog: Catalog
) -> "list[exp.Expr] | None":
    """What compares the rows of `JOIN t ON t.k = s.k AND t.ts = (SELECT MAX(o.ts) FROM t AS o WHERE
    o.k = s.k AND o.ts <= s.ts)`, LEFT or inner, where the latest of them is asked for: t.k = s.k,
    t.ts <= s.ts, which may be said of t, too (None: another join).

    Args:
        select: the query.
        join: one of its joins.
        catalog: the tables.
    """
    from sqlglot import exp

    table, on = join.this, join.args.get("on")
    side = str(join.args.get("side") or "").upper()
    if not isinstance(table, exp.Table) or on is None or side not in ("", "LEFT"):
        return None
    alias = table.alias_or_name
    stream = list_tables(select, catalog).tables.get(alias)
    if not isinstance(stream, Stream) or join.args.get("method"):
        return None
    conjuncts = list(split_conjuncts(on))
    found = [c for c in conjuncts if isinstance(c, exp.EQ) and c.find(exp.Select) is not None]
    said = [c for c in conjuncts if c not in found]
    rest = [c for c in said if isinstance(c, exp.EQ)]
    if len(found) != 1:
        return None
    sides = [found[0].this, found[0].expression]
    queries = [s.this for s in sides if isinstance(s, exp.Subquery)]
    if not any(_is_of(s, alias, stream.timestamp) for s in sides) or len(queries) != 1:
        return None
    inside = _read_greatest(queries[0], alias, stream, catalog)
    if inside is None:
        return None
    equal = {_sides(c) for c in rest}
    times = [c for c in inside if not isinstance(c, exp.EQ)]
    # what holds of the row holds of those that are looked at, and the other way round
    if {_sides(c) for c in inside if isinstance(c, exp.EQ)} != equal or len(times) != 1:
        return None
    if any(_order(c) != _order(times[0]) for c in said if c not in rest):
        return None
    return [*rest, *times] if _is_before(times[0], alias, stream.timestamp) else None


def _sides(condition: "exp.Expr") -> frozenset[str]:
    return frozenset(s.sql("spark", normalize=True) for s in (condition.this, condition.expression))


def _order(condition: "exp.Expr") -> tuple[str, str, str]:
    """A comparison by order: the lesser side, the greater one, and how they are compared."""
    from sqlglot import exp

    if not isinstance(condition, exp.Binary):
        return "", "", ""
    left, right = (
        s.sql("spark", normalize=True, identify=False).replace("`", "").lower()
        for s in (condition.this, condition.expression)
    )
    turned: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}
    kind: type[exp.Expr] = type(condition)
    if kind in turned:
        left, right, kind = right, left, turned[kind]
    return left, right, kind.__name__


def _read_greatest(
    query: "exp.Expr", alias: str, stream: Stream, catalog: Catalog
) -> "list[exp.Expr] | None":
    """The conditions of SELECT MAX(ts) FROM the stream, as of the table called `alias`."""
    from sqlglot import exp

    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return None
    if {k for k, v in query.args.items() if v} - {"expressions", "from_", "where"}:
        return None
    tables, greatest = list_tables(query, catalog).tables, query.expressions[0].unalias()
    where = query.args.get("where")
    if len(tables) != 1 or where is None or not isinstance(greatest, exp.Max):
        return None
    ((other, read),) = tables.items()
    if read != stream or other.lower() == alias.lower():
        return None
    known = [stream.timestamp, *(c.name for c in stream.columns)]

    def rename() -> "Iterator[exp.Expr]":
        for condition in split_conjuncts(where.this):
            made = condition.copy()
            for column in made.find_all(exp.Column):
                unnamed = not column.table and find_name(column.name, known) is not None
                if unnamed or column.table.lower() == other.lower():
                    column.set("table", exp.to_identifier(alias))
            yield made

    extreme = greatest.this
    if not isinstance(extreme, exp.Column) or find_name(extreme.name, [stream.timestamp]) is None:
        return None
    if extreme.table and extreme.table.lower() != other.lower():
        return None
    return list(rename())
