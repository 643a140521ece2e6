"""LAG in SQL: the value of the row before, of the same key."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of, read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.earlier.declare_latest import LatestOf, declare_latest
from ontoweir.rewriter.earlier.own_nodes import list_own
from ontoweir.rewriter.earlier.read_asof import put_join
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

WHY = (
    "LAG(x) OVER (PARTITION BY key ORDER BY ts) is x of the row before, of the same key, among the "
    "rows of one stream"
)


def read_lag(select: "exp.Select", catalog: Catalog) -> Catalog:
    """Read LAG as columns of a relation that changes, which is joined, in place; the catalog with
    that relation.

    Args:
        select: without what is in its subqueries.
        catalog: the tables.

    Raises:
        SqlRefusal: it is of another row than the one before, or of more than one table.
    """
    from sqlglot import exp

    found = [w for w in list_own(select, exp.Window) if isinstance(_bare(w.this), exp.Lag)]
    if not found:
        return catalog
    rows = _read_rows(select, catalog, found[0])
    joined: dict[tuple[str, ...], str] = {}
    for window in found:
        partition, order = _read_window(select, window, rows)
        key = (*partition, *rows.constants.keys() - set(partition))
        if order != rows.stream.timestamp:
            raise _refuse(window, f"ORDER BY {order}", f"ORDER BY {rows.stream.timestamp}")
        _require_values(select, rows, partition, window)
        if key not in joined:
            alias = f"{rows.alias} before" + (f" {len(joined) + 1}" if joined else "")
            catalog = _join(select, rows, key, alias, catalog, window)
            joined[key] = alias
        window.replace(_value(window, rows, joined[key]))
    if not [w for w in list_own(select, exp.Window) if w.arg_key != "windows"]:
        select.set("windows", None)
    if (qualify := select.args.get("qualify")) is not None and not qualify.find(exp.Window):
        select.set("qualify", None)
        select.where(qualify.this, copy=False)
    return catalog


@dataclass(frozen=True, slots=True)
class _Rows:
    """What LAG is over: the rows of a stream; `read`: the columns that its conditions read, of
    which `constants` equal these."""

    alias: str
    stream: Stream
    scope: Scope
    read: tuple[str, ...]
    constants: "dict[str, exp.Expr]"


def _read_rows(select: "exp.Select", catalog: Catalog, place: "exp.Expr") -> _Rows:
    from sqlglot import exp

    scope = list_tables(select, catalog)
    tables = list(scope.tables.items())
    more = [k for k in ("joins", "group", "having", "distinct") if select.args.get(k)]
    if len(tables) != 1 or more or not isinstance(tables[0][1], Stream):
        what = "LAG over " + ("several tables, groups or DISTINCT" if more else "no stream")
        raise _refuse(
            place, what, "write it in a subquery over the stream alone, and join or group that"
        )
    ((alias, stream),) = tables
    assert isinstance(stream, Stream)
    where = select.args.get("where")
    if where is not None and where.find(exp.Select) is not None:
        fix = "write LAG in a subquery over the stream alone, and the condition around it"
        raise _refuse(place, "LAG beside a subquery in WHERE", fix)
    read: dict[str, None] = {}
    constants: dict[str, exp.Expr] = {}
    for conjunct in [] if where is None else split_conjuncts(where.this):
        names = {
            scope.resolve(c.table or None, c.name, line_of(c)).column: c
            for c in conjunct.find_all(exp.Column)
        }
        read |= dict.fromkeys(names)
        one = conjunct.unnest()
        if isinstance(one, exp.EQ):
            for column, value in ((one.this, one.expression), (one.expression, one.this)):
                if isinstance(column, exp.Column) and read_literal(value) is not None:
                    constants[next(iter(names))] = value
    return _Rows(alias, stream, scope, tuple(read), constants)


def _read_window(
    select: "exp.Select", window: "exp.Expr", rows: _Rows
) -> tuple[tuple[str, ...], str]:
    """The columns of PARTITION BY, and that of ORDER BY."""
    from sqlglot import exp

    named = {w.this.name.lower(): w for w in select.args.get("windows") or ()}
    base = named.get(window.alias.lower(), window) if window.args.get("alias") else window
    lag = window.this
    order = base.args.get("order")
    ordered = [] if order is None else list(order.expressions)
    if not isinstance(lag, exp.Lag) or base.args.get("spec") is not None:
        raise _refuse(window, f"{window.sql('spark')}", "write LAG(x) OVER (… ORDER BY ts)")
    offset = lag.args.get("offset")
    if offset is not None and read_literal(offset) != 1:
        raise _refuse(
            window,
            f"LAG by {offset.sql('spark')} rows",
            "write LAG(x), and for the row before that one a query around this one",
        )
    if len(ordered) != 1 or ordered[0].args.get("desc"):
        raise _refuse(
            window, f"the order of {window.sql('spark')}", f"ORDER BY {rows.stream.timestamp}"
        )
    resolved = []
    for tree in [*(base.args.get("partition_by") or ()), ordered[0].this]:
        if not isinstance(tree, exp.Column):
            raise _refuse(window, f"{tree.sql('spark')} in a window", "name a column")
        resolved.append(rows.scope.resolve(tree.table or None, tree.name, line_of(tree)).column)
    return tuple(dict.fromkeys(resolved[:-1])), resolved[-1]


def _require_values(
    select: "exp.Select", rows: _Rows, partition: tuple[str, ...], window: "exp.Expr"
) -> None:
    """Rows whose key is NULL are no results: a condition says so, as of columns that are selected.

    Raises:
        SqlRefusal: a column is declared nullable, so that NULL would be a key, too.
    """
    from sqlglot import exp

    where = select.args.get("where")
    for name in partition:
        column = rows.stream.column(name)
        there = exp.Not(this=exp.Is(this=exp.column(name), expression=exp.Null()))
        held = (
            []
            if where is None
            else [
                c
                for c in split_conjuncts(where.this)
                if {n.name for n in c.find_all(exp.Column)} == {name}
            ]
        )
        if column is not None and column.nullable and not held:
            raise _refuse(
                window,
                f"{name}, which may be NULL, in PARTITION BY",
                f"add WHERE {name} IS NOT NULL",
            )
        if not held:
            select.where(there, copy=False)


def _join(
    select: "exp.Select",
    rows: _Rows,
    key: tuple[str, ...],
    alias: str,
    catalog: Catalog,
    place: "exp.Expr",
) -> Catalog:
    from sqlglot import exp

    where = select.args.get("where")
    loose = where is not None and not set(rows.read) <= set(key)
    only = exp.Paren(this=where.this.copy()) if where is not None and loose else None
    for read in [] if only is None else only.find_all(exp.Column):
        read.set("table", None)
    of = LatestOf(rows.stream, key, only, earlier=True, optional=True)
    made, catalog = declare_latest(of, catalog, "LAG", line_of(place))
    for column in list_own(select, exp.Column):
        if not column.args.get("table") and not isinstance(column.this, exp.Star):
            column.set("table", exp.to_identifier(rows.alias, quoted=True))
    equal = [
        exp.EQ(
            this=exp.column(c, alias, quoted=True),
            expression=rows.constants[c].copy()
            if c in rows.constants
            else exp.column(c, rows.alias, quoted=True),
        )
        for c in key
    ]
    join = exp.Join(this=exp.Table(this=exp.to_identifier(alias, quoted=True)))
    put_join(join, made, alias, equal, exp.column(rows.stream.timestamp, rows.alias, quoted=True))
    select.append("joins", join)
    return catalog


def _value(window: "exp.Expr", rows: _Rows, alias: str) -> "exp.Expr":
    """What LAG shows: its expression over the row before, or where there is none its default."""
    from sqlglot import exp

    made = window.this.this.copy()
    default = window.this.args.get("default")
    holder = exp.Paren(this=made)
    for column in list(holder.find_all(exp.Column)):
        name = rows.scope.resolve(column.table or None, column.name, line_of(column)).column
        column.replace(exp.column(name, alias, quoted=True))
    if default is not None:
        since = exp.column(rows.stream.timestamp, alias, quoted=True)
        none = exp.Is(this=since, expression=exp.Null())
        return exp.Case(ifs=[exp.If(this=none, true=default.copy())], default=holder)
    inner: exp.Expr = holder.this
    return inner if isinstance(inner, exp.Column) else holder


def _bare(tree: "exp.Expr") -> "exp.Expr":
    from sqlglot import exp

    inner: exp.Expr = tree.this if isinstance(tree, (exp.IgnoreNulls, exp.RespectNulls)) else tree
    return inner


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of LAG", why=WHY, fix=fix, line=line_of(tree)
    )
