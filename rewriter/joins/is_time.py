"""Whether a column is when rows are there, whatever subqueries call it."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import column_names, find_name
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import find_named

if TYPE_CHECKING:
    from sqlglot import exp

_ABSENT = "absent"


def is_time(column: "exp.Column", select: "exp.Select", catalog: Catalog) -> bool | None:
    """Whether a column is a stream's timestamp, as it is or by other names in subqueries and WITH
    (None: it is computed, or not known).

    Args:
        column: of a SELECT, with its alias or without.
        select: that SELECT, before its subqueries are merged.
        catalog: the tables.
    """
    from sqlglot import exp

    tables = list_tables(select, catalog).tables
    start = select.args.get("from_")
    items = [] if start is None else [start.this]
    for item in [*items, *(join.this for join in select.args.get("joins") or ())]:
        alias = item.alias_or_name
        if column.table and alias.lower() != column.table.lower():
            continue
        if isinstance(item, exp.Table) and alias in tables:
            table = tables[alias]
            if (found := find_name(column.name, column_names(table))) is not None:
                return isinstance(table, Stream) and found == table.timestamp
            continue
        named = find_named(item, select) if isinstance(item, exp.Table) else None
        query = named.this if named is not None else item.this
        given = [] if named is None else [c.name for c in named.args["alias"].columns]
        if not isinstance(query, exp.Query):
            return None
        parts = _list_parts(query)
        names = given or [e.alias_or_name for e in parts[0].expressions] if parts else []
        known = {_is_shown(column.name, part, names, catalog) for part in parts}
        if known != {_ABSENT}:
            (first, *more) = known or {None}
            return first if isinstance(first, bool) and not more else None
    return None


def _is_shown(
    name: str, select: "exp.Select", names: list[str], catalog: Catalog
) -> "bool | str | None":
    """Whether what a SELECT shows by a name is a timestamp (_ABSENT: it shows nothing by it);
    `names`: those of what it shows, by place."""
    from sqlglot import exp

    starred = any(item.is_star for item in select.expressions)
    own = [e.alias_or_name for e in select.expressions] if starred else names
    for called, item in zip(own, select.expressions, strict=False):
        if called.lower() == name.lower() and not item.is_star:
            inner = item.unalias()
            return is_time(inner, select, catalog) if isinstance(inner, exp.Column) else None
    return is_time(exp.column(name), select, catalog) if starred else _ABSENT


def _list_parts(query: "exp.Query") -> "list[exp.Select]":
    from sqlglot import exp

    if isinstance(query, exp.Select):
        return [query]
    if isinstance(query, exp.Subquery):
        return _list_parts(query.this)
    if isinstance(query, exp.Union):
        return [*_list_parts(query.this), *_list_parts(query.expression)]
    return []
