"""What is said around the latest rows of keys, of their own columns and of static relations."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.latest_rows import is_of_statics, is_plain, list_outer, relation_names

if TYPE_CHECKING:
    from sqlglot import exp


class PutColumns:
    """What a subquery shows in the place of its columns.

    Args:
        rows: the subquery, whose columns say of which table they are if `joins` are not empty.
        own: how it is called.
        joins: joins, and LEFT JOINs, of static relations with it.
        catalog: the tables.
    """

    def __init__(
        self, rows: "exp.Select", own: str, joins: "list[exp.Join]", catalog: Catalog
    ) -> None:
        self.named = {e.alias_or_name.lower(): e.unalias() for e in rows.expressions}
        self.own, self.catalog = own, catalog
        self.beside = {j.this.alias_or_name.lower(): relation_names(j.this, catalog) for j in joins}

    def __call__(self, item: "exp.Expr") -> "exp.Expr":
        """An expression, or a condition, over the rows of the subquery.

        Raises:
            SqlRefusal: a column is none of it.
        """
        made: exp.Expr = item.copy()
        for node in list_outer(made, self.catalog, self.beside):
            put = self._put(node)
            if node is made:
                return put
            node.replace(put)
        return made

    def _put(self, node: "exp.Column") -> "exp.Expr":
        from sqlglot import exp

        of = self.named.get(node.name.lower())
        if of is None or node.table.lower() not in ("", self.own):
            raise SqlRefusal(
                f"the column {show_sql(node)} is none of the subquery",
                why="what is told of the latest rows are columns that it selects",
                fix="select it there",
                line=line_of(node),
            )
        return of.copy() if isinstance(of, exp.Column) else exp.Paren(this=of.copy())


def list_beside(tree: "exp.Select", catalog: Catalog) -> "list[exp.Join] | None":
    """The joins, and LEFT JOINs, of static relations with what is first in FROM (None: others are
    joined)."""
    from sqlglot import exp

    joins = list(tree.args.get("joins") or ())
    for join in joins:
        table, side = join.this, str(join.args.get("side") or "").upper()
        more = {k for k, v in join.args.items() if v} - {"this", "on", "side", "kind"}
        static = isinstance(table, exp.Table) and find_name(table.name, catalog.relations)
        if not static or not is_plain(table) or side not in ("", "LEFT") or more:
            return None
        if str(join.args.get("kind") or "").upper() not in ("", "INNER", "OUTER", "CROSS"):
            return None
        on = join.args.get("on")
        if (on is None and side) or (on is not None and on.find(exp.Query)):
            return None
    return joins


def is_told(condition: "exp.Expr", catalog: Catalog) -> bool:
    """Whether a condition is of one row, or of what is, or is not, in static relations."""
    from sqlglot import exp

    if condition.find(exp.Query) is None:
        return condition.find(exp.Window) is None
    return is_of_statics(condition, catalog)


def share_names(rows: "exp.Select", around: "exp.Select") -> bool:
    """Whether a table of a subquery is called as one around it is, or in what is said there."""
    from sqlglot import exp

    mine = {t.alias_or_name.lower() for t in rows.find_all(exp.Table)}
    start = around.args["from_"].this
    others = [t for t in around.find_all(exp.Table) if start not in _above(t)]
    return bool(mine & {t.alias_or_name.lower() for t in others})


def _above(node: "exp.Expr") -> "list[exp.Expr]":
    found, above = [], node.parent
    while above is not None:
        found.append(above)
        above = above.parent
    return found
