"""The tables of a SELECT, and its columns by these."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Relation
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.own_nodes import list_own

if TYPE_CHECKING:
    from sqlglot import exp


def is_static(scope: Scope) -> bool:
    """Whether all tables are static relations."""
    return bool(scope.tables) and all(isinstance(t, Relation) for t in scope.tables.values())


def is_once(scope: Scope, columns: "Sequence[exp.Expr]") -> bool:
    """Whether no two rows of relations agree in all of some columns, by their declared keys."""
    from sqlglot import exp

    shown = {(c.table, c.name) for c in columns if isinstance(c, exp.Column)}
    return all(
        isinstance(t, Relation) and any(all((a, c) in shown for c in key) for key in t.keys)
        for a, t in scope.tables.items()
    )


def is_known(select: "exp.Expr", scope: Scope) -> bool:
    """Whether FROM and its joins are declared tables, each once."""
    return len(scope.tables) == 1 + len(select.args.get("joins") or ())


def qualify(item: "exp.Expr", scope: Scope) -> "exp.Expr | None":
    """An expression whose columns say of which table they are (None: one is of none)."""
    from sqlglot import exp

    made = item.copy()
    for node in [made] if isinstance(made, exp.Column) else list(made.find_all(exp.Column)):
        found = resolve(scope, node)
        if found is None:
            return None
        node.set("this", exp.to_identifier(found[1], quoted=True))
        node.set("table", exp.to_identifier(found[0], quoted=True))
    return made


def name_tables(select: "exp.Select", scope: Scope) -> None:
    """Let the columns of a SELECT say of which of some tables they are, as these are declared; not
    those of subqueries; in place."""
    from sqlglot import exp

    for node in list_own(select, exp.Column):
        if (found := resolve(scope, node)) is not None:
            node.set("this", exp.to_identifier(found[1], quoted=True))
            node.set("table", exp.to_identifier(found[0], quoted=True))
