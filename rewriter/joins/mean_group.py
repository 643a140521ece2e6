"""What an item of GROUP BY stands for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_scope import Scope, column_names, find_name
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def mean_group(item: "exp.Expr", select: "exp.Select", scope: Scope) -> "exp.Expr":
    """What a position in SELECT stands for, or a name that it gives, if no column has it: SQL
    groups by a column rather than by a name.

    Args:
        item: of GROUP BY.
        select: whose it is.
        scope: the declared tables of its FROM.
    """
    from sqlglot import exp

    if isinstance(item, exp.Literal) and not item.is_string and item.this.isdigit():
        place = int(item.this) - 1
        if 0 <= place < len(select.expressions):
            inner: exp.Expr = select.expressions[place].unalias()
            return inner
    if isinstance(item, exp.Column) and not item.table:
        if is_column(item.name, select, scope):
            return item
        given = [e for e in select.expressions if e.alias.lower() == item.name.lower()]
        if len(given) == 1:
            named: exp.Expr = given[0].unalias()
            return named
    return item


def is_column(name: str, select: "exp.Select", scope: Scope) -> bool:
    """Whether a table of FROM has, or a subquery or view there may have, a column called so: GROUP
    BY means it rather than a name that SELECT gives."""
    from sqlglot import exp

    if any(find_name(name, column_names(t)) for t in scope.tables.values()):
        return True
    for inside in [
        p.this for p in (select.args.get("from_"), *(select.args.get("joins") or ())) if p
    ]:
        if isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Query):
            if _shows(inside.this, inside.this.named_selects, name, scope):
                return True
        elif inside.alias_or_name not in scope.tables:
            cte = find_named(inside, select)
            if cte is None:
                known = scope.catalog
                table = find_name(inside.name, [*known.streams, *known.relations])
                if table is None or find_name(name, column_names(known.table(table))):
                    return True  # or a view
                continue
            given = [c.name for c in cte.args["alias"].columns]
            if _shows(cte.this, given or cte.this.named_selects, name, scope):
                return True
    return False


def _shows(query: "exp.Query", shown: "Sequence[str]", name: str, scope: Scope) -> bool:
    """Whether a query may show a column called so; `shown`: what it names, or *."""
    from sqlglot import exp

    if name.lower() in {n.lower() for n in shown}:
        return True
    if "*" not in shown:
        return False
    if not isinstance(query, exp.Select):
        return True
    return is_column(name, query, list_tables(query, scope.catalog))


def find_named(item: "exp.Expr", select: "exp.Select") -> "exp.CTE | None":
    """What WITH calls so, here or around; in what it names, only what is before that."""
    from sqlglot import exp

    around: exp.Expr | None = select
    own: exp.Expr | None = None
    while around is not None:
        own = around if isinstance(around, exp.CTE) else own
        for cte in getattr(around, "ctes", ()):
            if cte is own:
                break
            if cte.alias.lower() == item.name.lower():
                assert isinstance(cte, exp.CTE)
                return cte
        around = around.parent
    return None
