"""Tables of windows in FROM: `TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL …, INTERVAL …))`.

Such a table has its stream's columns, `window_start` and `window_end`. It is read as the stream,
and these as the buckets of time that they are.
"""

from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

START, END = "window_start", "window_end"
"""The columns of a table of windows, besides those of its stream."""
_ENDS = {START: "_START", END: "_END"}
_ARGUMENTS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
}


def read_window_tables(tree: "exp.Query") -> "exp.Query":
    """The query over the streams themselves, with buckets of their timestamps.

    Raises:
        SqlRefusal: a table of windows has other arguments.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or all(
        _call_of(table) is None for table in tree.find_all(exp.Table)
    ):
        return tree
    tree = tree.copy()
    windows: dict[str, tuple[str, list[exp.Expr]]] = {}
    for table in list(tree.find_all(exp.Table)):
        call = _call_of(table)
        if call is not None:
            alias, kind, given = _read(table, call)
            windows[alias.lower()] = (kind, given)
    for column in list(tree.find_all(exp.Column)):
        end = _ENDS.get(column.name.lower())
        of = column.table.lower() or (next(iter(windows)) if len(windows) == 1 else "")
        if end is None or of not in windows:
            continue
        kind, given = windows[of]
        bucket = exp.Anonymous(this=kind + end, expressions=[g.copy() for g in given])
        in_select = column.parent is tree and column.arg_key == "expressions"
        named = exp.alias_(bucket, column.name, quoted=True) if in_select else bucket
        column.replace(named)
    return tree


def read_one_window(tree: "exp.Query") -> "exp.Query":
    """A SELECT over tables of windows as one over the streams themselves (read_window_tables), that
    groups by a window once, and not by where it begins and where it ends; what has subqueries as it
    is."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or tree.find(exp.Subquery, exp.With) is not None:
        return tree
    made = read_window_tables(tree)
    group = made.args.get("group")
    if group is None:
        return made
    kept: list[exp.Expr] = []
    for item in group.expressions:
        kind = item.name.upper() if isinstance(item, exp.Anonymous) else ""
        begin = exp.Anonymous(this="TUMBLE_START", expressions=item.expressions)
        if kind == "TUMBLE_END" and begin in group.expressions:
            continue
        both = exp.Anonymous(this="TUMBLE_END", expressions=item.expressions)
        if kind == "TUMBLE_START" and both in group.expressions:
            item = exp.Anonymous(this="TUMBLE", expressions=[e.copy() for e in item.expressions])
        kept.append(item)
    group.set("expressions", kept)
    return made


def list_window_columns(select: "exp.Select") -> "dict[str, list[tuple[str, exp.Expr]]]":
    """The columns that tables of windows have besides those of their streams, by their aliases.

    Raises:
        SqlRefusal: a table of windows has other arguments.
    """
    from sqlglot import exp

    found: dict[str, list[tuple[str, exp.Expr]]] = {}
    for table in select.copy().find_all(exp.Table):
        if (call := _call_of(table)) is not None:
            alias, kind, given = _read(table, call)
            found[alias] = [
                (name, exp.Anonymous(this=kind + end, expressions=[g.copy() for g in given]))
                for name, end in _ENDS.items()
            ]
    return found


def open_overlapping(table: "exp.Expr") -> "tuple[str, str, list[exp.Expr]] | None":
    """Put the stream in the place of a table of windows that overlap, in place: its alias, the kind
    of windows, and the arguments of a bucket of its timestamp (None: it is no such table).

    Raises:
        SqlRefusal: it has other arguments.
    """
    call = _call_of(table)
    return None if call is None or call.name.upper() == "TUMBLE" else _read(table, call)


def _call_of(table: "exp.Expr") -> "exp.Anonymous | None":
    """The function that a table of FROM is, if it is one of windows."""
    from sqlglot import exp

    call = table.this
    if isinstance(call, exp.Anonymous) and call.name.upper() == "TABLE" and call.expressions:
        call = call.expressions[0]
    known = isinstance(call, exp.Anonymous) and call.name.upper() in _ARGUMENTS
    return call if known else None


def _read(table: "exp.Expr", call: "exp.Expr") -> "tuple[str, str, list[exp.Expr]]":
    """Put the stream in the place of a table of windows: its alias, the kind of windows, and the
    arguments of a bucket of its timestamp."""
    from sqlglot import exp

    kind = call.name.upper()
    named = dict(zip(_ARGUMENTS[kind], call.expressions, strict=False))
    if any(isinstance(e, exp.Kwarg) for e in call.expressions):
        named = {e.this.name.upper(): e.expression for e in call.expressions if e.key == "kwarg"}
    data, time = named.get("DATA"), named.get("TIMECOL")
    given = [named[n] for n in _ARGUMENTS[kind][2:] if n in named]
    fits = set(_ARGUMENTS[kind][:-1]) <= named.keys() and len(named) == len(call.expressions)
    is_time = isinstance(time, exp.Anonymous) and time.name.upper() == "DESCRIPTOR"
    times = time.expressions if time is not None and is_time else []
    if isinstance(time, exp.Column) and not isinstance(time.this, exp.Star):
        times = [time]  # TUMBLE(s, ts, INTERVAL '1' HOUR), as RisingWave has it
    if not fits or not isinstance(data, exp.Column) or len(times) != 1:
        raise SqlRefusal(
            f"{show_sql(call)} in FROM",
            why="a table of windows is of a stream, its timestamp, and one or two INTERVALs",
            fix="write e.g. TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)), or "
            "HOP(TABLE s, DESCRIPTOR(ts), slide, size), CUMULATE(TABLE s, DESCRIPTOR(ts), step, "
            "size)",
            line=line_of(call),
        )
    table.set("this", data.this.copy())
    if data.args.get("table") is not None:
        table.set("db", data.args["table"].copy())
    alias = table.alias or table.name
    column = times[0].copy()
    column.set("table", exp.to_identifier(alias, quoted=True))
    return alias, kind, [column, *given]
