"""The columns that `*` shows, by name."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def expand_stars(select: "exp.Select", catalog: Catalog, beside: str) -> None:
    """Write the columns of `*` out, in place, where what takes the place of a table has more.

    Args:
        select: without what is in its subqueries.
        catalog: the tables.
        beside: what that is, for messages.

    Raises:
        SqlRefusal: some item of FROM is no declared table, or `*` leaves columns out.
    """
    from sqlglot import exp

    if not any(isinstance(e, exp.Star) or _is_star(e) for e in select.expressions):
        return
    scope = list_tables(select, catalog)
    made: list[exp.Expr] = []
    for item in select.expressions:
        if not isinstance(item, exp.Star) and not _is_star(item):
            made.append(item)
            continue
        plain = isinstance(item, exp.Star) and not any(item.args.values())
        aliases = list(scope.tables) if plain else [item.table] if _is_star(item) else []
        known = [find_name(a, scope.tables) for a in aliases]
        several = len(select.args.get("joins") or ()) + 1
        if not known or None in known or (plain and len(known) != several):
            raise SqlRefusal(
                f"{show_sql(item)} beside {beside}",
                why="which columns it shows is known of declared tables alone",
                fix="select columns by name",
                line=line_of(item),
            )
        merged = {
            (join.this.alias_or_name, name.name.lower())
            for join in select.args.get("joins") or ()
            for name in join.args.get("using") or ()
            if plain
        }
        made += [
            exp.column(name, alias, quoted=True)
            for alias in known
            if alias is not None
            for name in column_names(scope.tables[alias])
            if (alias, name.lower()) not in merged
        ]
    select.set("expressions", made)


def _is_star(item: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
