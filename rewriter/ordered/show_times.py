"""GROUP BY what a subquery computes of a time: `SELECT day, COUNT(*) FROM (SELECT CAST(ts AS DATE)
AS day FROM s) AS x GROUP BY day`."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import find_named, mean_group
from ontoweir.rewriter.ordered.group_sets import list_parts
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp

_ROWS = {"expressions", "from_", "joins", "where", "with_", "kind"}


def show_times(tree: "exp.Query", catalog: Catalog) -> None:
    """Let subqueries that show a day, or other parts of a timestamp, show the timestamp, too, and a
    SELECT that groups by them compute them of that; in place.

    So groups are final when the day is over, as those of `GROUP BY CAST(ts AS DATE)` are
    (`group_parts`).

    Args:
        tree: a query, whose items have names.
        catalog: the tables.
    """
    from sqlglot import exp

    selects = list(tree.find_all(exp.Select))
    if any(item.is_star for select in selects for item in select.expressions):
        return
    for select in selects:
        group = select.args.get("group")
        if group is None or any(v for k, v in group.args.items() if k != "expressions"):
            continue
        scope = list_tables(select, catalog)
        meant = [mean_group(item, select, scope) for item in group.expressions]
        for n, item in enumerate(meant):
            if isinstance(item, exp.Column) and (shown := _show(item, select, catalog)):
                _replace(select, item, shown)
                meant[n] = shown
                group.set("expressions", [one.copy() for one in meant])


def _replace(select: "exp.Select", part: "exp.Column", shown: "exp.Expr") -> None:
    """Compute a part of a time in SELECT and HAVING, outside of aggregates."""
    from sqlglot import exp

    having = select.args.get("having")
    for item in [*select.expressions, *([] if having is None else [having])]:
        for column in [c for c in item.find_all(exp.Column) if _is_same(c, part)]:
            if column.find_ancestor(exp.AggFunc) is not None:
                continue
            made = shown.copy()
            whole = column is item
            column.replace(exp.alias_(made, column.name, quoted=True) if whole else made)


def _is_same(one: "exp.Column", other: "exp.Column") -> bool:
    named = not one.table or not other.table or one.table.lower() == other.table.lower()
    return named and one.name.lower() == other.name.lower()


def _show(item: "exp.Column", select: "exp.Select", catalog: Catalog) -> "exp.Expr | None":
    """What a column of a subquery is computed as of a timestamp, which is added to the subquery.
    None: it is computed of something else, or in several ways."""
    from sqlglot import exp

    start = select.args.get("from_")
    around = [] if start is None else [start.this]
    around += [join.this for join in select.args.get("joins") or ()]
    if not item.table and len(around) > 1:
        return None
    for place in around:
        if item.table and place.alias_or_name.lower() != item.table.lower():
            continue
        named = find_named(place, select) if isinstance(place, exp.Table) else None
        query = named.this if named is not None else place.this
        if named is not None and named.args["alias"].columns:
            return None
        parts = list_parts(query) if isinstance(query, exp.Query) else None
        if not parts or any({k for k, v in p.args.items() if v} - _ROWS for p in parts):
            return None
        if any(union.args.get("distinct") for union in query.find_all(exp.Union)):
            return None
        names = [e.alias_or_name.lower() for e in parts[0].expressions]
        if item.name.lower() not in names or any(len(p.expressions) != len(names) for p in parts):
            return None
        n = names.index(item.name.lower())
        read = (_read(part.expressions[n].unalias(), part, catalog) for part in parts)
        found = [one for one in read if one is not None]
        # one for all that is made of the same timestamps
        time = " ".join(["time", *(name for _, of in found for name in (of.table, of.name))])
        column = exp.column(time, item.args.get("table"), quoted=True)
        made = [_compute(tree, column) for tree, _ in found]
        if len(found) < len(parts) or any(one != made[0] for one in made):
            return None
        if time.lower() not in names:
            for part, (_, of) in zip(parts, found, strict=True):
                part.append("expressions", exp.alias_(of.copy(), time, quoted=True))
        return made[0]
    return None


def _read(
    item: "exp.Expr", part: "exp.Select", catalog: Catalog
) -> "tuple[exp.Expr, exp.Column] | None":
    """An expression of one timestamp alone, as parts of it are, and the timestamp."""
    from sqlglot import exp

    if isinstance(item, exp.Column):
        made = _show(item, part, catalog)
        return None if made is None else (made, next(made.find_all(exp.Column)))
    if is_grid(item) or item.find(exp.AggFunc, exp.Window, exp.Query) is not None:
        return None
    columns = list(item.find_all(exp.Column))
    if not columns or any(column != columns[0] for column in columns):
        return None
    return (item, columns[0]) if is_time(columns[0], part, catalog) is True else None


def _compute(tree: "exp.Expr", of: "exp.Column") -> "exp.Expr":
    """An expression of one column, of another one."""
    from sqlglot import exp

    made = tree.copy()
    for column in list(made.find_all(exp.Column)):
        column.replace(of.copy())
    return made
