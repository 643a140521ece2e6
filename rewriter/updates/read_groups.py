"""Which subqueries are groups of all rows so far."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "group", "having"}


def is_of_groups(inner: "exp.Expr") -> bool:
    """Whether a subquery has groups by columns, with aggregates, of rows that do not leave.

    Args:
        inner: of the subquery, whose names are as they were written.
    """
    from sqlglot import exp

    if not isinstance(inner, exp.Select):
        return False
    group = inner.args.get("group")
    if group is None or {k for k, v in inner.args.items() if v} - _READ or rows_leave(inner):
        return False
    if inner.find(exp.Window) is not None:
        return False
    plain = len(group.args) == 1 and all(isinstance(k, exp.Column) for k in group.expressions)
    return plain and bool(list_own(inner, exp.AggFunc))


def list_keys(inner: "exp.Select", catalog: Catalog) -> "list[exp.Expr]":
    """What a SELECT groups by: the names that it gives itself stand for what they are, where no
    table has a column called so.

    Args:
        inner: of groups by columns, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    scope, keys = list_tables(inner, catalog), []
    for key in inner.args["group"].expressions:
        meant = mean_group(key, inner, scope)
        keys.append(meant if isinstance(meant, exp.Column) else key)
    return keys
