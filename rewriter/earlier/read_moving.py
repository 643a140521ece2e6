"""Moving aggregates in SQL: of the rows before and after each row, of the same key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.earlier.read_frame import has_moment, is_of_rows
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp

WHY = (
    "a moving aggregate is of the rows of one stream that have the key of a row, and are so long "
    "before or after it: AVG(x) OVER (PARTITION BY key ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR "
    "PRECEDING AND CURRENT ROW)"
)


def read_moving(select: "exp.Select", catalog: Catalog) -> None:
    """Read moving aggregates as a join of each row with those around it, and groups of that, in
    place. A group is that of one row, final when no other row can be around it any more.

    Args:
        select: without what is in its subqueries.
        catalog: the tables.

    Raises:
        SqlRefusal: it is of several tables, of rows counted and not of a time, or of several
            windows.
    """
    from sqlglot import exp

    kinds = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.Median)
    found = [
        w
        for w in list_own(select, exp.Window)
        if isinstance(w.this, kinds)
        and not is_of_rows(w, select)
        and not has_moment(w, select, catalog)
    ]
    if not found:
        return
    alias, stream, scope = _read_rows(select, catalog, found[0])
    frames = {_read_frame(select, window, stream, scope) for window in found}
    if len(frames) > 1:
        fix = "write a query for each, and join them by the key and the timestamp"
        raise _refuse(found[0], "several windows in one SELECT", fix)
    (frame,) = frames
    others = [w for w in list_own(select, exp.Window) if not any(w is f for f in found)]
    if others := [w for w in others if w.arg_key != "windows"]:
        raise _refuse(others[0], f"{others[0].sql('spark')} beside it", "write a query for each")
    for column in list_own(select, exp.Column):
        if not column.args.get("table") and not isinstance(column.this, exp.Star):
            column.set("table", exp.to_identifier(alias, quoted=True))
    around = f"{alias} around"
    for window in found:
        call = _rename(window.this, alias, around)
        window.replace(call)
    select.set("windows", None)
    _join(select, (alias, around), stream, frame)
    _group(select, alias, stream)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Which rows are around a row: of its `key`, from so long before to so long after it (SQL that
    is added to its time)."""

    key: tuple[str, ...]
    first: str
    last: str


def _read_rows(
    select: "exp.Select", catalog: Catalog, place: "exp.Expr"
) -> tuple[str, Stream, Scope]:
    from sqlglot import exp

    scope = list_tables(select, catalog)
    tables = list(scope.tables.items())
    more = [k for k in ("joins", "group", "having", "distinct") if select.args.get(k)]
    if len(tables) != 1 or more or not isinstance(tables[0][1], Stream):
        what = "several tables, groups or DISTINCT" if more else "no stream"
        fix = "write it in a subquery over the stream alone, and join or group that"
        raise _refuse(place, f"a moving aggregate over {what}", fix)
    where = select.args.get("where")
    if where is not None and where.find(exp.Select) is not None:
        fix = "write it in a subquery over the stream alone, and the condition around it"
        raise _refuse(place, "a moving aggregate beside a subquery in WHERE", fix)
    if any(e.is_star for e in select.expressions):
        raise _refuse(place, "* beside a moving aggregate", "select columns by name")
    ((alias, stream),) = tables
    assert isinstance(stream, Stream)
    return alias, stream, scope


def _read_frame(select: "exp.Select", window: "exp.Expr", stream: Stream, scope: Scope) -> _Frame:
    from sqlglot import exp

    named = {w.this.name.lower(): w for w in select.args.get("windows") or ()}
    base = named.get(window.alias.lower(), window) if window.args.get("alias") else window
    order, spec = base.args.get("order"), base.args.get("spec")
    ordered = [] if order is None else list(order.expressions)
    fix = "write RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"
    if spec is None or str(spec.args.get("kind")).upper() != "RANGE":
        counted = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
        what = "rows that are counted" if counted else "all rows until each"
        raise _refuse(window, f"a moving aggregate of {what}", fix)
    if len(ordered) != 1 or ordered[0].args.get("desc") or spec.args.get("exclude"):
        raise _refuse(window, f"the order of {window.sql('spark')}", f"ORDER BY {stream.timestamp}")
    columns = []
    for tree in [*(base.args.get("partition_by") or ()), ordered[0].this]:
        if not isinstance(tree, exp.Column):
            raise _refuse(window, f"{tree.sql('spark')} in a window", "name a column")
        columns.append(scope.resolve(tree.table or None, tree.name, line_of(tree)).column)
    if columns[-1] != stream.timestamp:
        raise _refuse(window, f"ORDER BY {columns[-1]}", f"ORDER BY {stream.timestamp}")
    for name in columns[:-1]:
        column = stream.column(name)
        if column is not None and column.nullable:
            raise _refuse(
                window, f"{name}, which may be NULL, in PARTITION BY", "partition by another column"
            )
    first, last = (_read_end(spec, end, window, fix) for end in ("start", "end"))
    if first.startswith("+") or last.startswith("-"):
        raise _refuse(window, "a window without the row itself", fix)
    return _Frame(tuple(dict.fromkeys(columns[:-1])), first, last)


def _read_end(spec: "exp.Expr", end: str, window: "exp.Expr", fix: str) -> str:
    """How much later than a row an end of the window is, as SQL that is added to its time."""
    from sqlglot import exp

    at, side = spec.args.get(end), str(spec.args.get(f"{end}_side") or "").upper()
    if at is None or str(at).upper() == "CURRENT ROW":
        return ""
    if str(at).upper() == "UNBOUNDED":
        raise _refuse(window, "a moving aggregate of all rows until each", fix)
    if not isinstance(at, exp.Interval):
        raise _refuse(window, f"{at.sql('spark')} {side} of a time", fix)
    return f"{'-' if side == 'PRECEDING' else '+'} {at.sql('spark')}"


def _rename(tree: "exp.Expr", alias: str, other: str) -> "exp.Expr":
    """A copy over the columns of the rows around."""
    from sqlglot import exp

    made: exp.Expr = tree.copy()
    for column in list(made.find_all(exp.Column)):
        if column.table.lower() == alias.lower():
            column.set("table", exp.to_identifier(other, quoted=True))
    return made


def _join(select: "exp.Select", aliases: tuple[str, str], stream: Stream, frame: _Frame) -> None:
    from sqlglot import exp, parse_one

    alias, around = aliases
    time, other = (exp.column(stream.timestamp, a, quoted=True) for a in (alias, around))
    on: list[exp.Expr] = [
        exp.EQ(
            this=exp.column(c, around, quoted=True), expression=exp.column(c, alias, quoted=True)
        )
        for c in frame.key
    ]
    for end, compare in ((frame.first, exp.GTE), (frame.last, exp.LTE)):
        moved = parse_one(f"{time.sql('spark')} {end}", dialect="spark")
        on.append(compare(this=other.copy(), expression=moved))
    if (where := select.args.get("where")) is not None:
        on += [_rename(c, alias, around) for c in split_conjuncts(where.this)]
    table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
    table.set("alias", exp.TableAlias(this=exp.to_identifier(around, quoted=True)))
    select.append("joins", exp.Join(this=table, on=exp.and_(*on, copy=False)))


def _group(select: "exp.Select", alias: str, stream: Stream) -> None:
    """Group by the row: its timestamp, its key, and what is shown of it."""
    from sqlglot import exp

    null = {c.name for c in stream.columns if c.nullable}
    keys = [k for k in stream.keys if not null & set(k)]
    if not keys:
        raise SqlRefusal(
            f"a moving aggregate, where {stream.name} may have several equal rows",
            why=f"each row has one of its own; {WHY}",
            fix=f'declare keys = [["…", "{stream.timestamp}"]] in [streams.{stream.name}]',
            line=line_of(select),
        )
    shown: dict[exp.Expr, None] = {exp.column(stream.timestamp, alias, quoted=True): None}
    for name in min(keys, key=len):
        column = exp.column(name, alias, quoted=True)
        shown[column] = None
        if name != stream.timestamp:  # rows without a key would be one group
            there = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
            select.where(there, copy=False)
    conditions = select.args.get("qualify")
    places: Sequence[exp.Expr] = [e.unalias() for e in select.expressions]
    for place in [*places, *([] if conditions is None else [conditions.this])]:
        if not place.find(exp.AggFunc) and place in places:
            shown |= dict.fromkeys([place] if not isinstance(place, exp.Literal) else [])
            continue
        for column in place.find_all(exp.Column):
            if not column.find_ancestor(exp.AggFunc):
                shown[exp.column(column.name, alias, quoted=True)] = None
    unique: dict[str, exp.Expr] = {e.sql("spark", identify=True).lower(): e for e in shown}
    select.set("group", exp.Group(expressions=[e.copy() for e in unique.values()]))
    if conditions is not None:
        select.set("qualify", None)
        select.set("having", exp.Having(this=conditions.this))


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of moving aggregates", why=WHY, fix=fix, line=line_of(tree)
    )
