"""The latest rows of a stream UNION ALL the rows of static relations that it has none of."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.beside.pad_latest import HIDDEN, KEY, THERE, TIME, stand_latest
from ontoweir.rewriter.differences.name_columns import (
    is_known,
    is_once,
    is_static,
    name_tables,
    qualify,
)
from ontoweir.rewriter.differences.rows_beside import inside_of, read_part
from ontoweir.rewriter.differences.since_first import FIRST, from_first
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_latest import read_latest
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.registers.name_presence import name_presence
from ontoweir.rewriter.registers.open_rows import open_rows

if TYPE_CHECKING:
    from sqlglot import exp


def unite_never(
    tree: "exp.Query",
    catalog: Catalog,
    settle: "Callable[[exp.Query, Catalog], exp.Query]",
    read: "Callable[[exp.Query, NullPlaces], SpjUnion]",
) -> SpjUnion | None:
    """The latest row of each key UNION ALL SELECT … FROM r WHERE NOT EXISTS (a row of the key), as
    rows of which the first of each key holds: a row of the relation from the first timestamp on,
    until one of the stream with its key comes (None: it is something else).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        settle: a query in the words that are read.
        read: reads a query of which the columns at some places may be NULL.
    """
    from sqlglot import exp

    if type(tree) is not exp.Union or tree.args.get("distinct"):
        return None
    if any(tree.args.get(k) for k in ("limit", "offset", "order", "with_", "by_name")):
        return None
    sides = [tree.this.unnest(), tree.expression.unnest()]
    if not all(isinstance(s, exp.Select) for s in sides):
        return None
    never = next((s for s in sides if _is_register(s, catalog)), None)
    if never is None:
        return None
    other = next(s for s in sides if s is not never)
    if not other.find(exp.Window, exp.Exists, exp.Subquery, exp.AggFunc):
        return None
    latest = read_latest(settle(other.copy(), catalog), catalog)
    if latest.key is None or not isinstance(latest.tree, exp.Select):
        return None
    rows, keys = latest.tree, [latest.tree.expressions[n].unalias() for n in latest.key]
    scope = list_tables(rows, catalog)
    ((alias, stream),) = scope.tables.items()
    assert isinstance(stream, Stream)
    name_tables(rows, scope)
    keys = [k for e in keys if (k := qualify(e, scope)) is not None]
    found = _read_never(never, (rows, alias, stream), keys, catalog)
    if found is None:
        return None
    own, tables, equal = found
    known = {*(k.name for k in keys), stream.timestamp}
    once = is_once(tables, equal)
    single = next((k for k in stream.keys if set(k) <= known), None) if once else None
    first = from_first(own, [stream], catalog)
    time = exp.column(stream.timestamp, alias, quoted=True)
    hidden = ((keys, 1, time), (equal, 0, exp.column(FIRST, FIRST, quoted=True)))
    for select, (by, there, at) in zip((rows, first), hidden, strict=True):
        for number, key in enumerate(by):
            select.append("expressions", exp.alias_(key.copy(), f"{KEY} {number + 1}", quoted=True))
        mark = exp.Case(
            ifs=[
                exp.If(
                    this=exp.Is(this=at.copy(), expression=exp.Null()),
                    true=exp.Literal.number(2),
                )
            ],
            default=exp.Literal.number(there),
        )
        select.append("expressions", exp.alias_(mark, THERE, quoted=True))
        select.append("expressions", exp.alias_(at.copy(), TIME, quoted=True))
    width = len(rows.expressions)
    if len(first.expressions) != width:
        return None
    union = read(
        exp.union(rows, first, distinct=False, copy=False),
        NullPlaces(shown=frozenset(range(width))),
    )
    named = {n: n for n in union.variables if n.startswith(HIDDEN)}
    return replace(union, standing=stand_latest(named, len(keys), single, told=False))


def _is_register(select: "exp.Expr", catalog: Catalog) -> bool:
    """Whether it is of static relations."""
    from sqlglot import exp

    if not isinstance(select, exp.Select):
        return False
    tables = list_tables(select, catalog)
    first = select.args.get("from_")
    name = None if first is None else first.this.alias_or_name
    return (
        bool(tables.tables)
        and name in tables.tables
        and not isinstance(tables.tables[name], Stream)
    )


def _read_never(
    never: "exp.Select",
    latest: "tuple[exp.Select, str, Stream]",
    keys: "list[exp.Expr]",
    catalog: Catalog,
) -> "tuple[exp.Select, Scope, list[exp.Expr]] | None":
    """The rows of relations, their tables, and what equals the keys of those that they have none
    of (None: these are other ones, or the columns may be NULL)."""
    from sqlglot import exp

    rows, alias, stream = latest
    made = name_presence(open_rows(never, catalog), catalog)
    where, scope = made.args.get("where"), None
    if not isinstance(made, exp.Select) or where is None:
        return None
    scope = list_tables(made, catalog)
    allowed = {"expressions", "from_", "where", "joins"}
    if {k for k, v in made.args.items() if v} - allowed:
        return None
    if not is_known(made, scope) or not is_static(scope):
        return None
    conjuncts = list(split_conjuncts(where.this))
    asked = [c for c in conjuncts if c.find(exp.Query)]
    if len(asked) != 1 or inside_of(asked[0]) is None or not isinstance(asked[0].unnest(), exp.Not):
        return None
    part = read_part(asked[0], scope, catalog)
    if part is None or [t.name for t in part.scope.tables.values()] != [stream.name]:
        return None
    (own_alias,) = part.scope.tables
    inside = part.inner.args.get("where")
    equal: dict[str, exp.Expr] = {}
    local: set[str] = set()
    for one in [] if inside is None else split_conjuncts(inside.this):
        around = [c for c in one.find_all(exp.Column) if resolve(part.scope, c) is None]
        if not around:
            said = qualify(one, part.scope)
            local.add("" if said is None else _plain(said, own_alias))
            continue
        pair = [one.this.unnest(), one.expression.unnest()] if isinstance(one, exp.EQ) else []
        mine = [q for s in pair if (q := qualify(s, part.scope)) and isinstance(q, exp.Column)]
        others = [q for s in pair if resolve(part.scope, s) is None and (q := qualify(s, scope))]
        if len(mine) != 1 or len(others) != 1 or not isinstance(others[0], exp.Column):
            return None
        equal[mine[0].name] = others[0]
    held = rows.args.get("where")
    conditions = [] if held is None else list(split_conjuncts(held.this))
    asked_of = {_plain(c, alias) for c in conditions if not _is_there(c, keys)}
    if local != asked_of or equal.keys() != {k.name for k in keys}:
        return None
    name_tables(made, scope)
    rest = [c for c in split_conjuncts(made.args["where"].this) if not c.find(exp.Query)]
    made.set("where", exp.Where(this=exp.and_(*(c.copy() for c in rest))) if rest else None)
    listed = [equal[k.name] for k in keys]
    columns = [scope.tables[c.table].column(c.name) for c in listed if isinstance(c, exp.Column)]
    return None if any(c is None or c.nullable for c in columns) else (made, scope, listed)


def _is_there(condition: "exp.Expr", keys: "list[exp.Expr]") -> bool:
    """Whether it says that a column of the key has a value, as one that equals another has."""
    from sqlglot import exp

    inner = condition.unnest()
    said = inner.this.unnest() if isinstance(inner, exp.Not) else None
    return isinstance(said, exp.Is) and said.expression == exp.Null() and said.this in keys


def _plain(condition: "exp.Expr", alias: str) -> str:
    """A condition whose columns have no table."""
    from sqlglot import exp

    made = condition.copy()
    for column in made.find_all(exp.Column):
        if column.table == alias:
            column.set("table", None)
    return str(made.sql("spark", normalize=True))
