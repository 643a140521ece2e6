"""Groups without aggregates, and DISTINCT of a bucket of time."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream, TimestampType
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.phrasings.group_parts import group_parts
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp

TIMED = "grouped by another time of a row"
"""What says so of a SELECT that has no aggregates (meta)."""
_SLIDING = ("HOP", "CUMULATE", "HOP_START", "CUMULATE_START", "HOP_END", "CUMULATE_END")


def group_distinct(select: "exp.Select", catalog: Catalog) -> None:
    """Where a SELECT DISTINCT shows a bucket of time, let it group by all that it shows; where one
    groups, has no aggregate, and no bucket or timestamp that groups are final by, let it be a
    SELECT DISTINCT; in place.

    Both are the same rows. With a bucket, or another time of a row that a condition compares with
    its timestamp, they are final, each once, when it is over; without, each is told when it is
    found.

    Args:
        select: its groups by parts of a time are by buckets already (`group_parts`).
        catalog: the tables.
    """
    from sqlglot import exp

    if isinstance(select.parent, (exp.SetOperation, exp.In, exp.Exists)):
        return
    if any(e.find(exp.Window) for e in select.expressions) or select.args.get("qualify"):
        return
    if select.args.get("distinct") is not None:
        _group(select, catalog)
        return
    group = select.args.get("group")
    if group is None or select.args.get("having") or not group.expressions:
        return
    if any(v for k, v in group.args.items() if k != "expressions"):
        return
    if any(e.find(exp.AggFunc) for e in select.expressions):
        return
    shown = [e.unalias() for e in select.expressions]
    scope = list_tables(select, catalog)
    shown = [_name_plainly(item, scope) for item in shown]
    meant = [_name_plainly(mean_group(item, select, scope), scope) for item in group.expressions]
    final = any(_is_final(m, catalog, scope) or _is_limited(m, select, scope) for m in meant)
    if all(m in shown for m in meant) and not final:
        select.set("group", None)
        select.set("distinct", exp.Distinct())
    elif all(m in shown for m in meant):
        select.meta[TIMED] = any(_is_limited(m, select, scope) for m in meant)


def _group(select: "exp.Select", catalog: Catalog) -> None:
    """Group by what a SELECT DISTINCT shows, if a bucket is among it."""
    from sqlglot import exp

    if select.args["distinct"].args.get("on") or select.args.get("group"):
        return
    if any(e.is_star or e.find(exp.AggFunc, exp.Select) for e in select.expressions):
        return
    plain = [e.unalias() for e in select.expressions]
    made = select.copy()
    made.set("distinct", None)
    keys = [e.copy() for e in plain if e.find(exp.Column)]
    made.set("group", exp.Group(expressions=keys))
    group_parts(made, catalog)
    scope = list_tables(select, catalog)
    keys = made.args["group"].expressions
    if not any(_is_bucket(key, scope) or _is_limited(key, select, scope) for key in keys):
        return
    for name in ("distinct", "group", "expressions"):
        select.set(name, made.args.get(name))
    select.meta[TIMED] = not any(_is_bucket(key, scope) for key in keys)


def _is_bucket(key: "exp.Expr", scope: Scope) -> bool:
    """Whether it is a bucket, of a time that may be a stream's timestamp."""
    from sqlglot import exp

    sliding = isinstance(key, exp.Anonymous) and key.name.upper() in _SLIDING
    return (sliding or is_grid(key)) and not all(
        _is_value(c, scope) for c in key.find_all(exp.Column)
    )


def _is_limited(key: "exp.Expr", select: "exp.Select", scope: Scope) -> bool:
    """Whether it is another time of a row than its timestamp, or that cut to a unit, and a
    condition compares both, so that it may be over."""
    from sqlglot import exp

    day = isinstance(key, exp.Cast) and key.to.this == exp.DataType.Type.DATE
    where, columns = select.args.get("where"), list(key.find_all(exp.Column))
    streams = [t for t in scope.tables.values() if isinstance(t, Stream)]
    if where is None or len(columns) != 1 or len(streams) != 1 or select.parent is not None:
        return False
    if not (day or isinstance(key, exp.Column) or is_grid(key)):
        return False
    of = resolve(scope, columns[0])
    table = None if of is None else scope.tables[of[0]]
    column = None if of is None or not isinstance(table, Stream) else table.column(of[1])
    if of is None or column is None or not isinstance(column.type, TimestampType):
        return False
    assert isinstance(table, Stream)
    both = {of, (of[0], table.timestamp)}
    return any(
        both <= {resolve(scope, c) for c in condition.find_all(exp.Column)}
        for condition in split_conjuncts(where.this)
    )


def _is_value(column: "exp.Column", scope: Scope) -> bool:
    """Whether it is of a declared table, and no stream's timestamp."""
    try:
        return scope.step_of(scope.resolve(column.table or None, column.name)) is None
    except SqlRefusal:
        return False  # of a subquery, or it is refused where it is read


def _is_final(key: "exp.Expr", catalog: Catalog, scope: Scope) -> bool:
    """Whether groups may be final by it: a bucket, a stream's timestamp, or a name that a subquery
    or a table of windows may give to one."""
    from sqlglot import exp

    names = {stream.timestamp.lower() for stream in catalog.streams.values()}
    names |= {"window_start", "window_end"}
    known = {c.name.lower() for t in catalog.streams.values() for c in t.columns}
    known |= {c.name.lower() for t in catalog.relations.values() for c in t.columns}
    if _is_bucket(key, scope):
        return True
    columns = {c.name.lower() for c in key.find_all(exp.Column)}
    return bool(columns & names) or not columns <= known


def _name_plainly(item: "exp.Expr", scope: Scope) -> "exp.Expr":
    """An expression with its columns as the catalog calls them, each of its table; what is of no
    declared table stays."""
    from sqlglot import exp

    item = item.copy()
    for column in [c for c in item.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]:
        try:
            found = scope.resolve(column.table or None, column.name)
        except SqlRefusal:
            continue
        column.set("this", exp.to_identifier(found.column, quoted=True))
        column.set("table", exp.to_identifier(found.alias, quoted=True))
    return item
