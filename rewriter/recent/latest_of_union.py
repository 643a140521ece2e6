"""The latest rows of each key, of several streams: RANK() over UNION ALL; and the first ones in
another order."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.is_time import is_time
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import LiteralOutput, NotNull, SpjQuery, SpjUnion
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.recent.first_of_union import first_of_union, is_of_streams
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "where"}


def latest_of_union(
    tree: "exp.Query", catalog: Catalog, read: "Callable[..., SpjUnion]"
) -> SpjUnion | None:
    """`SELECT … FROM (SELECT … FROM s UNION ALL SELECT … FROM t) QUALIFY RANK() OVER (PARTITION BY
    k ORDER BY ts DESC) = 1`, or WHERE around its number: the rows of all streams, of which those of
    the latest time of each key hold, or the first in another order, one of them by ROW_NUMBER
    (None: it is something else).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: reads a query, of which the columns at some places may be NULL.
    """
    from sqlglot import exp

    found = _find(tree)
    if found is None:
        return None
    rows, window = found
    order, keys = window.args.get("order"), list(window.args.get("partition_by") or ())
    if order is None or not keys or has_now(rows) or window.args.get("spec"):
        return None
    (ordered, *others) = order.expressions
    shown = [e.unalias() for e in rows.expressions]
    columns = [c.name.lower() if isinstance(c, exp.Column) else None for c in shown]
    known = all(isinstance(key, exp.Column) and key.name.lower() in columns for key in keys)
    timed = not others and ordered.args.get("desc") and _is_time(ordered.this, rows, catalog)
    if not (known and timed and isinstance(window.this, exp.Rank)):
        return first_of_union(rows, window, read)
    made = read(rows, NullPlaces(shown=frozenset(range(len(shown)))))
    if not is_of_streams(made):
        return None
    key = tuple(made.variables[columns.index(k.name.lower())] for k in keys)
    if any(_may_be_null(query, key, extend_catalog(catalog, made)) for query in made.disjuncts):
        return first_of_union(rows, window, read)  # NULL is a key
    return replace(made, standing=Standing(key))


def _may_be_null(query: SpjQuery, key: Sequence[str], catalog: Catalog) -> bool:
    """Whether a column of the key may be NULL, or is none."""
    outputs, tables = dict(query.outputs), {o.alias: o.table for o in query.occurrences}
    for name in key:
        output = outputs[name]
        if not isinstance(output, LiteralOutput):
            return True
        column = catalog.table(tables[output.value.alias]).column(output.value.column)
        told = any(isinstance(c, NotNull) and c.attribute == output.value for c in query.conditions)
        if column is None or (column.nullable and not told):
            return True
    return False


def _find(tree: "exp.Query") -> "tuple[exp.Select, exp.Window] | None":
    """The rows without their number, and how they are numbered."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return None
    said = {name for name, value in tree.args.items() if value}
    qualify, inner = tree.args.get("qualify"), tree.args["from_"].this
    if not isinstance(inner, exp.Subquery) or not is_plain(inner):
        return None
    if qualify is not None:
        window = equals_one(qualify.this, named_windows(tree))
        if said - _READ - {"qualify"} or window is None:
            return None
        rows = tree.copy()
        rows.set("qualify", None)
    else:
        layer = inner.this
        if not isinstance(layer, exp.Select) or said - _READ or tree.args.get("where") is None:
            return None
        window = equals_one(tree.args["where"].this, named_windows(layer))
        if window is None or {k for k, v in layer.args.items() if v} - _READ:
            return None
        rows = layer.copy()
        known = {e.alias_or_name.lower(): e for e in rows.expressions}
        asked = [e.unalias() for e in tree.expressions]
        if not all(isinstance(c, exp.Column) and c.name.lower() in known for c in asked):
            return None
        items = [
            exp.alias_(known[c.name.lower()].unalias().copy(), e.alias_or_name, quoted=True)
            for c, e in zip(asked, tree.expressions, strict=True)
        ]
        rows.set("expressions", items)
    united = rows.args["from_"].this.this
    starred = any(e.is_star or e.find(exp.Window) for e in rows.expressions)
    if starred or not isinstance(window.this, exp.Rank | exp.DenseRank | exp.RowNumber):
        return None
    return (rows, window) if _is_union_all(united) else None


def _is_union_all(tree: "exp.Expr") -> bool:
    from sqlglot import exp

    if not isinstance(tree, exp.Union):
        return False
    more = {k for k, v in tree.args.items() if v} - {"this", "expression", "distinct", "by_name"}
    sides = [side.unnest() for side in (tree.this, tree.expression)]
    return not (more or tree.args.get("distinct")) and all(
        isinstance(side, exp.Select) or _is_union_all(side) for side in sides
    )


def _is_time(column: "exp.Expr", rows: "exp.Select", catalog: Catalog) -> bool:
    """Whether a column of the union is the timestamp of the stream of each side."""
    from sqlglot import exp

    united = rows.args["from_"].this.this
    if not isinstance(column, exp.Column):
        return False
    names = [e.alias_or_name.lower() for e in united.selects]
    if column.name.lower() not in names:
        return False
    place = names.index(column.name.lower())
    for side in _list_sides(united):
        item = side.expressions[place].unalias() if place < len(side.expressions) else None
        if not isinstance(item, exp.Column) or is_time(item, side, catalog) is not True:
            return False
    return True


def _list_sides(tree: "exp.Expr") -> "list[exp.Select]":
    from sqlglot import exp

    inside = tree.unnest() if isinstance(tree, (exp.Subquery, exp.Paren)) else tree
    if isinstance(inside, exp.Union):
        return [*_list_sides(inside.this), *_list_sides(inside.expression)]
    assert isinstance(inside, exp.Select)
    return [inside]
