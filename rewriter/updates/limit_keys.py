"""Groups that are joined with what is registered: of registered keys alone."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.blocks.declare_groups import count_values
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.updates.read_groups import is_of_groups, list_keys

if TYPE_CHECKING:
    from sqlglot import exp


def limit_keys(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`FROM r JOIN (SELECT k, COUNT(*) … FROM s WHERE k IN (SELECT id FROM r) GROUP BY k) AS g ON
    g.k = r.id` for the same without WHERE, where k may have any value: a group of another key is
    beside none. So also behind LEFT JOIN. In place.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        statics = list_tables(select, catalog).tables
        for item, said in _list_groups(select):
            for mine, other in [side for c in said for side in _list_sides(c, item.alias)]:
                table = statics.get(other.table)
                if isinstance(table, Relation):
                    _limit(item.this, mine.name, table, other.name, catalog)
    return tree


def _list_groups(select: "exp.Select") -> "Iterator[tuple[exp.Subquery, list[exp.Expr]]]":
    """The groups in FROM and JOIN, with what must hold of those that are shown."""
    from sqlglot import exp

    start, joins = select.args.get("from_"), list(select.args.get("joins") or ())
    where, sides = select.args.get("where"), [j.args.get("side") or "" for j in joins]
    whole = [] if where is None else list(split_conjuncts(where.this))
    ons = [[] if (on := j.args.get("on")) is None else list(split_conjuncts(on)) for j in joins]
    plain = not any(j.args.get("method") or j.kind in ("SEMI", "ANTI") for j in joins)
    if start is None or not plain or {*sides} - {"", "LEFT"}:
        return
    both = list(zip(ons, sides, strict=True))
    inner = [*whole, *(c for on, side in both if not side for c in on)]
    said = [inner, *([*inner, *on] if side else inner for on, side in both)]
    for one, own in zip((start, *joins), said, strict=True):
        if isinstance(one.this, exp.Subquery) and one.this.alias and is_of_groups(one.this.this):
            yield one.this, own


def _list_sides(condition: "exp.Expr", alias: str) -> "Iterator[tuple[exp.Column, exp.Column]]":
    """The column of an alias that is equal to one of another."""
    from sqlglot import exp

    pair = (condition.this, condition.expression) if isinstance(condition, exp.EQ) else ()
    for one, other in (pair, pair[::-1]) if pair else ():
        columns = isinstance(one, exp.Column) and isinstance(other, exp.Column)
        if columns and one.table.lower() == alias.lower() != other.table.lower():
            yield one, other


def _limit(inner: "exp.Select", shown: str, table: Relation, column: str, catalog: Catalog) -> None:
    """Choose the rows of groups by what a relation has, if it is a key of theirs; in place."""
    from sqlglot import exp

    of = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    key = of.get(shown.lower())
    if not isinstance(key, exp.Column) or key not in list_keys(inner, catalog):
        return
    if not _is_free(key, inner, catalog):
        return
    known = exp.Select(expressions=[exp.column(column, quoted=True)]).from_(
        exp.Table(this=exp.to_identifier(table.name, quoted=True))
    )
    said = exp.In(this=key.copy(), query=exp.Subquery(this=known))
    where = inner.args.get("where")
    if where is None or said not in list(split_conjuncts(where.this)):
        inner.where(said, copy=False)


def _is_free(key: "exp.Column", inner: "exp.Select", catalog: Catalog) -> bool:
    """Whether a column of a stream may have any value, as far as is declared."""
    tables = list_tables(inner, catalog).tables
    mine = [t for alias, t in tables.items() if key.table.lower() in ("", alias.lower())]
    found = [(t, name) for t in mine if (name := find_name(key.name, [c.name for c in t.columns]))]
    if len(found) != 1 or not isinstance(found[0][0], Stream):
        return False
    stream, name = found[0]
    column = stream.column(name)
    referred = any(r.columns == (name,) for r in stream.references)
    return column is not None and count_values(column) is None and not referred
