"""By buckets of which time results are grouped, where their rows are, or around that."""

from collections.abc import Set
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp


def find_bucketed(select: "exp.Select", scope: Scope, around: Set[str]) -> str | None:
    """The alias of the stream by a bucket of whose time a SELECT's results are grouped, which are
    told when all rows of it have come; or are grouped so by what reads them (None: of none).

    Args:
        select: whose columns have their tables.
        scope: its tables.
        around: its columns by whose buckets what reads them groups, in lower case.
    """
    from sqlglot import exp

    group = select.args.get("group")
    streams = {a.lower(): t.timestamp for a, t in scope.tables.items() if isinstance(t, Stream)}
    items = [] if group is None else [mean_group(e, select, scope) for e in group.expressions]
    shown = [e.unalias() for e in select.selects if e.alias_or_name.lower() in around]
    for made in (*filter(is_grid, items), *shown):
        for column in made.find_all(exp.Column):
            if column.name == streams.get(column.table.lower()):
                return column.table
    return None


def list_bucketed(select: "exp.Select", alias: str, catalog: Catalog) -> frozenset[str]:
    """The columns of an item of FROM by whose buckets of time a SELECT groups, in lower case.

    Args:
        select: whose names are as they were written, or have their tables.
        alias: of the item.
        catalog: the tables.
    """
    from sqlglot import exp

    group, found, own = select.args.get("group"), set[str](), ("", alias.lower())
    scope = list_tables(select, catalog)
    for item in () if group is None else group.expressions:
        made = mean_group(item, select, scope)
        cast = isinstance(made, (exp.Cast, exp.TryCast)) and made.to.is_type("date")
        if cast or is_grid(made):
            found |= {c.name.lower() for c in made.find_all(exp.Column) if c.table.lower() in own}
    return frozenset(found)
