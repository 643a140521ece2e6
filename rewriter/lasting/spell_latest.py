"""The latest rows of keys that came so long before NOW(): those of whose key none is recent."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.rewriter.earlier.expand_stars import expand_stars
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.lasting.list_dated import list_dated
from ontoweir.rewriter.lasting.read_delay import read_delay
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_ROWS = {"expressions", "from_", "where", "qualify"}
_RECENT = "a recent row"


def spell_latest(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`FROM (SELECT k, ts … FROM s QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1) AS x
    WHERE NOT EXISTS (SELECT 1 FROM s AS y WHERE y.k = x.k AND NOT y.ts < NOW() - …)` for the same
    `WHERE x.ts < NOW() - …`, also by ROW_NUMBER() where a key says that there is one row; others
    stay as they are. The latest row of a key is so old if and only if all are.

    Args:
        tree: the query, whose names are as they were written; it is not changed.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for select, item in list_dated(made):
        inner = item.this if isinstance(item, exp.Subquery) and is_plain(item) else None
        if not isinstance(inner, exp.Select) or not item.alias:
            continue
        if any(e.is_star for e in inner.expressions) and isinstance(_first(inner), exp.Table):
            with suppress(SqlRefusal):  # it is said where it is read
                expand_stars(inner, catalog, "a latest row")
        _qualify(select, inner, item.alias)
        found = _read_latest(inner, catalog)
        recent = None if found is None else _ask_recent(select, inner, item.alias, *found)
        if found is not None and recent is not None:
            late = [_of_stream(c, found[0]) for c in recent.late]
            if read_delay(late, _RECENT, found[0], catalog) is not None:
                recent.put(select)
    return made


def _first(select: "exp.Select") -> "exp.Expr | None":
    start = select.args.get("from_")
    return None if start is None else start.this


def _qualify(select: "exp.Select", inner: "exp.Select", alias: str) -> None:
    """QUALIFY in a subquery for its number that WHERE says to be 1, and nothing else reads; in
    place."""
    from sqlglot import exp

    numbers = [e for e in inner.expressions if isinstance(e.unalias(), exp.Window)]
    if len(numbers) != 1 or inner.args.get("qualify") or not numbers[0].alias:
        return
    name = numbers[0].alias.lower()
    own = [c for c in list_own(select, exp.Column) if isinstance(c, exp.Column)]
    read = [c for c in own if c.name.lower() == name]
    said = list(split_conjuncts(select.args["where"].this))
    one = exp.Literal.number(1)
    first = [c for c in said if isinstance(c, exp.EQ) and one in (c.this, c.expression)]
    first = [c for c in first if [*c.find_all(exp.Column)] == read]
    if len(read) != 1 or len(first) != 1 or read[0].table.lower() not in ("", alias.lower()):
        return
    kept = [c.copy() for c in said if c is not first[0]]
    window = numbers[0].unalias().copy()
    inner.set("expressions", [e for e in inner.expressions if e is not numbers[0]])
    inner.set("qualify", exp.Qualify(this=exp.EQ(this=window, expression=one.copy())))
    select.set("where", None)
    select.where(*kept, copy=False)


@dataclass(frozen=True, slots=True)
class _Recent:
    """`late`: what WHERE says of the latest rows and NOW(); `kept`: what else; `rows`: of the same
    stream, of which the former is not said yet."""

    late: "list[exp.Expr]"
    kept: "list[exp.Expr]"
    rows: "exp.Select"
    stream: Stream

    def put(self, select: "exp.Select") -> None:
        """Say of recent rows that there is none, in place."""
        from sqlglot import exp

        late = [exp.Not(this=exp.Paren(this=_of_stream(c, self.stream))) for c in self.late]
        recent = self.rows.where(*late)
        select.set("where", None)
        select.where(*self.kept, exp.Not(this=exp.Exists(this=recent)), copy=False)


def _of_stream(condition: "exp.Expr", stream: Stream) -> "exp.Expr":
    """What is said of the time of a latest row, of that of a recent one."""
    from sqlglot import exp

    holder = exp.Paren(this=condition.copy())
    for column in list(holder.find_all(exp.Column)):
        column.replace(exp.column(stream.timestamp, _RECENT, quoted=True))
    made: exp.Expr = holder.this
    return made


def _ask_recent(
    select: "exp.Select", inner: "exp.Select", alias: str, stream: Stream, keys: list[str]
) -> _Recent | None:
    """The rows of the key of a latest one (None: it does not show its key and time, or nothing is
    said of the latter and NOW())."""
    from sqlglot import exp

    columns = column_names(stream)
    shown = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    plain = {n: find_name(e.name, columns) for n, e in shown.items() if isinstance(e, exp.Column)}
    named = {column: name for name, column in plain.items() if column is not None}
    if any(e.is_star for e in inner.expressions) or not {*keys, stream.timestamp} <= named.keys():
        return None
    aliases, time = [alias.lower(), ""], named[stream.timestamp]
    mine = {(a, time) for a in aliases[: 1 if select.args.get("joins") else 2]}

    def is_late(condition: "exp.Expr") -> bool:
        read = {(c.table.lower(), c.name.lower()) for c in condition.find_all(exp.Column)}
        return any(map(is_now, condition.walk())) and bool(read) and read <= mine

    conjuncts = list(split_conjuncts(select.args["where"].this))
    late = [c for c in conjuncts if is_late(c)]
    if len(late) != 1:
        return None
    table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
    table.set("alias", exp.TableAlias(this=exp.to_identifier(_RECENT, quoted=True)))
    rows = exp.Select(expressions=[exp.Literal.number(1)]).from_(table)
    for key in keys:
        sides = exp.column(key, _RECENT, quoted=True), exp.column(named[key], alias, quoted=True)
        rows.where(exp.EQ(this=sides[0], expression=sides[1]), copy=False)
    where = inner.args.get("where")
    said = [] if where is None else list(split_conjuncts(where.this))
    holder = exp.Select(expressions=[exp.Paren(this=c.copy()) for c in said])
    for column in list(holder.find_all(exp.Column)):
        name = find_name(column.name, columns) or column.name
        column.replace(exp.column(name, _RECENT, quoted=True))
    rows.where(*(p.this for p in holder.expressions), copy=False)
    return _Recent(late, [c.copy() for c in conjuncts if c not in late], rows, stream)


def _read_latest(inner: "exp.Select", catalog: Catalog) -> tuple[Stream, list[str]] | None:
    """The stream, and key, of which a SELECT shows the latest row (None: it is something else)."""
    from sqlglot import exp

    start, qualify = inner.args.get("from_"), inner.args.get("qualify")
    if start is None or qualify is None or {k for k, v in inner.args.items() if v} - _ROWS:
        return None
    name = find_name(start.this.name, catalog.streams)
    stream = None if name is None else catalog.streams[name]
    if stream is None or stream.versions or not isinstance(start.this, exp.Table):
        return None
    first = qualify.this.unnest()
    window = first.this if isinstance(first, exp.EQ) else None
    if not isinstance(window, exp.Window) or first.expression != exp.Literal.number(1):
        return None
    if any(node is not inner for node in inner.find_all(exp.Query)):
        return None
    order = window.args.get("order")
    by = order.expressions if order is not None else []
    parts = window.args.get("partition_by") or []
    columns = column_names(stream)
    keys = [find_name(p.name, columns) for p in parts if isinstance(p, exp.Column)]
    latest = len(by) == 1 and by[0].args.get("desc") and isinstance(by[0].this, exp.Column)
    if not latest or by[0].this.name.lower() != stream.timestamp.lower() or not parts:
        return None
    known = [stream.column(k) if k else None for k in keys]
    where = inner.args.get("where")
    told = (
        [] if where is None else [c for c in split_conjuncts(where.this) if isinstance(c, exp.Not)]
    )
    there = {c.this.this.name.lower() for c in told if isinstance(c.this, exp.Is)}
    if len(keys) < len(parts) or any(c is None for c in known):
        return None
    named = [c.name for c in known if c is not None]
    if any(c is not None and c.nullable and c.name.lower() not in there for c in known):
        return None
    alone = any({*k} <= {*named, stream.timestamp} for k in stream.keys)
    ranked = isinstance(window.this, exp.Rank | exp.DenseRank)
    if not ranked and not (isinstance(window.this, exp.RowNumber) and alone):
        return None
    return stream, named
