"""Subqueries in FROM and what WITH names, opened where they are rows of one table."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.differences.count_rows import is_plain
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.registers.name_presence import is_register

if TYPE_CHECKING:
    from sqlglot import exp


def open_rows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of rows of static relations beside which rows of streams are, or are not, with
    declared tables in the place of the subqueries, and the names of WITH, that are columns and
    conditions of one of these; another query as it is.

    DISTINCT says nothing of rows of which it is only asked whether there are any.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return tree
    made = tree.copy()
    named = {c.alias.lower(): c.this for c in made.ctes}
    for select in [s for s in made.find_all(exp.Select) if not _is_within(s, made)]:
        _open(select, named, made, catalog)
    used = {t.name.lower() for t in made.find_all(exp.Table) if not t.find_ancestor(exp.CTE)}
    if used & named.keys():
        return tree
    made.set("with_", None)
    return made if is_register(made, catalog) and made != tree else tree


def _is_within(select: "exp.Select", whole: "exp.Select") -> bool:
    """Whether it is in FROM, or named by WITH: it is opened where it is read."""
    from sqlglot import exp

    around = select.parent
    return select is not whole and (
        isinstance(around, exp.CTE)
        or (isinstance(around, exp.Subquery) and isinstance(around.parent, (exp.From, exp.Join)))
    )


def _open(
    select: "exp.Select", named: "dict[str, exp.Expr]", whole: "exp.Select", catalog: Catalog
) -> None:
    """Open what a SELECT reads; in place."""
    from sqlglot import exp

    start = select.args.get("from_")
    items = [] if start is None else [start]
    for place in [*items, *(select.args.get("joins") or ())]:
        item = place.this
        rows = item.this if isinstance(item, exp.Subquery) else None
        if isinstance(item, exp.Table) and not item.args.get("db"):
            rows = named.get(item.name.lower())
        asked = select is not whole or _asks_only(place, select)
        if not isinstance(rows, exp.Select) or not _is_read(rows, catalog, once=not asked):
            continue
        if not item.alias_or_name or place.args.get("using"):
            continue
        if not _hides(select, item.alias_or_name, rows, catalog, stars=select is whole):
            _put(select, place, rows)


def _asks_only(place: "exp.Expr", select: "exp.Select") -> bool:
    """Whether of the rows of a join it is only asked whether there are any."""
    from sqlglot import exp

    if str(place.args.get("kind") or "").upper() in ("SEMI", "ANTI"):
        return True
    where = select.args.get("where")
    alias = place.this.alias_or_name.lower()
    absent = [
        c.this
        for c in ([] if where is None else split_conjuncts(where.this))
        if isinstance(c, exp.Is) and isinstance(c.expression, exp.Null)
    ]
    left = str(place.args.get("side") or "").upper() == "LEFT"
    return left and any(isinstance(c, exp.Column) and c.table.lower() == alias for c in absent)


def _is_read(rows: "exp.Select", catalog: Catalog, *, once: bool) -> bool:
    """Whether it is columns of one declared table, and a condition."""
    from sqlglot import exp

    if not is_plain(rows, *(() if once else ("distinct",))) or rows.args.get("joins"):
        return False
    start = rows.args.get("from_")
    table = None if start is None else start.this
    if not isinstance(table, exp.Table) or rows.find(exp.Subquery, exp.Exists, exp.In):
        return False
    known = find_name(table.name, [*catalog.streams, *catalog.relations])
    return known is not None and all(isinstance(e.unalias(), exp.Column) for e in rows.expressions)


def _hides(
    select: "exp.Select", alias: str, rows: "exp.Select", catalog: Catalog, *, stars: bool
) -> bool:
    """Whether a name would mean something else where the table's other columns are seen: one
    without a table, or of the alias, which may be another one's inside, or `*`."""
    from sqlglot import exp

    shown = {e.alias_or_name.lower() for e in rows.expressions}
    name = find_name(rows.args["from_"].this.name, [*catalog.streams, *catalog.relations])
    assert name is not None
    held = {c.lower() for c in column_names(catalog.table(name))}
    for star in list_own(select, exp.Star) if stars else ():
        if not isinstance(star.parent, exp.Count):
            return True
    seen = list(select.walk(prune=_is_rows))
    for column in (n for n in seen if isinstance(n, exp.Column)):
        mine, called = column.table.lower() == alias.lower(), column.name.lower()
        if (mine and called not in shown) or (not column.table and called in held - shown):
            return True
        if not column.table and called in shown and called not in held:
            return True
    tables = [t for t in seen if isinstance(t, exp.Table) or _is_rows(t)]
    return sum(t.alias_or_name.lower() == alias.lower() for t in tables) > 1


def _is_rows(node: "exp.Expr") -> bool:
    """Whether it is a subquery in FROM, or one that WITH names, whose names are its own."""
    from sqlglot import exp

    inside = isinstance(node, exp.Subquery) and isinstance(node.parent, (exp.From, exp.Join))
    return inside or isinstance(node, exp.With)


def _put(select: "exp.Select", place: "exp.Expr", rows: "exp.Select") -> None:
    """The table in the place of its rows, whose condition is one of the join; in place."""
    from sqlglot import exp

    alias = place.this.alias_or_name
    inner = rows.copy()
    table = inner.args["from_"].this
    for column in list_own(inner, exp.Column):
        column.set("table", exp.to_identifier(alias, quoted=True))
    of = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    table = exp.Table(
        this=table.this.copy(), alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    )
    place.set("this", table)
    for column in list(select.find_all(exp.Column)):
        if column.table.lower() != alias.lower() or column.name.lower() not in of:
            continue
        shown = of[column.name.lower()].copy()
        item = column.parent is select and column.arg_key == "expressions"
        column.replace(exp.alias_(shown, column.name, quoted=True) if item else shown)
    where = inner.args.get("where")
    if where is None:
        return
    kind = str(place.args.get("kind") or "").upper()
    if isinstance(place, exp.Join) and (place.args.get("side") or kind in ("SEMI", "ANTI")):
        on = place.args.get("on")
        place.set("on", exp.and_(*([] if on is None else [on]), where.this, copy=False))
    else:
        select.where(where.this, copy=False)
