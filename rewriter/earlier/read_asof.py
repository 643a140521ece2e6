"""ASOF JOIN in SQL: each row with the latest one of another stream that is not later."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.earlier.declare_latest import LatestOf, declare_latest
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp

WHY = (
    "an ASOF JOIN is of two streams: it finds the latest row of the second one whose columns equal "
    "those of a row, and whose timestamp is not after that row's"
)


def read_asof(select: "exp.Select", catalog: Catalog) -> Catalog:
    """Read each ASOF JOIN of a SELECT as a join with a relation that changes, in place; the catalog
    with that.

    Args:
        select: without what is in its subqueries.
        catalog: the tables.

    Raises:
        SqlRefusal: it is not of two streams, or not by equal columns and their timestamps.
    """
    joins = list(select.args.get("joins") or ())
    if not any(is_asof(join) for join in joins):
        return catalog
    expand_stars(select, catalog, "an ASOF JOIN")
    for join in joins:
        if is_asof(join):
            catalog = _read(select, join, catalog)
    return catalog


def is_asof(join: "exp.Expr") -> bool:
    """Whether a join is an ASOF JOIN."""
    return str(join.args.get("method") or "").upper() == "ASOF"


def _read(select: "exp.Select", join: "exp.Expr", catalog: Catalog) -> Catalog:
    from sqlglot import exp

    only = _open_subquery(join, catalog)
    scope = list_tables(select, catalog)
    alias = join.this.alias_or_name
    stream = scope.tables.get(alias)
    side = str(join.args.get("side") or "").upper()
    if not isinstance(join.this, exp.Table) or not isinstance(stream, Stream) or stream.versions:
        raise _refuse(join, f"ASOF JOIN with {show_sql(join.this)}, which is no stream", "")
    if side not in ("", "LEFT"):
        raise _refuse(join, f"ASOF {side} JOIN", "write ASOF LEFT JOIN, or ASOF JOIN")
    if join.args.get("using"):
        _write_on(select, join, alias, stream, scope)
    on = join.args.get("on")
    conjuncts = [] if on is None else list(split_conjuncts(on))
    equal = [c for c in conjuncts if isinstance(c, exp.EQ)]
    times = [c for c in conjuncts if not isinstance(c, exp.EQ)]
    if len(times) != 1:
        raise _refuse(
            join,
            f"ASOF JOIN with {len(times)} comparisons beside equations",
            f"write one, of the timestamps: a.ts >= {alias}.{stream.timestamp}",
        )
    host, strict = _read_time(times[0], alias, stream, scope)
    key = [_read_key(c, alias, stream, scope) for c in equal]
    if twice := next((k for k in key if key.count(k) > 1), None):
        raise _refuse(join, f"ASOF JOIN by {twice} twice", "write one of them in WHERE")
    if any(j.args.get("using") for j in select.args["joins"] if j is not join):
        raise _refuse(join, "ASOF JOIN beside a JOIN … USING", "write ON in the place of USING")
    of = LatestOf(stream, key, only, strict, side == "LEFT")
    made, catalog = declare_latest(
        of, catalog, join.meta.get("written", "ASOF JOIN"), line_of(join.this)
    )
    put_join(join, made, alias, equal, host)
    return catalog


def _open_subquery(join: "exp.Expr", catalog: Catalog) -> "exp.Expr | None":
    """Put the stream in the place of a subquery of some of its rows; the condition on these."""
    from sqlglot import exp

    subquery, alias = join.this, join.this.alias_or_name
    inner = subquery.this if isinstance(subquery, exp.Subquery) else None
    if not isinstance(inner, exp.Select):
        return None
    table = inner.args["from_"].this if inner.args.get("from_") else None
    held = {k for k, v in inner.args.items() if v} - {"expressions", "from_", "where"}
    computed = [e for e in inner.expressions if not isinstance(e, (exp.Column, exp.Star))]
    if held or computed or not isinstance(table, exp.Table) or not alias:
        raise _refuse(
            join,
            f"ASOF JOIN with {show_sql(subquery)}",
            "write a subquery of columns of one stream and a condition on them, or the stream",
        )
    join.set(
        "this",
        exp.Table(
            this=table.this.copy(), alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
        ),
    )
    where = inner.args.get("where")
    if where is None:
        return None
    made = exp.Paren(this=where.this.copy())
    for column in made.find_all(exp.Column):
        if column.table.lower() == table.alias_or_name.lower():
            column.set("table", None)
    condition: exp.Expr = made.this
    return condition


def put_join(
    join: "exp.Expr", relation: Stream, alias: str, equal: "Sequence[exp.Expr]", host: "exp.Expr"
) -> None:
    """Make a join one with a relation, as of the time `host`."""
    from sqlglot import exp

    table = exp.Table(this=exp.to_identifier(relation.name, quoted=True))
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    read = exp.column(AS_OF, alias, quoted=True)
    if (line := line_of(join.this)) is not None:
        read.this.meta["line"] = table.this.meta["line"] = line
    made = exp.EQ(this=read, expression=host.copy())
    join.set("this", table)
    for name in ("method", "side", "using"):
        join.set(name, None)
    join.set("on", exp.and_(*(c.copy() for c in equal), made, copy=False))


def _read_time(
    tree: "exp.Expr", alias: str, stream: Stream, scope: Scope
) -> "tuple[exp.Expr, bool]":
    """The timestamp of the row that a version is met by, and whether it is later."""
    from sqlglot import exp

    flipped = {exp.LTE: exp.GTE, exp.LT: exp.GT}
    kind, left, right = type(tree), tree.this, tree.expression
    if kind in flipped:
        kind, left, right = flipped[kind], right, left
    fix = f"write a.ts >= {alias}.{stream.timestamp}, with the timestamp of a stream before it"
    if kind not in (exp.GTE, exp.GT):
        raise _refuse(tree, f"ASOF JOIN by {show_sql(tree)}", fix)
    later, own = _resolve(left, scope), _resolve(right, scope)
    if later is not None and later == (alias, stream.timestamp):
        raise _refuse(tree, "ASOF JOIN with the row that comes next", fix)
    base = None if later is None else scope.tables[later[0]]
    if (
        own != (alias, stream.timestamp)
        or later is None
        or not isinstance(base, Stream)
        or later[1] != base.timestamp
    ):
        raise _refuse(tree, f"ASOF JOIN by {show_sql(tree)}", fix)
    return exp.column(later[1], later[0], quoted=True), kind is exp.GT


def _read_key(tree: "exp.Expr", alias: str, stream: Stream, scope: Scope) -> str:
    """The column of the second stream that an equation is of."""
    for one, other in ((tree.this, tree.expression), (tree.expression, tree.this)):
        own, of = _resolve(one, scope), _resolve(other, scope)
        if own is None or own[0] != alias or own[1] == stream.timestamp:
            continue
        if (of is not None and of[0] != alias) or read_literal(other) is not None:
            return own[1]
    raise _refuse(
        tree,
        f"ASOF JOIN by {show_sql(tree)}",
        f"write a.column = {alias}.column, and other conditions in WHERE",
    )


def _write_on(
    select: "exp.Select", join: "exp.Expr", alias: str, stream: Stream, scope: Scope
) -> None:
    """ON in the place of USING, whose last column are the timestamps; in SELECT and elsewhere, its
    columns are those of the first table."""
    from sqlglot import exp

    first = next(iter(scope.tables), alias)
    before = list(scope.tables)[: list(scope.tables).index(alias)]
    if len(before) != 1 or first == alias:
        raise _refuse(join, "ASOF JOIN … USING beside other tables", "write ON and its conditions")
    names = [n.name for n in join.args["using"]]
    for column in list_own(select, exp.Column):
        if not column.args.get("table") and column.name.lower() in [n.lower() for n in names]:
            column.set("table", exp.to_identifier(first, quoted=True))
    sides = [(exp.column(n, first, quoted=True), exp.column(n, alias, quoted=True)) for n in names]
    made: list[exp.Expr] = [exp.EQ(this=a, expression=b) for a, b in sides[:-1]]
    made.append(exp.GTE(this=sides[-1][0], expression=sides[-1][1]))
    join.set("on", exp.and_(*made, copy=False))


def _resolve(tree: "exp.Expr", scope: Scope) -> tuple[str, str] | None:
    from sqlglot import exp

    if not isinstance(tree, exp.Column) or isinstance(tree.this, exp.Star):
        return None
    try:
        found = scope.resolve(tree.table or None, tree.name)
    except SqlRefusal:
        return None
    return found.alias, found.column


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of ASOF JOIN" if fix else what,
        why=WHY,
        fix=fix or "name a declared stream, and write conditions in WHERE",
        line=line_of(tree),
    )
