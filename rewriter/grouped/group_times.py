"""Groups by a key of rows beside which others may be missing, as by the time of the rows, too."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group

if TYPE_CHECKING:
    from sqlglot import exp


def group_times(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`FROM job j LEFT JOIN part p ON … GROUP BY j.id, j.ts` for `GROUP BY j.id`, where a key says
    that each id has one row: the groups are the same, and final when no row of part may come any
    more. So are those of a SELECT that another one reads in FROM. In place.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in tree.find_all(exp.Select):
        time = _find_time(select, catalog)
        if time is not None:
            select.args["group"].append("expressions", time)
    return tree


def _find_time(select: "exp.Select", catalog: Catalog) -> "exp.Expr | None":
    """The time that groups have in common (None: it is not known, or grouped by; or groups are told
    by it as they are)."""
    from sqlglot import exp

    group, start = select.args.get("group"), select.args.get("from_")
    joins = select.args.get("joins") or ()
    sides = {str(join.args.get("side") or "").upper() for join in joins}
    if group is None or start is None or len(group.args) != 1 or sides - {"", "LEFT"}:
        return None
    if not ("LEFT" in sides or _is_read(select)) or not isinstance(start.this, exp.Table):
        return None
    scope = list_tables(select, catalog)
    if len(scope.tables) <= len(joins):
        return None
    own: dict[str, set[str]] = {}
    for item in group.expressions:
        key = mean_group(item, select, scope).unnest()
        if not isinstance(key, exp.Column):
            return None  # it may be a bucket of time
        try:
            place = scope.resolve(key.table or None, key.name, line_of(key))
        except SqlRefusal:
            return None
        table = scope.tables[place.alias]
        if isinstance(table, Stream) and place.column == table.timestamp:
            return None
        own.setdefault(place.alias, set()).add(place.column)
    for alias in [start.this.alias_or_name] if "LEFT" in sides else scope.tables:
        stream = scope.tables.get(alias)
        if isinstance(stream, Stream) and not stream.versions:
            grouped = own.get(alias, set())
            if any({*known} <= grouped and is_open(stream, known) for known in stream.keys):
                return exp.column(stream.timestamp, alias, quoted=True)
    return None


def _is_read(select: "exp.Select") -> bool:
    """Whether another query reads its rows, in FROM, which are of no window."""
    from sqlglot import exp

    if select.find(exp.CurrentTimestamp, exp.Localtimestamp) is not None:
        return False
    around = select.parent
    if isinstance(around, exp.CTE):
        return True
    return isinstance(around, exp.Subquery) and isinstance(around.parent, exp.From | exp.Join)


def is_open(stream: Stream, key: tuple[str, ...]) -> bool:
    """Whether the columns of a key may have any number of values."""
    columns = [stream.column(name) for name in key]
    return any(c is not None and c.enum is None and c.maximum is None for c in columns)
