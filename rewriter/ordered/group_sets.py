"""UNION of buckets of time, and DISTINCT over subqueries that show them, as groups."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.mean_group import find_named
from ontoweir.rewriter.windows.read_sql_grid import read_grid_or_day
from ontoweir.rewriter.windows.window import Grid

if TYPE_CHECKING:
    from sqlglot import exp

_ALIAS = "united"
_PLAIN = {"expressions", "from_", "joins", "where", "distinct", "kind"}


def group_sets(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`SELECT k, h FROM (SELECT k, date_trunc('hour', ts) AS h FROM s UNION ALL …) GROUP BY k, h`
    for the same parts with UNION, and for SELECT DISTINCT around them: the same rows, which are
    final when their bucket is over. It is made in place, but for the query itself.

    Args:
        tree: a query, whose items have names.
        catalog: the tables.
    """
    from sqlglot import exp

    unions = [
        node
        for node in tree.find_all(exp.Union)
        if node.args.get("distinct") and not isinstance(node.parent, exp.SetOperation)
    ]
    for union in unions:
        made = _group_union(union, catalog)
        if made is None:
            continue
        if union is tree:
            tree = made
        else:
            union.replace(made)
    for select in tree.find_all(exp.Select):
        if select.args.get("distinct") is not None:
            _group_distinct(select, catalog)
    return tree


def _group_union(union: "exp.Union", catalog: Catalog) -> "exp.Select | None":
    from sqlglot import exp

    parts = list_parts(union)
    if parts is None or not all(_is_plain(part) for part in parts):
        return None
    rows = [part.expressions for part in parts]
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        return None
    both = list(zip(rows, parts, strict=True))
    grids = (_same([_find_grid(r[n].unalias(), p, catalog) for r, p in both]) for n in range(width))
    if all(grid is None for grid in grids):
        return None
    names = [item.alias_or_name for item in rows[0]]
    if not all(names) or len({n.lower() for n in names}) < width:
        return None
    inner: exp.Query | None = None
    for part in parts:
        one = part.copy()
        one.set("distinct", None)
        items = zip(part.expressions, names, strict=True)
        one.set("expressions", [exp.alias_(e.unalias().copy(), n, quoted=True) for e, n in items])
        inner = one if inner is None else exp.Union(this=inner, expression=one, distinct=False)
    assert inner is not None
    columns = [exp.column(name, _ALIAS, quoted=True) for name in names]
    made = exp.select(*columns).from_(inner.subquery(_ALIAS))
    made.set("group", exp.Group(expressions=[c.copy() for c in columns]))
    for key in ("with_", "order", "limit"):
        if (kept := union.args.get(key)) is not None:
            made.set(key, kept.copy())
    return made


def _group_distinct(select: "exp.Select", catalog: Catalog) -> None:
    """Group a SELECT DISTINCT by what it shows, where a subquery gives it a bucket of time."""
    from sqlglot import exp

    if not _is_plain(select) or isinstance(select.parent, (exp.SetOperation, exp.In, exp.Exists)):
        return
    shown = [item.unalias() for item in select.expressions]
    if not all(isinstance(item, exp.Column) for item in shown):
        return
    if any(_find_grid(item, select, catalog) is not None for item in shown):
        select.set("distinct", None)
        select.set("group", exp.Group(expressions=[item.copy() for item in shown]))


def list_parts(query: "exp.Query") -> "list[exp.Select] | None":
    """The SELECTs of a UNION (None: there is something else)."""
    from sqlglot import exp

    if isinstance(query, exp.Select):
        return [query]
    if isinstance(query, exp.Subquery) and not query.alias:
        return list_parts(query.this)
    if not isinstance(query, exp.Union):
        return None
    left, right = list_parts(query.this), list_parts(query.expression)
    return None if left is None or right is None else [*left, *right]


def _is_plain(select: "exp.Select") -> bool:
    """Whether it shows rows, each by itself."""
    from sqlglot import exp

    if {k for k, v in select.args.items() if v} - _PLAIN:
        return False
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        return False
    called = (exp.AggFunc, exp.Window, exp.Star, exp.Query)
    return not any(item.find(*called) for item in select.expressions)


def _find_grid(item: "exp.Expr", select: "exp.Select", catalog: Catalog) -> Grid | None:
    """The grid of a bucket of a stream's timestamp, here or in the subqueries that give it (None:
    it is none, or of several grids)."""
    from sqlglot import exp

    try:
        read = read_grid_or_day(item)
    except SqlRefusal:  # said where it is read
        return None
    if read is not None:
        time, grid = read[0].unnest(), read[1]
        known = isinstance(time, exp.Column) and is_time(time, select, catalog) is True
        return grid if known else None
    if not isinstance(item, exp.Column):
        return None
    start = select.args.get("from_")
    around = [] if start is None else [start.this]
    for place in [*around, *(join.this for join in select.args.get("joins") or ())]:
        if item.table and place.alias_or_name.lower() != item.table.lower():
            continue
        named = find_named(place, select) if isinstance(place, exp.Table) else None
        query = named.this if named is not None else place.this
        parts = list_parts(query) if isinstance(query, exp.Query) else None
        if not parts:
            continue
        names = [e.alias_or_name.lower() for e in parts[0].expressions]
        if item.name.lower() in names and all(len(p.expressions) == len(names) for p in parts):
            n = names.index(item.name.lower())
            return _same([_find_grid(p.expressions[n].unalias(), p, catalog) for p in parts])
    return None


def _same(grids: Sequence[Grid | None]) -> Grid | None:
    return grids[0] if all(grid == grids[0] for grid in grids) else None
