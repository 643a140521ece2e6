"""The latest row of each key, as that beside which there is no later one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import LatestRows, lacks_values, replaced, resolve

if TYPE_CHECKING:
    from sqlglot import exp


def read_later(tree: "exp.Select", catalog: Catalog) -> LatestRows | None:
    """NOT EXISTS (SELECT … a later row of the same key), at any time later."""
    from sqlglot import exp

    where = tree.args.get("where")
    if where is None or aggregates(tree) or tree.args.get("distinct"):
        return None
    conjuncts = list(split_conjuncts(where.this))
    absent = [
        c.this.this for c in conjuncts if isinstance(c, exp.Not) and isinstance(c.this, exp.Exists)
    ]
    if len(absent) != 1 or not isinstance(absent[0], exp.Select) or not tree.args.get("from_"):
        return None
    inner = absent[0]
    rest = [c for c in conjuncts if not isinstance(c, exp.Not) or c.this.this is not inner]
    if any(c.find(exp.Query) for c in rest):
        return None  # what else there must be chooses among the latest, not among all rows
    rows = tree.copy()
    rows.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    items = [rows.args["from_"].this, *(j.this for j in rows.args.get("joins") or ())]
    if len(items) != 1 or inner.args.get("joins") or inner.args.get("from_") is None:
        return None
    mine, theirs = items[0], inner.args["from_"].this
    if not isinstance(mine, exp.Table) or not isinstance(theirs, exp.Table):
        return None
    if mine.name.lower() != theirs.name.lower():
        return None
    stream = catalog.streams.get(find_name(mine.name, catalog.streams) or "")
    if stream is None or stream.versions is not None:
        return None
    one, other = mine.alias_or_name, theirs.alias_or_name
    key, local, later = [], [], False
    inside = inner.args.get("where")
    for condition in split_conjuncts(inside.this) if inside is not None else ():
        sides = _sides(condition, stream, one, other)
        if sides is None:
            local.append(condition)
        elif sides == (exp.EQ, sides[1], sides[1]):
            key.append(sides[1])
        elif sides == (exp.GT, stream.timestamp, stream.timestamp):
            later = True
        else:
            return None
    said = [c for c in local if not _is_there(c, other, key)]
    renamed = {c.sql("spark", normalize=True) for c in map(_strip(other), said)}
    valued = [c for c in rest if not _is_there(c, one, key)]
    own = {c.sql("spark", normalize=True) for c in map(_strip(one), valued)}
    if not later or not key or renamed != own:
        return None
    scope, _, _ = read_from(rows.copy(), catalog)
    shown = {resolve(scope, e.unalias()) for e in rows.expressions}
    if not {(one, n) for n in key} <= shown and not any(e.is_star for e in rows.expressions):
        return None
    if lacks_values(stream, one, key, rows, scope):
        return None  # rows without a key have none after them, and stand for ever
    return replaced(rows, [(one, n) for n in key], scope, inner)


def _is_there(condition: "exp.Expr", alias: str, key: "list[str]") -> bool:
    """Whether it says that a column of the key has a value, as no row is equal to one without."""
    from sqlglot import exp

    inner = condition.unnest()
    said = inner.this.unnest() if isinstance(inner, exp.Not) else None
    if not isinstance(said, exp.Is) or said.expression != exp.Null():
        return False
    column = said.this.unnest()
    if not isinstance(column, exp.Column) or column.table.lower() not in ("", alias.lower()):
        return False
    return column.name.lower() in {name.lower() for name in key}


def rank_greatest(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """QUALIFY RANK() OVER (PARTITION BY key ORDER BY x DESC) = 1 for NOT EXISTS (SELECT … a row of
    the same key with a greater x), or a lesser one; else the query as it is.

    A row in which x, or the key, is NULL has no such row beside it, and is none beside others: it
    is said only of columns that are selected, and not declared `nullable`, so that rows where they
    are NULL are no answers.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    where, start = tree.args.get("where"), tree.args.get("from_")
    mine = None if start is None else start.this
    if {k for k, v in tree.args.items() if v} != {"expressions", "from_", "where"}:
        return tree
    if not isinstance(mine, exp.Table) or aggregates(tree) or where is None:
        return tree
    stream = catalog.streams.get(find_name(mine.name, catalog.streams) or "")
    said = list(split_conjuncts(where.this))
    absent = [c for c in said if isinstance(c, exp.Not) and isinstance(c.this, exp.Exists)]
    rest = [c for c in said if c not in absent]
    inner = absent[0].this.this if len(absent) == 1 else None
    if stream is None or stream.versions is not None or not isinstance(inner, exp.Select):
        return tree
    theirs = inner.args["from_"].this if inner.args.get("from_") is not None else None
    if {k for k, v in inner.args.items() if v} != {"expressions", "from_", "where"}:
        return tree
    if not isinstance(theirs, exp.Table) or theirs.name.lower() != mine.name.lower():
        return tree
    one, other = mine.alias_or_name, theirs.alias_or_name
    if one.lower() == other.lower() or any(c.find(exp.Query) for c in rest):
        return tree
    key: list[str] = []
    order: list[tuple[str, bool]] = []
    local: list[exp.Expr] = []
    for condition in split_conjuncts(inner.args["where"].this):
        sides = _sides(condition, stream, one, other)
        if sides is None:
            local.append(condition)
        elif sides == (exp.EQ, sides[1], sides[1]):
            key.append(sides[1])
        elif sides[0] in (exp.GT, exp.LT) and sides[1] == sides[2] != stream.timestamp:
            order.append((sides[1], sides[0] is exp.GT))
        else:
            return tree
    renamed = {c.sql("spark", normalize=True) for c in map(_strip(other), local)}
    if len(order) != 1 or renamed != {
        c.sql("spark", normalize=True) for c in map(_strip(one), rest)
    }:
        return tree
    ((value, down),) = order
    shown = {find_name(e.unalias().name, [c.name for c in stream.columns]) for e in tree.selects}
    columns = {c.name: c for c in stream.columns}
    if any(n not in shown or n not in columns or columns[n].nullable for n in (value, *key)):
        return tree
    made = tree.copy()
    made.set("where", exp.Where(this=exp.and_(*(c.copy() for c in rest))) if rest else None)
    window = exp.Window(
        this=exp.Rank(),
        partition_by=[exp.column(n, one, quoted=True) for n in key],
        order=exp.Order(
            expressions=[exp.Ordered(this=exp.column(value, one, quoted=True), desc=down)]
        ),
    )
    for name in (value, *key):
        null = exp.Is(this=exp.column(name, one, quoted=True), expression=exp.Null())
        made.where(exp.Not(this=null), copy=False)
    one_number = exp.EQ(this=window, expression=exp.Literal.number(1))
    made.set("qualify", exp.Qualify(this=one_number))
    return made


def _sides(
    condition: "exp.Expr", stream: Stream, one: str, other: str
) -> "tuple[type[exp.Expr], str, str] | None":
    """A comparison of a row with another one, as of the other with the row (None: it is of one)."""
    from sqlglot import exp

    if not isinstance(condition, exp.Binary):
        return None
    left, right = condition.this, condition.expression
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return None
    kind: type[exp.Expr] = type(condition)
    if (left.table.lower(), right.table.lower()) == (one.lower(), other.lower()):
        left, right = right, left
        turned: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.GT: exp.LT}
        kind = turned.get(kind, kind)
    if (left.table.lower(), right.table.lower()) != (other.lower(), one.lower()):
        return None
    known = [stream.timestamp, *(c.name for c in stream.columns)]
    names = [find_name(c.name, known) for c in (left, right)]
    return None if None in names else (kind, str(names[0]), str(names[1]))


def _strip(alias: str) -> "Callable[[exp.Expr], exp.Expr]":
    """Conditions without the alias of their table."""
    from sqlglot import exp

    def strip(tree: "exp.Expr") -> "exp.Expr":
        made = tree.copy()
        for column in made.find_all(exp.Column):
            if column.table.lower() == alias.lower():
                column.set("table", None)
        return made

    return strip
