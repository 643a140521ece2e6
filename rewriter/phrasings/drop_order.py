"""ORDER BY the time of answers, which is the order that they come in."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp


def drop_order(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """Leave ORDER BY out of the outermost SELECT where it is by the timestamp of the one stream in
    FROM, or by a bucket of it, in ascending order.

    Raises:
        SqlRefusal: it is by something else, or LIMIT asks for some rows.
    """
    for key, name, fix in (
        ("order", "ORDER BY", "`ontoweir show RESULT --sort COLUMN` sorts answers"),
        ("limit", "LIMIT", "`ontoweir show RESULT --limit N` shows some answers"),
    ):
        if tree.args.get(key) is None or (key == "order" and _is_by_time(tree, catalog)):
            continue
        raise SqlRefusal(
            f"{name} is outside the SQL read here",
            why="answers come in the order of time, and more of them may come",
            fix=f"leave it out; {fix}",
            line=line_of(tree.args[key]),
        )
    tree.set("order", None)
    return tree


def _is_by_time(tree: "exp.Query", catalog: Catalog) -> bool:
    """Whether ORDER BY is by the time of answers."""
    from sqlglot import exp

    order = tree.args["order"]
    if not isinstance(tree, exp.Select) or len(order.expressions) != 1:
        return False
    key = order.expressions[0]
    scope = _find_tables(tree, catalog)
    if key.args.get("desc") or scope is None:
        return False
    inner = _meant(key.this, tree)
    if isinstance(inner, (exp.Cast, exp.TryCast)) and isinstance(inner.this, exp.AnyValue):
        inner = inner.this.this  # the date of a bucket (group_parts)
    group = tree.args.get("group")
    if is_grid(inner) and group is not None:
        times = [c for c in inner.find_all(exp.Column) if _is_time(c, scope)]
        return bool(times) and inner in [_meant(g, tree) for g in group.expressions]
    return isinstance(inner, exp.Column) and group is None and _is_time(inner, scope)


def _find_tables(tree: "exp.Select", catalog: Catalog) -> Scope | None:
    """The tables of FROM and its inner joins, one of which is a stream; None: there is more."""
    start, joins = tree.args.get("from_"), tree.args.get("joins") or ()
    if start is None or any(j.args.get("side") or j.args.get("method") for j in joins):
        return None
    scope = list_tables(tree, catalog)
    streams = [t for t in scope.tables.values() if isinstance(t, Stream)]
    return scope if len(streams) == 1 and len(scope.tables) == len(joins) + 1 else None


def _meant(item: "exp.Expr", tree: "exp.Select") -> "exp.Expr":
    """What a position in SELECT, or a name that it gives, stands for."""
    from sqlglot import exp

    if isinstance(item, exp.Literal) and not item.is_string and item.this.isdigit():
        place = int(item.this) - 1
        if 0 <= place < len(tree.expressions):
            inner: exp.Expr = tree.expressions[place].unalias()
            return inner
    if isinstance(item, exp.Column) and not item.table:
        given = [e for e in tree.expressions if e.alias.lower() == item.name.lower()]
        if len(given) == 1:
            named: exp.Expr = given[0].unalias()
            return named
    return item


def _is_time(column: "exp.Column", scope: Scope) -> bool:
    try:
        found = scope.resolve(column.table or None, column.name)
    except SqlRefusal:
        return False
    return scope.step_of(found) is not None
