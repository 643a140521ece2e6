"""Joins of rows in windows with the latest row of each key, which later ones replace."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.differences.count_rows import COUNT, ONE_EACH, Side, count_rows, is_plain
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_latest import read_latest
from ontoweir.rewriter.windows.rows_leave import is_windowed

if TYPE_CHECKING:
    from sqlglot import exp

_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class _Latest:
    """The join with latest rows: the `join`, how it is called, the `rows` of which each replaces
    the one before of its `keys`, as columns of their stream, its timestamp, and which of its
    columns each is that they show."""

    join: "exp.Expr"
    alias: str
    rows: "exp.Select"
    stamp: str
    keys: tuple[str, ...]
    names: dict[str, str]


def join_replaced(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of rows of one stream in a window, joined with the latest row of each key of
    another, as groups of what its rows show; another query as it is.

    A row meets the latest one of its own time, and from then on each later one, in the place of the
    one before: what is shown of the row before each is taken away, and none is that was not there.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not is_plain(tree, "distinct"):
        return tree
    if not is_windowed(tree):
        return tree
    scope = list_tables(tree, catalog)
    streams = [(a, t) for a, t in scope.tables.items() if isinstance(t, Stream)]
    found = [one for j in tree.args.get("joins") or () if (one := _read_join(j, catalog))]
    if len(streams) != 1 or len(found) != 1:
        return tree
    if len(scope.tables) != len(tree.args.get("joins") or ()):
        return tree
    (own, stream), latest, written = streams[0], found[0], tree
    place = list(tree.args["joins"]).index(latest.join)
    shown = [e.alias_or_name for e in tree.expressions]
    tree = tree.copy()
    latest = replace(latest, join=tree.args["joins"][place])
    for column in list(tree.find_all(exp.Column)):
        if column.find_ancestor(exp.Select) is not tree:
            continue
        at, name = resolve(scope, column), column.name.lower()
        mine = not column.table or column.table.lower() == latest.alias.lower()
        if mine and name in latest.names and (column.table or at is None):
            at = (latest.alias, latest.names[name])
        if at is None:
            return written
        column.set("this", exp.to_identifier(at[1], quoted=True))
        column.set("table", exp.to_identifier(at[0], quoted=True))
    columns = tuple(e.unalias().copy() for e in tree.expressions)
    if latest.stamp in latest.names.values() or any(e.find(exp.Column) is None for e in columns):
        return written
    if set(_equated(latest)) != set(latest.keys):  # the latest one of these is no row of a key
        return written
    time = exp.column(stream.timestamp, own, quoted=True)
    first = _put(tree, latest, _dated(latest), time, asof=True)
    later = _put(tree, latest, _dated(latest), time, asof=False)
    before = _put(tree, latest, _preceding(latest), time, asof=False)
    sides = [Side(first, columns, 1), Side(later, columns, 1), Side(before, columns, -1)]
    total = f"SUM(`{COUNT}`)"
    made = count_rows(sides, shown, f"{total} > 0", None if tree.args.get("distinct") else total)
    made.meta[ONE_EACH] = True
    return made


def _read_join(join: "exp.Expr", catalog: Catalog) -> _Latest | None:
    """A join with the latest row of each key of a stream (None: it is another one)."""
    from sqlglot import exp

    item = join.this
    if not isinstance(item, exp.Subquery) or not item.alias or join.args.get("on") is None:
        return None
    if not isinstance(item.this, exp.Select) or not item.this.find(exp.Window):
        return None
    try:
        found = read_latest(item.this.copy(), catalog)
    except SqlRefusal:
        return None  # it is refused where it is read
    rows = found.tree
    if found.key is None or not is_plain(rows) or not isinstance(rows, exp.Select):
        return None
    streams = [(a, t) for a, t in list_tables(rows, catalog).tables.items()]
    if len(streams) != 1 or not isinstance(streams[0][1], Stream) or rows.args.get("joins"):
        return None
    scope = list_tables(rows, catalog)
    of = {e.alias_or_name.lower(): resolve(scope, e.unalias()) for e in rows.expressions}
    keys = [resolve(scope, rows.selects[n].unalias()) for n in found.key]
    if any(c is None for c in (*of.values(), *keys)) or len(of) < len(rows.expressions):
        return None
    names = {name: column[1] for name, column in of.items() if column is not None}
    key = tuple(column[1] for column in keys if column is not None)
    rows.set("expressions", [exp.column(c, quoted=True) for c in dict.fromkeys(names.values())])
    return _Latest(join, item.alias, rows, streams[0][1].timestamp, key, names)


def _dated(latest: _Latest) -> "exp.Select":
    """The rows with their time."""
    from sqlglot import exp

    made = latest.rows.copy()
    if latest.stamp not in latest.names.values():
        made.append("expressions", exp.column(latest.stamp, quoted=True))
    return made


def _preceding(latest: _Latest) -> "exp.Select":
    """What the row before each shows, with the time of the row, where there is one before."""
    from sqlglot import exp

    def before(name: str) -> "exp.Expr":
        return exp.Window(
            this=exp.Lag(this=exp.column(name, quoted=True)),
            partition_by=[exp.column(k, quoted=True) for k in latest.keys],
            order=exp.Order(expressions=[exp.Ordered(this=exp.column(latest.stamp, quoted=True))]),
        )

    made = latest.rows.copy()
    shown = [exp.alias_(before(latest.keys[0]), _BEFORE, quoted=True)]
    for item in _dated(latest).expressions:
        kept = item.name in latest.keys or item.name == latest.stamp
        shown.append(item if kept else exp.alias_(before(item.name), item.name, quoted=True))
    made.set("expressions", shown)
    alias = exp.TableAlias(this=exp.to_identifier("rows before", quoted=True))
    outer = exp.Select(from_=exp.From(this=exp.Subquery(this=made, alias=alias)))
    for item in _dated(latest).expressions:
        outer.append("expressions", exp.column(item.name, quoted=True))
    there = exp.Not(this=exp.Is(this=exp.column(_BEFORE, quoted=True), expression=exp.Null()))
    outer.set("where", exp.Where(this=there))
    return outer


def _put(
    tree: "exp.Query",
    latest: _Latest,
    rows: "exp.Select",
    time: "exp.Expr",
    *,
    asof: bool,
) -> "exp.Select":
    """The SELECT joined with other rows in the place of the latest ones, whose time is compared."""
    from sqlglot import exp

    place = list(tree.args["joins"]).index(latest.join)
    made: exp.Select = tree.copy()  # type: ignore[assignment]
    join = made.args["joins"][place]
    alias = exp.TableAlias(this=exp.to_identifier(latest.alias, quoted=True))
    join.set("this", exp.Subquery(this=rows, alias=alias))
    conjuncts = list(split_conjuncts(join.args["on"]))
    keys = _equated(latest)
    own = [c for c in conjuncts if c in keys.values()] if asof else conjuncts
    rest = [c for c in conjuncts if c not in own]
    since = exp.column(latest.stamp, latest.alias, quoted=True)
    dated = (
        exp.GTE(this=time.copy(), expression=since)
        if asof
        else exp.GT(this=since, expression=time.copy())
    )
    join.set("on", exp.and_(*own, dated))
    join.set("kind", None)
    if asof:
        join.set("method", "ASOF")
    if rest:
        made.where(*rest, copy=False)
    return made


def _equated(latest: _Latest) -> "dict[str, exp.Expr]":
    """The conditions of ON by which a key's columns equal others, by column: one for each."""
    from sqlglot import exp

    found: dict[str, exp.Expr] = {}
    for condition in split_conjuncts(latest.join.args["on"]):
        inner = condition.unnest()
        if not isinstance(inner, exp.EQ):
            continue
        sides = (inner.this.unnest(), inner.expression.unnest())
        mine = [s for s in sides if isinstance(s, exp.Column) and s.table == latest.alias]
        plain = len(mine) == 1 and all(isinstance(s, exp.Column) for s in sides)
        if plain and mine[0].name in latest.keys:
            found.setdefault(mine[0].name, condition)
    return found
