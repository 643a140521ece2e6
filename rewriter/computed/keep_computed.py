"""Groups, and windows, of values that are computed of a row, as those of columns of other rows."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.absence_trees import TIME, AbsenceTrees, StreamColumns
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.own_nodes import list_own, list_windows
from ontoweir.rewriter.subqueries.column_names import free_name
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

ReadRows = Callable[[AbsenceTrees, Catalog, str], tuple[StreamColumns, Catalog]]
"""Makes a stream of the rows of a SELECT, which may be called so; and the catalog with it."""

_PARTS = {"SECOND", "MINUTE", "HOUR", "DAY", "DAYOFMONTH", "ISODOW", "DOY", "DAYOFYEAR"}
"""The parts of times that come again."""
_ROWS = {"expressions", "from_", "where", "with_"}
"""What SELECT of rows may have."""


def keep_computed(
    tree: "exp.Query", catalog: Catalog, read: ReadRows
) -> "tuple[exp.Query, Catalog] | None":
    """A query whose SELECTs over one stream each group, or part, by columns: what is computed of a
    row, GROUP BY LEFT(k, 3) or OVER (PARTITION BY v > 3 …), is a column of a stream of all its rows
    with it; and the catalog with these streams (None: there is no such value).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: makes the stream.
    """
    from sqlglot import exp

    made, before = tree.copy(), catalog
    of: dict[str, list[tuple[exp.Select, list[exp.Expr]]]] = {}
    for select in list(made.find_all(exp.Select)):
        stream = _find_stream(select, catalog)
        if stream is not None and (values := _list_values(select, stream)):
            of.setdefault(stream.name, []).append((select, values))
        elif (inner := _find_rows(select, catalog)) is not None:
            catalog = _read_inner(select, inner, catalog, read)
    for name, selects in of.items():
        catalog = _read(catalog.streams[name], selects, catalog, read)
    _drop_unread(made)
    return None if catalog is before else (made, catalog)


def _drop_unread(tree: "exp.Query") -> None:
    """Leave out what WITH names and nothing reads, in place."""
    from sqlglot import exp

    for item in list(tree.find_all(exp.CTE)):
        own = {id(t) for t in item.find_all(exp.Table)}
        others = (t for t in tree.find_all(exp.Table) if id(t) not in own)
        if all(t.name.lower() != item.alias.lower() for t in others):
            held = item.parent
            item.pop()
            if held is not None and not held.expressions:
                held.pop()


def _find_rows(select: "exp.Select", catalog: Catalog) -> "exp.Select | None":
    """The rows of one stream, with what is computed of them, that a SELECT groups, or parts, by
    this, in FROM or of WITH."""
    from sqlglot import exp

    start = select.args.get("from_")
    if start is None or select.args.get("joins") or not is_plain(start.this):
        return None
    item = start.this
    inner = item.this if isinstance(item, exp.Subquery) else None
    if isinstance(item, exp.Table) and (found := _find_named(select, item.name)) is not None:
        inner = None if found.args["alias"].columns else found.this
    if not isinstance(inner, exp.Select) or {k for k, v in inner.args.items() if v} - _ROWS:
        return None
    stream = _find_stream(inner, catalog)
    if stream is None or list_windows(inner) or any(e.is_star for e in inner.expressions):
        return None
    shown = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    computed = {n for n, e in shown.items() if _is_computed(e, stream)}
    group = select.args.get("group")
    keys = [] if group is None else list(group.expressions)
    keys += [k for w in list_windows(select) for k in w.args.get("partition_by") or ()]
    named_keys = {c.name.lower() for k in keys for c in k.find_all(exp.Column)}
    places = [int(k.name) for k in keys if isinstance(k, exp.Literal) and k.is_int]
    for item in (select.expressions[p - 1] for p in places if 0 < p <= len(select.expressions)):
        named_keys |= {c.name.lower() for c in item.find_all(exp.Column)}
    return inner if named_keys & computed else None


def _find_named(select: "exp.Select", name: str) -> "exp.CTE | None":
    """What WITH calls so, around a SELECT, the nearest; of the same WITH, what is before it."""
    from sqlglot import exp

    node: exp.Select | None = select
    inside = {id(select)}
    while node is not None:
        held = node.args.get("with_")
        for item in held.expressions if held is not None else ():
            if id(item) in inside:
                break
            if item.alias.lower() == name.lower():
                return item if isinstance(item, exp.CTE) else None
        above = node.parent
        while above is not None and not isinstance(above, exp.Select):
            inside.add(id(above))
            above = above.parent
        node = above
    return None


def _read_inner(
    select: "exp.Select", inner: "exp.Select", catalog: Catalog, read: ReadRows
) -> Catalog:
    """Let a SELECT be over the rows of another one as a stream, in place."""
    from sqlglot import exp

    stream = _find_stream(inner, catalog)
    assert stream is not None
    _open_star(select, [e.alias_or_name for e in inner.expressions])
    rows, names = inner.copy(), dict[str, exp.Expr]()
    times = set[str]()
    for item in rows.expressions:
        value = item.unalias()
        if isinstance(value, exp.Column) and value.name.lower() == stream.timestamp.lower():
            times.add(item.alias_or_name.lower())
        else:
            names[item.alias_or_name] = value
    table = rows.args["from_"].this.alias_or_name
    time = f"{TIME} 0"
    stamp = exp.alias_(exp.column(stream.timestamp, table, quoted=True), time, quoted=True)
    shown = [exp.alias_(value.copy(), name, quoted=True) for name, value in names.items()]
    rows.set("expressions", [*shown, stamp])
    trees = AbsenceTrees((rows,), (*names, time), (time,), (), (), True, line_of(select))
    alias = select.args["from_"].this.alias_or_name
    (made, _), catalog = read(trees, catalog, f"rows of {alias}")
    _stand_in(select, times, catalog.streams[made])
    return catalog


def _find_stream(select: "exp.Select", catalog: Catalog) -> Stream | None:
    """The one stream that a SELECT reads."""
    from sqlglot import exp

    start = select.args.get("from_")
    if start is None or select.args.get("joins") or not isinstance(start.this, exp.Table):
        return None
    named = _find_named(select, start.this.name) is not None
    name = None if named else find_name(start.this.name, catalog.streams)
    stream = None if name is None or not is_plain(start.this) else catalog.streams[name]
    return None if stream is None or stream.versions else stream


def _list_values(select: "exp.Select", stream: Stream) -> "list[exp.Expr]":
    """What a SELECT groups and parts by that is computed of a row; its groups name it as it is
    computed, in place."""
    from sqlglot import exp

    columns = {c.lower() for c in column_names(stream)}
    shown = [e.unalias() for e in select.expressions]
    named = {e.alias.lower(): e.unalias() for e in select.expressions if e.alias}
    group = select.args.get("group")
    found: list[exp.Expr] = []
    for key in list(group.expressions) if group is not None and len(group.args) == 1 else ():
        value = key
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(shown):
            value = shown[int(key.name) - 1]
        elif isinstance(key, exp.Column) and not key.table and key.name.lower() not in columns:
            value = named.get(key.name.lower(), key)
        if _is_computed(value, stream):
            key.replace(value.copy())
            found.append(value.copy())
    for window in list_windows(select):
        found += [
            k.copy() for k in window.args.get("partition_by") or () if _is_computed(k, stream)
        ]
    return found


def _is_computed(value: "exp.Expr", stream: Stream) -> bool:
    """Whether it is computed of the columns of a row, and is no bucket of its time."""
    from sqlglot import exp

    if isinstance(value, exp.Column) or value.find(exp.AggFunc, exp.Window, exp.Query) is not None:
        return False
    columns = list(value.find_all(exp.Column))
    timed = [c for c in columns if c.name.lower() == stream.timestamp.lower()]
    return bool(columns) and all(map(_comes_again, timed))


def _comes_again(time: "exp.Expr") -> bool:
    """Whether a part of a time is read that it has again and again, as the hour."""
    from sqlglot import exp

    within = time.parent
    if isinstance(within, exp.Extract):
        return within.name.upper() in _PARTS
    return type(within).__name__.upper() in _PARTS


def _read(
    stream: Stream,
    selects: "list[tuple[exp.Select, list[exp.Expr]]]",
    catalog: Catalog,
    read: ReadRows,
) -> Catalog:
    """Let SELECTs over a stream be over its rows with what is computed of them, in place."""
    from sqlglot import exp

    for select, _ in selects:
        _open_star(select, column_names(stream))
    used = {c.name.lower() for select, _ in selects for c in list_own(select, exp.Column)}
    others = [c for c in column_names(stream) if c != stream.timestamp]
    own = [c for c in others if c.lower() in used]
    names: dict[exp.Expr, str] = {}
    for _, values in selects:
        for value in values:
            plain = _without_table(value)
            if plain not in names:
                names[plain] = free_name(show_sql(plain), [*own, *names.values()])
    time = f"{TIME} 0"
    items = [exp.column(c, stream.name, quoted=True) for c in own]
    made = [exp.alias_(i, c, quoted=True) for i, c in zip(items, own, strict=True)]
    made += [exp.alias_(value.copy(), name, quoted=True) for value, name in names.items()]
    stamp = exp.column(stream.timestamp, stream.name, quoted=True)
    made.append(exp.alias_(stamp, time, quoted=True))
    rows = exp.Select(expressions=made).from_(
        exp.Table(this=exp.to_identifier(stream.name, quoted=True))
    )
    if len(selects) == 1:
        _move_conditions(selects[0][0], rows)
    columns = (*own, *names.values(), time)
    trees = AbsenceTrees((rows,), columns, (time,), (), (), True, line_of(selects[0][0]))
    (name, _), catalog = read(trees, catalog, stream.name)
    for select, _values in selects:
        _rename(select, names, stream.timestamp, catalog.streams[name])
    return catalog


def _open_star(select: "exp.Select", names: "Sequence[str]") -> None:
    """Name the columns of the one table in the place of *, in place."""
    from sqlglot import exp

    if any(item.is_star for item in select.expressions):
        shown = [exp.column(name, quoted=True) for name in names]
        items = [[i] if not i.is_star else [c.copy() for c in shown] for i in select.expressions]
        select.set("expressions", [one for some in items for one in some])


def _move_conditions(select: "exp.Select", rows: "exp.Select") -> None:
    """Say of the rows what a SELECT says of columns that do not change with time, in place."""
    from sqlglot import exp

    where = select.args.get("where")
    if where is None:
        return
    said = list(split_conjuncts(where.this))
    moved = [c for c in said if not has_now(c) and c.find(exp.Query) is None]
    if moved:
        kept = [c.copy() for c in said if c not in moved]
        rows.set("where", exp.Where(this=exp.and_(*(_without_table(c) for c in moved))))
        select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)


def _rename(
    select: "exp.Select", names: "dict[exp.Expr, str]", timestamp: str, made: Stream
) -> None:
    """Let a SELECT be over another stream, where what is computed is a column, in place."""
    from sqlglot import exp

    for item in list(select.expressions):
        if not item.alias and not item.is_star and _without_table(item) in names:
            item.replace(exp.alias_(item.copy(), item.output_name or show_sql(item), quoted=True))
    for node in list_own(select, exp.Expr):
        if node is not select and (name := names.get(_without_table(node))) is not None:
            node.replace(exp.column(name, quoted=True))
    _stand_in(select, {timestamp.lower()}, made)


def _stand_in(select: "exp.Select", times: set[str], made: Stream) -> None:
    """Let a SELECT be over a stream, whose timestamp it calls by some names, in place."""
    from sqlglot import exp

    for item in list(select.expressions):
        if isinstance(item, exp.Column) and item.name.lower() in times:
            item.replace(exp.alias_(item.copy(), item.name, quoted=True))
    for column in list_own(select, exp.Column):
        if column.name.lower() in times:
            column.set("this", exp.to_identifier(made.timestamp, quoted=True))
    item = select.args["from_"].this
    alias = exp.TableAlias(this=exp.to_identifier(item.alias_or_name, quoted=True))
    item.replace(exp.Table(this=exp.to_identifier(made.name, quoted=True), alias=alias))


def _without_table(value: "exp.Expr") -> "exp.Expr":
    """A value whose columns are of the one table that is read, and do not say so."""
    from sqlglot import exp

    made = exp.Paren(this=value.copy())
    for column in made.find_all(exp.Column):
        column.set("table", None)
        column.set("this", exp.to_identifier(column.name.lower(), quoted=True))
    inner: exp.Expr = made.this
    return inner
