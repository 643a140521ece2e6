"""What an item of GROUP BY stands for."""

from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_scope import Scope, column_names, find_name

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
    """Whether a table of FROM has, or a subquery there may have, a column called so: GROUP BY means
    it rather than a name that SELECT gives."""
    from sqlglot import exp

    if any(find_name(name, column_names(t)) for t in scope.tables.values()):
        return True
    for inside in [
        p.this for p in (select.args.get("from_"), *(select.args.get("joins") or ())) if p
    ]:
        if isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Query):
            shown = {n.lower() for n in inside.this.named_selects}
            if name.lower() in shown or "*" in shown:
                return True
        elif inside.alias_or_name not in scope.tables:
            return True  # what WITH names
    return False
