"""The latest, or the first, value of each key, by functions of values."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp


def choose_values(select: "exp.Select", catalog: Catalog) -> None:
    """QUALIFY ROW_NUMBER() … = 1, in place, for MIN_BY(x, ts) by a key, MAX_BY(x, ts) by a key and
    a bucket of time, and for SELECT DISTINCT of a key with FIRST_VALUE(x), or LAST_VALUE(x) of all
    rows of it.

    Args:
        select: the query, or a part of it.
        catalog: the tables.
    """
    if select.args.get("qualify") or select.args.get("having") or select.args.get("joins"):
        return
    tables = list(list_tables(select, catalog).tables.values())
    if len(tables) == 1 and isinstance(tables[0], Stream):
        _read_calls(select, tables[0])
        _read_windows(select, tables[0])


def _is_time(tree: "exp.Expr | None", stream: Stream) -> bool:
    from sqlglot import exp

    return isinstance(tree, exp.Column) and find_name(tree.name, [stream.timestamp]) is not None


def _read_calls(select: "exp.Select", stream: Stream) -> None:
    """MIN_BY(x, ts), and MAX_BY(x, ts) by a bucket, which pass over rows where x is NULL."""
    from sqlglot import exp

    group = select.args.get("group")
    if group is None or select.args.get("distinct"):
        return
    named = {e.alias.lower(): e.unalias() for e in select.expressions if e.alias}
    keys = [_place(k, select, named) for k in group.expressions]
    calls = [
        c for e in select.expressions if isinstance(c := e.unalias(), (exp.ArgMax, exp.ArgMin))
    ]
    kinds, values = {type(c) for c in calls}, {c.this for c in calls}
    if (
        len(kinds) != 1
        or len(values) != 1
        or not all(_is_time(c.expression, stream) for c in calls)
    ):
        return
    if any(c.args.get("count") for c in calls):
        return
    late = kinds == {exp.ArgMax}
    if late and all(isinstance(k, exp.Column) for k in keys):
        return  # its answers change: rows that later ones replace
    value = calls[0].this
    column = stream.column(value.name) if isinstance(value, exp.Column) else None
    if column is None or column.nullable:
        return  # of a key without values SQL has a row, with NULL
    if any(e.unalias() not in [*keys, *calls] for e in select.expressions):
        return
    buckets = [_bucket(k, stream) for k in keys]
    if not all(isinstance(b, exp.Column) or is_grid(b) for b in buckets):
        return  # parts of a time that make no bucket
    for item in select.expressions:
        if item.unalias() in calls:
            name = item.alias_or_name or item.sql("spark")
            item.replace(exp.alias_(value.copy(), name, quoted=True))
    select.set("group", None)
    select.where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), copy=False)
    time = calls[0].expression
    _number(select, buckets, exp.Ordered(this=time.copy(), desc=late))


def _bucket(key: "exp.Expr", stream: Stream) -> "exp.Expr":
    """The bucket that a day is."""
    from sqlglot import exp

    cast = isinstance(key, exp.Cast) and key.to.this == exp.DataType.Type.DATE
    if (cast or isinstance(key, exp.Date)) and _is_time(key.this, stream):
        arguments = [exp.Literal.string("day"), key.this.copy()]
        return exp.Anonymous(this="DATE_TRUNC", expressions=arguments)
    return key


def _place(key: "exp.Expr", select: "exp.Select", named: "dict[str, exp.Expr]") -> "exp.Expr":
    """What a name, or a number, of SELECT in GROUP BY stands for."""
    from sqlglot import exp

    if isinstance(key, exp.Literal) and key.is_int:
        place = int(str(key.this)) - 1
        return select.expressions[place].unalias() if place < len(select.expressions) else key
    if isinstance(key, exp.Column) and not key.table:
        held = named.get(key.name.lower(), key)
        return key if isinstance(held, (exp.ArgMax, exp.ArgMin)) else held
    return key


def _read_windows(select: "exp.Select", stream: Stream) -> None:
    """FIRST_VALUE(x) OVER (PARTITION BY key ORDER BY ts DESC), of each key once."""
    from sqlglot import exp

    distinct = select.args.get("distinct")
    if distinct is None or distinct.args.get("on") or select.args.get("group"):
        return
    windows = [w for e in select.expressions if isinstance(w := e.unalias(), exp.Window)]
    if not windows:
        return
    orders = [_order(w, stream) for w in windows]
    keys = windows[0].args.get("partition_by") or []
    if None in orders or len({o for o in orders if o is not None}) != 1 or not keys:
        return
    if any((w.args.get("partition_by") or []) != keys for w in windows):
        return
    others = [e.unalias() for e in select.expressions if e.unalias() not in windows]
    if any(o not in keys for o in others) or any(k not in others for k in keys):
        return
    for item in select.expressions:
        window = item.unalias()
        if isinstance(window, exp.Window):
            name = item.alias_or_name or item.sql("spark")
            item.replace(exp.alias_(window.this.this.copy(), name, quoted=True))
    select.set("distinct", None)
    time, late = next(o for o in orders if o is not None)
    _number(select, keys, exp.Ordered(this=time.copy(), desc=late))


def _order(window: "exp.Window", stream: Stream) -> "tuple[exp.Expr, bool] | None":
    """By which time a window has the first value of a key, and whether that is the latest (None: it
    is another function, or another order)."""
    from sqlglot import exp

    order, spec = window.args.get("order"), window.args.get("spec")
    if order is None or len(order.expressions) != 1:
        return None
    ordered = order.expressions[0]
    if not _is_time(ordered.this, stream):
        return None
    late = bool(ordered.args.get("desc"))
    if not isinstance(window.this.this, exp.Column) or (spec and spec.args.get("exclude")):
        return None
    first = isinstance(window.this, exp.FirstValue)
    if first and (spec is None or spec.args.get("start") == "UNBOUNDED"):
        return ordered.this, late
    ends = [] if spec is None else [spec.args.get("start"), spec.args.get("end")]
    if isinstance(window.this, exp.LastValue) and ends == ["UNBOUNDED", "UNBOUNDED"]:
        return ordered.this, not late
    return None


def _number(select: "exp.Select", keys: "list[exp.Expr]", order: "exp.Ordered") -> None:
    from sqlglot import exp

    window = exp.Window(
        this=exp.RowNumber(),
        partition_by=[k.copy() for k in keys],
        order=exp.Order(expressions=[order]),
    )
    one = exp.EQ(this=window, expression=exp.Literal.number(1))
    select.set("qualify", exp.Qualify(this=one))
