"""NOT IN of rows whose table is called as one around it is."""

from itertools import count
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.name_columns import name_tables
from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp


def name_apart(
    searched: "exp.Expr", rows: "exp.Select", outer: Scope, inner: Scope
) -> "tuple[exp.Expr, exp.Select]":
    """What NOT IN looks for, and its SELECT, whose columns say of which table they are, and whose
    tables are called otherwise than those around them.

    Args:
        searched: what is looked for.
        rows: the SELECT.
        outer: the tables around it.
        inner: its tables.
    """
    from sqlglot import exp

    holder, made = exp.Select(expressions=[searched.copy()]), rows.copy()
    name_tables(holder, outer)
    name_tables(made, inner)
    taken = {*map(str.lower, (*outer.tables, *inner.tables))}
    for alias in inner.tables:
        if alias.lower() not in map(str.lower, outer.tables):
            continue
        free = next(f"{alias} {n}" for n in count(2) if f"{alias} {n}".lower() not in taken)
        other = exp.to_identifier(free, quoted=True)
        taken.add(other.name.lower())
        for table in [t for t in list_own(made, exp.Table) if isinstance(t, exp.Table)]:
            if table.alias_or_name.lower() == alias.lower():
                table.set("alias", exp.TableAlias(this=other.copy()))
        for column in [c for c in list_own(made, exp.Column) if isinstance(c, exp.Column)]:
            if column.table.lower() == alias.lower():
                column.set("table", other.copy())
    return holder.expressions[0], made
