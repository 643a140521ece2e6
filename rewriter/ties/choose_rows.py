"""ARG_MAX and ARG_MIN of a key, where several rows may be the greatest, as the number of a row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group

if TYPE_CHECKING:
    from sqlglot import exp

_READ = frozenset({"expressions", "from_", "joins", "where", "group"})


def choose_rows(select: "exp.Select", catalog: Catalog) -> bool:
    """QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY y DESC) = 1, in place, of the rows where
    x and y have values, for ARG_MAX(x, y) and MAX(y) by columns of one stream, with static
    relations, where x and y are of the stream and not declared `nullable`; of rows with one y any
    is right. ARG_MIN likewise. Another query is left as it is; whether it is one of these.

    Args:
        select: the query, or a part of it, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    group, scope = select.args.get("group"), list_tables(select, catalog)
    if group is None or {k for k, v in select.args.items() if v} - _READ:
        return False
    if {k for k, v in group.args.items() if v} != {"expressions"}:
        return False
    if (found := find_stream(select, scope)) is None:
        return False
    alias, stream = found
    keys = [mean_group(k, select, scope) for k in group.expressions]
    items = [(e.alias_or_name or e.sql("spark"), e.unalias()) for e in select.expressions]
    calls = [e for _, e in items if isinstance(e, (exp.ArgMax, exp.ArgMin))]
    if len({c.this for c in calls}) != 1 or not all(isinstance(k, exp.Column) for k in keys):
        return False  # of several, each passes over rows in which it is NULL
    kind, by = type(calls[0]), calls[0].expression
    extreme = exp.Max if kind is exp.ArgMax else exp.Min
    made: list[exp.Expr] = []
    for name, item in items:
        chosen = isinstance(item, kind) and item.expression == by and not item.args.get("count")
        if not (chosen or (isinstance(item, extreme) and item.this == by) or item in keys):
            return False
        value = item if item in keys else item.this
        made.append(exp.alias_(value.copy(), name, quoted=True))
    there: list[exp.Expr] = []
    for value in (by, calls[0].this):
        of = resolve(scope, value)
        column = stream.column(of[1]) if of is not None and of[0] == alias else None
        if of == (alias, stream.timestamp):
            continue
        if column is None or column.nullable:
            return False
        there.append(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())))
    order = exp.Order(expressions=[exp.Ordered(this=by.copy(), desc=kind is exp.ArgMax)])
    number = exp.Window(this=exp.RowNumber(), partition_by=[k.copy() for k in keys], order=order)
    select.set("expressions", made)
    select.set("group", None)
    select.where(*there, copy=False)
    one = exp.EQ(this=number, expression=exp.Literal.number(1))
    select.set("qualify", exp.Qualify(this=one))
    return True


def find_stream(select: "exp.Select", scope: Scope) -> tuple[str, Stream] | None:
    """The one stream that a SELECT reads, with static relations alone, and its alias (None: it
    reads something else, or has the rows of others without one of it)."""
    streams = [(a, t) for a, t in scope.tables.items() if isinstance(t, Stream)]
    joins = select.args.get("joins") or ()
    if len(scope.tables) != 1 + len(joins) or len(streams) != 1:
        return None
    padded = any(join.args.get("side") in ("RIGHT", "FULL") for join in joins)
    if padded or (select.args["from_"].this.alias_or_name != streams[0][0] and _is_outer(joins)):
        return None
    return streams[0]


def _is_outer(joins: "Sequence[exp.Join]") -> bool:
    return any(join.args.get("side") for join in joins)
