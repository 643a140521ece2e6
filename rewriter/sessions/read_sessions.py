"""Sessions of rows: `GROUP BY user, session_window(ts, '30 minutes')`.

A session of a key is a run of its rows, each at most a while after the one before. It is read as
groups by the key, which begin anew after a gap (`Session`); where a session begins and ends is the
least and the greatest time of its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import is_column, mean_group
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.sessions.name_spark_windows import read_length
from ontoweir.rewriter.windows.read_sql_grid import read_interval

if TYPE_CHECKING:
    from sqlglot import exp

_WHY = "a session is a run of rows of one key, each at most a gap after the one before"
_FIX = (
    "write SELECT k, session_window.start, session_window.end, COUNT(*) … GROUP BY k, "
    "session_window(ts, '30 minutes'); or FROM TABLE(SESSION(TABLE s PARTITION BY k, "
    "DESCRIPTOR(ts), INTERVAL '30' MINUTE)) GROUP BY k, window_start, window_end"
)
_CALLS = ("SESSION", "SESSION_WINDOW")
_PARTS = ("start", "end")


@dataclass(frozen=True, slots=True)
class SqlSession:
    """Sessions by a time, a column less an INTERVAL, with a gap (µs), of what is grouped by."""

    time: "exp.Expr"
    gap_us: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """How a SELECT asks for sessions: `SESSION(ts, gap)`; `names`: what they are called (of a table
    of FROM, its alias); `alone`: which of these no column is called; `table`: whether they are a
    table of FROM, and `keys`: the columns that it is divided by."""

    call: "exp.Anonymous"
    names: tuple[str, ...]
    alone: tuple[str, ...] = ()
    table: bool = False
    keys: tuple[str, ...] = ()

    def means(self, node: "exp.Expr") -> str | None:
        """Whether it is where a session starts, or where it ends, or a whole session (None: it is
        something else)."""
        from sqlglot import exp

        if isinstance(node, exp.Dot):
            part = node.expression.name.lower()
            return part if _is_call(node.this) and part in _PARTS else None
        if isinstance(node, exp.Anonymous):
            name = node.name.upper()
            ends = {"SESSION_START": "start", "SESSION_END": "end"}
            return "whole" if name in _CALLS else ends.get(name)
        if not isinstance(node, exp.Column):
            return None
        of, name = node.table.lower(), node.name.lower()
        if self.table:
            part = name.removeprefix("window_")
            return part if of in ("", *self.names) and part in _PARTS and part != name else None
        if of in self.names and name in _PARTS:
            return name
        return "whole" if not of and name in self.alone else None


def name_sessions(select: "exp.Select", catalog: Catalog) -> None:
    """Write `SESSION(ts, gap)` in GROUP BY in the place of each way to ask for sessions, and the
    least and greatest times for where they begin and end; in place. One that is selected whole is
    its two parts, as answers have no structs. A name that a table has is its column.

    Raises:
        SqlRefusal: it has other arguments, or is not grouped by, or there are several; a table of
            sessions is filtered or joined, or grouped by other columns than its keys.
    """
    from sqlglot import exp

    asked = _open_table(select) or _find_call(select, catalog)
    if asked is None:
        return
    group, scope = select.args.get("group"), list_tables(select, catalog)
    items = [
        mean_group(item, select, scope) if isinstance(item, exp.Literal) else item
        for item in (() if group is None else group.expressions)
    ]
    kept = [item.copy() for item in items if asked.means(item) is None]
    if len(kept) == len(items):
        raise _refuse(asked.call, "sessions that are not grouped by")
    kept = [item for item in kept if not isinstance(item, exp.Literal)]  # a constant, by its place
    if asked.table:
        _check_table(select, asked, kept)
    if select.args.get("distinct") is not None:
        _drop_distinct(select, asked, kept)
    select.set("group", exp.Group(expressions=[*kept, asked.call.copy()]))
    select.set("expressions", [one for item in select.expressions for one in _open(item, asked)])
    for node in list_own(select, exp.Expr):
        part = asked.means(node)
        if part not in _PARTS or node.find_ancestor(exp.Group):
            continue
        name = node.name if isinstance(node, exp.Column) else part
        bound = _bound(asked.call, part)
        in_select = node.parent is select and node.arg_key == "expressions"
        node.replace(exp.alias_(bound, name, quoted=True) if in_select else bound)


def _drop_distinct(select: "exp.Select", asked: _Asked, keys: "Sequence[exp.Expr]") -> None:
    """Take DISTINCT away, in place, where all that tells sessions apart is shown."""
    shown = [item.unalias() for item in select.expressions]
    names = {item.alias.lower() for item in select.expressions if item.alias}
    timed = any(asked.means(item) is not None for item in shown)
    if not timed or not all(k in shown or k.sql("spark").lower() in names for k in keys):
        raise SqlRefusal(
            "DISTINCT beside sessions, without what tells them apart",
            why="several sessions may show the same",
            fix="select where they start, and all columns of GROUP BY, and leave DISTINCT out; or "
            "write SELECT DISTINCT … FROM (SELECT … GROUP BY …) AS x",
            line=line_of(select),
        )
    select.set("distinct", None)


def _check_table(select: "exp.Select", asked: _Asked, kept: "Sequence[exp.Expr]") -> None:
    """Nothing, if the groups of a table of sessions are these sessions."""
    if select.args.get("where") is not None or select.args.get("joins"):
        raise SqlRefusal(
            "WHERE, or a join, beside a table of sessions",
            why="sessions there are of all rows of the stream, of which only some would be counted",
            fix="write GROUP BY k, session_window(ts, '30 minutes'): sessions of the rows that are "
            "left",
            line=line_of(asked.call),
        )
    if sorted(item.name.lower() for item in kept) != sorted(asked.keys):
        raise SqlRefusal(
            "a table of sessions that is grouped by other columns than it is divided by",
            why="one group would be a part of a session, or of several",
            fix="name the same columns in PARTITION BY and in GROUP BY, beside window_start and "
            "window_end",
            line=line_of(asked.call),
        )


def take_session(tree: "exp.Query") -> "tuple[exp.Query, SqlSession | None]":
    """A query without its SESSION in GROUP BY; and what this says.

    Raises:
        SqlRefusal: the key is not grouped by; it is no aggregate query of one SELECT.
    """
    from sqlglot import exp

    found = [n for n in tree.find_all(exp.Anonymous) if _is_call(n)]
    if not found:
        return tree, None
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    items = [] if group is None else list(group.expressions)
    mine = [n for n, item in enumerate(items) if _is_call(item)]
    if len(found) != 1 or len(mine) != 1:
        raise _refuse(found[0], "sessions that are not grouped by, or several of them")
    call = items.pop(mine[0])
    time, gap = _read(call)
    tree = tree.copy()
    tree.set("group", exp.Group(expressions=[i.copy() for i in items]) if items else None)
    return tree, SqlSession(time, _length(gap, call))


def _open_table(select: "exp.Select") -> _Asked | None:
    """The call of a table of sessions in FROM, of which its stream takes the place."""
    from sqlglot import exp

    for table in list_own(select, exp.Table):
        call = table.this
        if isinstance(call, exp.Anonymous) and call.name.upper() == "TABLE" and call.expressions:
            call = call.expressions[0]
        if not isinstance(call, exp.Anonymous) or call.name.upper() != "SESSION":
            continue
        named = {e.this.name.upper(): e.expression for e in call.expressions if e.key == "kwarg"}
        plain = [e for e in call.expressions if e.key != "kwarg" and not _is_keys(e)]
        keys = [k for e in call.expressions if _is_keys(e) for k in e.expressions]
        keys = [
            one
            for k in keys
            for one in (k.expressions if isinstance(k, exp.Tuple) else [k.unnest()])
        ]
        data, time, gap = (
            named.get(name) or (plain.pop(0) if plain else None)
            for name in ("DATA", "TIMECOL", "GAP")
        )
        is_time = isinstance(time, exp.Anonymous) and time.name.upper() == "DESCRIPTOR"
        columns = [*(time.expressions if is_time and time is not None else ()), *keys]
        if plain or gap is None or not is_time or not isinstance(data, exp.Column):
            raise _refuse(call, f"{show_sql(call)} in FROM")
        if not all(isinstance(column, exp.Column) for column in columns):
            raise _refuse(call, f"{show_sql(call)} in FROM")
        table.set("this", data.this.copy())
        if data.args.get("table") is not None:
            table.set("db", data.args["table"].copy())
        alias = table.alias or table.name
        column = exp.column(columns[0].name, alias, quoted=True)
        made = exp.Anonymous(this="SESSION", expressions=[column, gap.copy()])
        _read(made)
        names = tuple(key.name.lower() for key in keys)
        return _Asked(made, (alias.lower(),), table=True, keys=names)
    return None


def _find_call(select: "exp.Select", catalog: Catalog) -> _Asked | None:
    """The call that a SELECT has; the names of sessions are Spark's, and those that it gives."""
    from sqlglot import exp

    nodes = list_own(select, exp.Anonymous)
    calls = [node for node in nodes if _is_call(node)]
    if not calls:
        return None
    ends = [n for n in nodes if n.name.upper() in ("SESSION_START", "SESSION_END")]
    time, gap = _read(calls[0])
    if any(_read(one) != (time, gap) for one in (*calls, *ends)):
        raise _refuse(calls[0], "sessions with another time or gap beside")
    given = [i.alias.lower() for i in select.expressions if i.alias and _is_call(i.unalias())]
    names, scope = ("session_window", *given), list_tables(select, catalog)
    made = exp.Anonymous(this="SESSION", expressions=[time.copy(), gap.copy()])
    return _Asked(made, names, tuple(n for n in names if not is_column(n, select, scope)))


def _open(item: "exp.Expr", asked: _Asked) -> "list[exp.Expr]":
    """An item of SELECT; a whole session as its parts."""
    from sqlglot import exp

    if asked.means(item.unalias()) != "whole":
        return [item]
    name = item.alias if isinstance(item, exp.Alias) else "session_window"
    return [exp.alias_(_bound(asked.call, part), f"{name}_{part}", quoted=True) for part in _PARTS]


def _bound(call: "exp.Expr", part: str) -> "exp.Expr":
    """Where a session starts: at its first row; where it ends: a gap after its last one."""
    from sqlglot import exp

    time, gap = _read(call)
    if part == "start":
        return exp.Min(this=time.copy())
    return exp.Add(this=exp.Max(this=time.copy()), expression=gap.copy())


def _read(call: "exp.Expr") -> "tuple[exp.Expr, exp.Expr]":
    """The time, and the gap as an INTERVAL, of a call."""
    from sqlglot import exp

    given = list(call.expressions)
    gap = read_length(given[1]) if len(given) == 2 else None
    time = given[0].unnest() if given else None
    while isinstance(time, (exp.Add, exp.Sub)) and isinstance(time.expression, exp.Interval):
        time = time.this.unnest()
    if gap is None or not isinstance(time, exp.Column):
        raise _refuse(call, f"{show_sql(call)} of other arguments")
    _length(gap, call)
    return given[0], gap


def _length(gap: "exp.Expr", call: "exp.Expr") -> int:
    length = read_interval(gap)
    if length is None or length <= 0:
        raise _refuse(call, f"the gap {show_sql(gap)}")
    return length


def _is_call(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Anonymous) and node.name.upper() in _CALLS


def _is_keys(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Anonymous) and node.name.upper() == "PARTITION_BY"


def _refuse(node: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(what, why=_WHY, fix=_FIX, line=line_of(node))
