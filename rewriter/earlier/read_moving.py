"""Moving aggregates in SQL: of the rows before and after each row, of the same key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.assertion import SourceColumn
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
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
        SqlRefusal: it is of other than inner joins, of rows counted and not of a time, or of
            several windows.
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
    scope = _read_rows(select, catalog, found[0])
    frames = {_read_frame(select, window, scope) for window in found}
    if len(frames) > 1:
        fix = "write a query for each, and join them by the key and the timestamp"
        raise _refuse(found[0], "several windows in one SELECT", fix)
    (frame,) = frames
    others = [w for w in list_own(select, exp.Window) if not any(w is f for f in found)]
    if others := [w for w in others if w.arg_key != "windows"]:
        raise _refuse(others[0], f"{show_sql(others[0])} beside it", "write a query for each")
    for column in list_own(select, exp.Column):
        if not column.args.get("table") and not isinstance(column.this, exp.Star):
            alias = next(iter(scope.tables))
            if len(scope.tables) > 1:
                alias = scope.resolve(None, column.name, line_of(column)).alias
            column.set("table", exp.to_identifier(alias, quoted=True))
    for window in found:
        window.replace(_rename(window.this, scope))
    select.set("windows", None)
    conditions = [join.args["on"] for join in select.args.get("joins") or () if join.args.get("on")]
    _join(select, conditions, scope, frame)
    _group(select, scope, frame)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Which rows are around a row: of its `key`, from so long before to so long after it (SQL that
    is added to its time); `rows`: the stream in whose time that is, by its alias."""

    rows: str
    key: tuple[SourceColumn, ...]
    first: str
    last: str


def _read_rows(select: "exp.Select", catalog: Catalog, place: "exp.Expr") -> Scope:
    from sqlglot import exp

    scope = list_tables(select, catalog)
    more = [k for k in ("group", "having", "distinct") if select.args.get(k)]
    joins = select.args.get("joins") or ()
    inner = all(
        isinstance(join.this, exp.Table)
        and not any(join.args.get(k) for k in ("side", "using", "method"))
        and str(join.args.get("kind") or "INNER").upper() in ("INNER", "CROSS")
        for join in joins
    )
    streams = [t for t in scope.tables.values() if isinstance(t, Stream)]
    if more or not inner or len(scope.tables) != 1 + len(joins) or not streams:
        what = "other than inner joins, groups or DISTINCT" if more or streams else "no stream"
        fix = "write it in a subquery over the stream alone, and join or group that"
        raise _refuse(place, f"a moving aggregate over {what}", fix)
    where = select.args.get("where")
    if where is not None and where.find(exp.Select) is not None:
        fix = "write it in a subquery over the stream alone, and the condition around it"
        raise _refuse(place, "a moving aggregate beside a subquery in WHERE", fix)
    if any(e.is_star for e in select.expressions):
        raise _refuse(place, "* beside a moving aggregate", "select columns by name")
    return scope


def _read_frame(select: "exp.Select", window: "exp.Expr", scope: Scope) -> _Frame:
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
    stamps = [
        SourceColumn(a, t.timestamp) for a, t in scope.tables.items() if isinstance(t, Stream)
    ]
    if exclude := spec.args.get("exclude"):
        what = f"EXCLUDE {exclude} of MEDIAN, of DISTINCT and of joins"
        raise _refuse(window, what, "leave it out, or ask for COUNT, SUM, AVG, MIN or MAX of rows")
    if len(ordered) != 1 or ordered[0].args.get("desc"):
        by = f"ORDER BY {stamps[0].column}"
        raise _refuse(window, f"the order of {show_sql(window)}", by)
    columns = []
    for tree in [*(base.args.get("partition_by") or ()), ordered[0].this]:
        if not isinstance(tree, exp.Column):
            raise _refuse(window, f"{show_sql(tree)} in a window", "name a column")
        columns.append(scope.resolve(tree.table or None, tree.name, line_of(tree)))
    if columns[-1] not in stamps:
        raise _refuse(window, f"ORDER BY {columns[-1].column}", f"ORDER BY {stamps[0].column}")
    for one in columns[:-1]:
        column = scope.tables[one.alias].column(one.column)
        if column is not None and column.nullable:
            name = one.column
            raise _refuse(
                window, f"{name}, which may be NULL, in PARTITION BY", "partition by another column"
            )
    first, last = (_read_end(spec, end, window, fix) for end in ("start", "end"))
    if first.startswith("+") or last.startswith("-"):
        raise _refuse(window, "a window without the row itself", fix)
    return _Frame(columns[-1].alias, tuple(dict.fromkeys(columns[:-1])), first, last)


def _read_end(spec: "exp.Expr", end: str, window: "exp.Expr", fix: str) -> str:
    """How much later than a row an end of the window is, as SQL that is added to its time."""
    from sqlglot import exp

    at, side = spec.args.get(end), str(spec.args.get(f"{end}_side") or "").upper()
    if at is None or str(at).upper() == "CURRENT ROW":
        return ""
    if str(at).upper() == "UNBOUNDED":
        raise _refuse(window, "a moving aggregate of all rows until each", fix)
    if not isinstance(at, exp.Interval):
        raise _refuse(window, f"{show_sql(at)} {side} of a time", fix)
    return f"{'-' if side == 'PRECEDING' else '+'} {at.sql('spark')}"


def _around(alias: str) -> str:
    """The alias of the rows around those of another one."""
    return f"{alias} around"


def _rename(tree: "exp.Expr", scope: Scope) -> "exp.Expr":
    """A copy over the columns of the rows around."""
    from sqlglot import exp

    known = {alias.lower(): alias for alias in scope.tables}
    made: exp.Expr = tree.copy()
    for column in list(made.find_all(exp.Column)):
        if (alias := known.get(column.table.lower())) is not None:
            column.set("table", exp.to_identifier(_around(alias), quoted=True))
    return made


def _join(
    select: "exp.Select", conditions: Sequence["exp.Expr"], scope: Scope, frame: _Frame
) -> None:
    """Join the matches of a SELECT with those around them: of the same tables, which are joined
    alike."""
    from sqlglot import exp, parse_one

    stream = scope.tables[frame.rows]
    assert isinstance(stream, Stream)
    aliases = frame.rows, _around(frame.rows)
    time, other = (exp.column(stream.timestamp, a, quoted=True) for a in aliases)
    on: list[exp.Expr] = [
        exp.EQ(
            this=exp.column(c.column, _around(c.alias), quoted=True),
            expression=exp.column(c.column, c.alias, quoted=True),
        )
        for c in frame.key
    ]
    for end, compare in ((frame.first, exp.GTE), (frame.last, exp.LTE)):
        moved = parse_one(f"{time.sql('spark')} {end}", dialect="spark")
        on.append(compare(this=other.copy(), expression=moved))
    where = select.args.get("where")
    for condition in [*conditions, *([] if where is None else [where.this])]:
        on += [_rename(c, scope) for c in split_conjuncts(condition)]
    tables = list(scope.tables.items())
    for alias, declared in tables:
        table = exp.Table(this=exp.to_identifier(declared.name, quoted=True))
        named = exp.to_identifier(_around(alias), quoted=True)
        table.set("alias", exp.TableAlias(this=named))
        last = alias == tables[-1][0]
        join = exp.Join(this=table, on=exp.and_(*on, copy=False)) if last else None
        select.append("joins", join or exp.Join(this=table, kind="CROSS"))


def _group(select: "exp.Select", scope: Scope, frame: _Frame) -> None:
    """Group by the match: its time, the keys of its rows, and what is shown of it."""
    from sqlglot import exp

    stream = scope.tables[frame.rows]
    assert isinstance(stream, Stream)
    shown: dict[exp.Expr, None] = {exp.column(stream.timestamp, frame.rows, quoted=True): None}
    for alias, table in scope.tables.items():
        for name in _find_key(table, select):
            column = exp.column(name, alias, quoted=True)
            shown[column] = None
            if not isinstance(table, Stream) or name != table.timestamp:
                # rows without a key would be one group
                there = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
                select.where(there, copy=False)
    conditions = select.args.get("qualify")
    places: Sequence[exp.Expr] = [e.unalias() for e in select.expressions]
    for place in [*places, *([] if conditions is None else [conditions.this])]:
        if not place.find(exp.AggFunc) and place in places:
            shown |= dict.fromkeys([place] if not isinstance(place, exp.Literal) else [])
            _require(place, select, scope)
            continue
        for column in place.find_all(exp.Column):
            if not column.find_ancestor(exp.AggFunc):
                shown[exp.column(column.name, column.table, quoted=True)] = None
    unique: dict[str, exp.Expr] = {e.sql("spark", identify=True).lower(): e for e in shown}
    select.set("group", exp.Group(expressions=[e.copy() for e in unique.values()]))
    if conditions is not None:
        select.set("qualify", None)
        select.set("having", exp.Having(this=conditions.this))


def _require(place: "exp.Expr", select: "exp.Select", scope: Scope) -> None:
    """Rows in which a column is selected and NULL are results only where it may be so: of groups
    they would be."""
    from sqlglot import exp

    for column in place.find_all(exp.Column):
        found = scope.resolve(column.table or None, column.name, line_of(column))
        declared = scope.tables[found.alias].column(found.column)
        if declared is not None and not declared.nullable:
            null = exp.Is(this=column.copy(), expression=exp.Null())
            select.where(exp.Not(this=null), copy=False)


def _find_key(table: Stream | Relation, select: "exp.Select") -> tuple[str, ...]:
    """The shortest key of a table, of columns with a value."""
    null = {c.name for c in table.columns if c.nullable}
    keys = [k for k in table.keys if not null & set(k)]
    if keys:
        return min(keys, key=len)
    where, column = ("relations", "…")
    if isinstance(table, Stream):
        where, column = "streams", f'…", "{table.timestamp}'
    raise SqlRefusal(
        f"a moving aggregate, where {table.name} may have several equal rows",
        why=f"each row has one of its own; {WHY}",
        fix=f'declare keys = [["{column}"]] in [{where}.{table.name}]',
        line=line_of(select),
    )


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of moving aggregates", why=WHY, fix=fix, line=line_of(tree)
    )
