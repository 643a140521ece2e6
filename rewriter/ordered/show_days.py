"""GROUP BY a day that a subquery shows: `SELECT day, COUNT(*) FROM (SELECT CAST(ts AS DATE) AS day
FROM s) AS x GROUP BY day`."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import find_named, mean_group
from ontoweir.rewriter.ordered.group_sets import list_parts

if TYPE_CHECKING:
    from sqlglot import exp

_ROWS = {"expressions", "from_", "joins", "where", "with_", "kind"}


def show_days(tree: "exp.Query", catalog: Catalog) -> None:
    """Let subqueries that show the day of a timestamp show where it begins, too, and the SELECT
    that groups by the day group by that, and compute the day of it, which is the same; in place.

    So groups are final when the day is over, as those of `GROUP BY CAST(ts AS DATE)` are.

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
            if isinstance(item, exp.Column) and (begin := _show(item, select, catalog)):
                _replace(select, item, begin)
                meant[n] = begin.copy()
                group.set("expressions", [one.copy() for one in meant])


def _replace(select: "exp.Select", day: "exp.Column", begin: "exp.Column") -> None:
    """Compute a day of its begin in SELECT and HAVING, outside of aggregates."""
    from sqlglot import exp

    having = select.args.get("having")
    for item in [*select.expressions, *([] if having is None else [having])]:
        for column in [c for c in item.find_all(exp.Column) if _is_same(c, day)]:
            if column.find_ancestor(exp.AggFunc) is not None:
                continue
            made = exp.cast(exp.AnyValue(this=begin.copy()), "date")
            whole = column is item
            column.replace(exp.alias_(made, column.name, quoted=True) if whole else made)


def _is_same(one: "exp.Column", other: "exp.Column") -> bool:
    named = not one.table or not other.table or one.table.lower() == other.table.lower()
    return named and one.name.lower() == other.name.lower()


def _show(item: "exp.Column", select: "exp.Select", catalog: Catalog) -> "exp.Column | None":
    """The column of a subquery that says where the day begins that another one of its columns is;
    it is added to the subquery. None: that is no day of a stream's timestamp."""
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
        n, begin = names.index(item.name.lower()), f"begin of {item.name}"
        read = (_begin(part.expressions[n].unalias(), part, catalog) for part in parts)
        begins = [found for found in read if found is not None]
        if len(begins) < len(parts):
            return None
        if begin.lower() not in names:
            for part, found in zip(parts, begins, strict=True):
                part.append("expressions", exp.alias_(found, begin, quoted=True))
        return exp.column(begin, item.args.get("table"), quoted=True)
    return None


def _begin(item: "exp.Expr", part: "exp.Select", catalog: Catalog) -> "exp.Expr | None":
    """Where a day begins, of an item of a SELECT."""
    from sqlglot import exp

    if isinstance(item, exp.Column):
        return _show(item, part, catalog)
    cast = isinstance(item, (exp.Cast, exp.TryCast)) and item.to.is_type("date")
    if not cast and not isinstance(item, (exp.Date, exp.TsOrDsToDate)):
        return None
    time = item.this.unnest()
    if not isinstance(time, exp.Column) or is_time(time, part, catalog) is not True:
        return None
    given = [exp.Literal.string("day"), time.copy()]
    return exp.Anonymous(this="DATE_TRUNC", expressions=given)
