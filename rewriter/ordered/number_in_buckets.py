"""Functions over windows of the rows of a bucket of time, which are final when it is over."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number, is_place, list_own, list_windows
from ontoweir.rewriter.windows.read_sql_grid import is_grid
from ontoweir.rewriter.windows.read_window_tables import list_window_columns, read_window_tables

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = frozenset({"expressions", "from_", "where", "qualify", "windows"})


def number_in_buckets(tree: "exp.Query", catalog: Catalog) -> None:
    """Where a SELECT numbers, ranks or adds up the rows of a stream OVER (PARTITION BY
    date_trunc('hour', ts), …), let it do so with groups of one row each, in place: such groups are
    final when the bucket is over, and their windows are read as those of any answers.

    A group is one row where a key of the stream is shown, whose columns are not NULL then. Those in
    the order of time stay as they are, and other SELECTs.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: no key of the stream is shown.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        _read(select, catalog)


def _read(select: "exp.Select", catalog: Catalog) -> None:
    from sqlglot import exp

    windows = list_windows(select)
    start = select.args.get("from_")
    if not windows or start is None or not {k for k, v in select.args.items() if v} <= _PLAIN:
        return
    if _open_window_table(select, windows, catalog):
        windows, start = list_windows(select), select.args["from_"]
    tables = list_tables(select, catalog).tables
    table = start.this
    stream = tables.get(table.alias_or_name)
    if not isinstance(stream, Stream) or {k for k, v in table.args.items() if v} - {
        "this",
        "alias",
    }:
        return
    inside = {id(w.this) for w in windows}
    if any(id(f) not in inside for f in list_own(select, exp.AggFunc)):
        return
    keys = [[k for k in w.args.get("partition_by") or () if _is_bucket(k, stream)] for w in windows]
    if not all(keys) or all(_is_by_time(w, stream) for w in windows):
        return
    shown = _list_shown(select, stream)
    unique = next((k for k in stream.keys if {*k} <= shown), None)
    if unique is None:
        raise _refuse(windows[0], stream)
    for window in windows:
        if isinstance(window.this, exp.RowNumber) and {*unique} <= _told_apart_by(window, stream):
            window.set("this", exp.Rank())  # no two rows are equal
    others = (n for n in list_own(select, exp.Anonymous) if _is_bucket(n, stream))
    buckets = list(dict.fromkeys([*(k for of in keys for k in of), *others]))
    buckets = list(dict.fromkeys([*buckets, *(e for b in buckets for e in _list_ends(b))]))
    _nest(select, table, stream, unique, buckets)


def _open_window_table(
    select: "exp.Select", windows: "Sequence[exp.Expr]", catalog: Catalog
) -> bool:
    """Where rows are numbered OVER the windows of `TABLE(TUMBLE(TABLE s, …))`, read that as s, in
    place, and window_start and window_end as the buckets that they are; whether it was done."""
    from sqlglot import exp

    found = list_window_columns(select)
    columns = next(iter(found.values()), [])
    if len(found) != 1 or select.find(exp.Subquery):
        return False
    (alias,), names = found, [name for name, _ in columns]
    grows = any(c.name.upper().startswith("CUMULATE") for _, c in columns)
    for window in windows:
        parts = [p for p in window.args.get("partition_by") or () if isinstance(p, exp.Column)]
        ends = {p.name.lower(): p for p in parts if p.name.lower() in names}
        if not ends or (grows and names[1] not in ends):
            return False
        if len(ends) == 2:  # they begin together if they end together; of CUMULATE otherwise
            left = ends[names[not grows]]
            window.set("partition_by", [p for p in window.args["partition_by"] if p is not left])
    made: list[exp.Expr] = []
    for item in select.expressions:
        made.append(item)
        if isinstance(item, exp.Star) and not any(item.args.values()):
            made += [exp.column(n, alias, quoted=True) for n in names]
    select.set("expressions", made)
    flat = read_window_tables(select)
    for key in list(select.args):
        select.set(key, flat.args.get(key))
    return True


def _refuse(window: "exp.Expr", stream: Stream) -> SqlRefusal:
    told = [c for key in stream.keys[:1] for c in key if c != stream.timestamp]
    there = " AND ".join(f"{column} IS NOT NULL" for column in told)
    named = f"select {', '.join(told)} too, or write WHERE {there}"
    shown = named if told else "select its columns too"
    declared = "" if stream.keys else f"declare keys in [streams.{stream.name}], and "
    return SqlRefusal(
        f"{show_sql(window)}, and no key of {stream.name} is shown",
        why="the rows of a bucket are kept as groups of one row each, which a key tells apart",
        fix=f"{declared}{shown}",
        line=line_of(window),
    )


def _is_bucket(tree: "exp.Expr", stream: Stream) -> bool:
    """Whether it is a bucket of the stream's timestamp, or its day."""
    from sqlglot import exp

    columns = list(tree.find_all(exp.Column))
    if len(columns) != 1 or find_name(columns[0].name, [stream.timestamp]) is None:
        return False
    cast = isinstance(tree, (exp.Cast, exp.TryCast)) and tree.to.is_type("date")
    return (
        is_grid(tree)
        or bool(_list_ends(tree))
        or cast
        or isinstance(tree, (exp.Date, exp.TsOrDsToDate))
    )


def _list_ends(tree: "exp.Expr") -> "list[exp.Expr]":
    """Where a bucket that overlaps others begins, and ends (none: it is no such bucket)."""
    from sqlglot import exp

    kind, _, _ = tree.name.upper().partition("_") if isinstance(tree, exp.Anonymous) else ("", 0, 0)
    if kind not in ("HOP", "CUMULATE"):
        return []
    given = tree.expressions
    return [
        exp.Anonymous(this=f"{kind}_{end}", expressions=[g.copy() for g in given])
        for end in ("START", "END")
    ]


def _is_by_time(window: "exp.Expr", stream: Stream) -> bool:
    """Whether rows are in the order of time: they are read as rows before others, and the first or
    the latest of a bucket."""
    from sqlglot import exp

    order, spec = window.args.get("order"), window.args.get("spec")
    first = None if order is None else order.expressions[0].this
    if spec is not None and str(spec.args.get("end_side") or "").upper() == "FOLLOWING":
        return False
    if is_place(window) and not is_number(window):
        return False
    return isinstance(first, exp.Column) and find_name(first.name, [stream.timestamp]) is not None


def _told_apart_by(window: "exp.Expr", stream: Stream) -> set[str]:
    """The columns by which a window is ordered and divided."""
    from sqlglot import exp

    order = window.args.get("order") or exp.Order(expressions=[])
    parts = [*(window.args.get("partition_by") or ()), *(o.this for o in order.expressions)]
    columns = (p for p in parts if isinstance(p, exp.Column))
    names = (find_name(c.name, list(column_names(stream))) for c in columns)
    return {n for n in names if n is not None}


def _list_shown(select: "exp.Select", stream: Stream) -> set[str]:
    """The columns that are never NULL where the SELECT shows its rows."""
    from sqlglot import exp

    names = list(column_names(stream))
    known = {c.name for c in stream.columns if not c.nullable}
    present = {stream.timestamp, *never_null(stream)}
    where = select.args.get("where")
    for condition in split_conjuncts(where.this) if where is not None else ():
        if isinstance(condition, (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like)):
            sides = (condition.this, condition.expression)
            found = (find_name(s.name, names) for s in sides if isinstance(s, exp.Column))
            present |= {n for n in found if n is not None}
        elif _says_present(condition):
            found = (find_name(c.name, names) for c in condition.find_all(exp.Column))
            present |= {n for n in found if n is not None}
    for item in select.expressions:
        column = item.unalias()
        if isinstance(column, exp.Star) or (isinstance(column, exp.Column) and column.is_star):
            present |= known
        elif isinstance(column, exp.Column):
            present |= {n for n in [find_name(column.name, names)] if n in known and n}
    return present


def _says_present(condition: "exp.Expr") -> bool:
    """Whether it is IS NOT NULL, which is said of the groups, too."""
    from sqlglot import exp

    said = condition.unnest()
    if not isinstance(said, exp.Not):
        return False
    is_null = said.this.unnest()
    return isinstance(is_null, exp.Is) and isinstance(is_null.expression, exp.Null)


def _nest(
    select: "exp.Select",
    table: "exp.Table",
    stream: Stream,
    unique: tuple[str, ...],
    buckets: "list[exp.Expr]",
) -> None:
    """Put a SELECT of groups of one row each in the place of the table."""
    from sqlglot import exp

    alias, names = table.alias_or_name, list(column_names(stream))

    def column(name: str, of: str = alias) -> "exp.Column":
        return exp.column(name, of, quoted=True)

    items: list[exp.Expr] = []
    for item in select.expressions:
        inner = item.unalias()
        star = isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and inner.is_star)
        items += [column(n) for n in names] if star else [item]
    select.set("expressions", items)
    free = [f"{what} of rows" for what in ("moment", "number")]
    made = {bucket: f"bucket {n} of rows" for n, bucket in enumerate(buckets, 1)}
    for item in select.expressions:
        if not isinstance(item, (exp.Alias, exp.Column)):
            item.replace(exp.alias_(item.copy(), item.sql("spark"), quoted=True))
    for node in [n for n in list_own(select, exp.Expr) if n in made]:
        node.replace(column(made[node]))
    for item in select.expressions:
        if isinstance(item, exp.Column) and item.name in made.values():
            bucket = next(b for b, name in made.items() if name == item.name)
            item.replace(exp.alias_(item.copy(), bucket.sql("spark"), quoted=True))
    read = {find_name(c.name, names) for c in list_own(select, exp.Column)}
    kept = [n for n in names if n in read | {*unique} and n != stream.timestamp]
    time = column(stream.timestamp)
    moment = exp.UnixMicros(this=time.copy())
    inner = exp.select(
        *(exp.alias_(column(n), _name_inside(n), quoted=True) for n in kept),
        exp.alias_(moment.copy(), free[0], quoted=True),
        exp.alias_(exp.Max(this=time.copy()), _name_inside(stream.timestamp), quoted=True),
        *(exp.alias_(bucket.copy(), name, quoted=True) for bucket, name in made.items()),
        exp.alias_(exp.Count(this=exp.Star()), free[1], quoted=True),
    )
    inner = inner.from_(table.copy())
    if (where := select.args.get("where")) is not None:
        inner.set("where", where.copy())
        there = [c.copy() for c in split_conjuncts(where.this) if _says_present(c)]
        select.set("where", exp.Where(this=exp.and_(*there)) if there else None)
    for name in unique:
        if name != stream.timestamp and name not in never_null(stream):
            inner = inner.where(exp.Not(this=exp.Is(this=column(name), expression=exp.Null())))
    inner = inner.group_by(
        *(column(n) for n in kept), moment, *(bucket.copy() for bucket in buckets)
    )
    for item in list_own(select, exp.Column):
        name = find_name(item.name, names) or item.name
        if name != _name_inside(name):
            named = column(_name_inside(name))
            shown = any(item is e for e in select.expressions)
            item.replace(exp.alias_(named, item.name, quoted=True) if shown else named)
    select.args["from_"].set("this", inner.subquery(alias))


def _name_inside(name: str) -> str:
    """What a column of the stream is called among the groups, where `at` is when they are final."""
    return f"{name} of rows" if name.lower() == "at" else name
