"""The latest row of each key, as that beside which there is no later one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import LatestRows, replaced, resolve

if TYPE_CHECKING:
    from sqlglot import exp


def read_later(tree: "exp.Select", catalog: Catalog) -> LatestRows | None:
    """NOT EXISTS (SELECT … a later row of the same key), at any time later."""
    from sqlglot import exp

    where = tree.args.get("where")
    if where is None or tree.args.get("group") or tree.args.get("distinct"):
        return None
    conjuncts = list(split_conjuncts(where.this))
    absent = [
        c.this.this for c in conjuncts if isinstance(c, exp.Not) and isinstance(c.this, exp.Exists)
    ]
    if len(absent) != 1 or not isinstance(absent[0], exp.Select):
        return None
    inner, rest = absent[0], [c for c in conjuncts if not c.find(exp.Exists)]
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
    renamed = {c.sql("spark", normalize=True) for c in map(_strip(other), local)}
    own = {c.sql("spark", normalize=True) for c in map(_strip(one), rest)}
    if not later or not key or renamed != own:
        return None
    scope, _, _ = read_from(rows.copy(), catalog)
    shown = {resolve(scope, e.unalias()) for e in rows.expressions}
    if not {(one, n) for n in key} <= shown and not any(e.is_star for e in rows.expressions):
        return None
    for name in key:
        rows.where(
            exp.Not(this=exp.Is(this=exp.column(name, one, quoted=True), expression=exp.Null())),
            copy=False,
        )
    return replaced(rows, [(one, n) for n in key], scope, inner)


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
