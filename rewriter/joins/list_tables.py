"""The declared tables that a SELECT reads, before its subqueries are merged."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import Scope, column_names, find_name

if TYPE_CHECKING:
    from sqlglot import exp


def list_tables(select: "exp.Select", catalog: Catalog) -> Scope:
    """The declared tables of FROM and its joins, by their aliases; what else is there, also what
    WITH calls like a table, is not among them."""
    from sqlglot import exp

    named: set[str] = set()
    around: exp.Expr | None = select
    while around is not None:
        named |= {cte.alias.lower() for cte in getattr(around, "ctes", ())}
        around = around.parent
    start = select.args.get("from_")
    read = [] if start is None else [start.this]
    read += [join.this for join in select.args.get("joins") or ()]
    tables = {}
    for tree in read:
        if isinstance(tree, exp.Table) and not tree.args.get("db"):
            name = find_name(tree.name, [*catalog.streams, *catalog.relations])
            if name is not None and name.lower() not in named:
                tables[tree.alias_or_name] = catalog.table(name)
    return Scope(catalog, tables)


def open_names(select: "exp.Select", scope: Scope) -> None:
    """HAVING with an aggregate in the place of the name that SELECT gives it, where no column of
    the tables is called so."""
    from sqlglot import exp

    given = {e.alias.lower(): e.unalias() for e in select.expressions if e.alias}
    having = select.args.get("having")
    for column in [] if having is None else list(having.find_all(exp.Column)):
        made = given.get(column.name.lower())
        if column.table or made is None or not made.find(exp.AggFunc):
            continue
        if not any(find_name(column.name, column_names(t)) for t in scope.tables.values()):
            column.replace(exp.paren(made.copy()))
