"""Windows over rows of a stream of which several may be at one time, in an order that is whole."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.ties.choose_rows import choose_rows, find_stream
from ontoweir.rewriter.ties.note_ties import describe_ties, show_order

if TYPE_CHECKING:
    from sqlglot import exp


def order_ties(tree: "exp.Query", catalog: Catalog) -> "tuple[exp.Query, tuple[str, ...]]":
    """A query in which ROW_NUMBER, LAG and LEAD of the rows of one stream, with static relations,
    and windows of so many ROWS, are ordered by its time and the least of its keys too, after what
    is written, and so are DISTINCT ON, ARG_MAX and ARG_MIN; and what is said of each. Where columns
    of a key are partitioned or ordered by, nothing is added.

    Args:
        tree: the query, whose names are as they were written; it is not changed.
        catalog: the tables.
    """
    from sqlglot import exp

    tree = tree.copy()
    said: dict[str, None] = {}
    for select in list(tree.find_all(exp.Select)):
        choose_rows(select, catalog)
        if (on := select.args.get("distinct")) is not None and on.args.get("on") is not None:
            said |= _complete(select.args.get("order"), select, catalog)
    for window in list(tree.find_all(exp.Window)):
        order, around = window.args.get("order"), window.parent_select
        if around is not None and (_is_ordered(window) or _counts_rows(window)):
            said |= _complete(order, around, catalog, window.args.get("partition_by") or ())
    return tree, tuple(said)


def _is_ordered(window: "exp.Window") -> bool:
    """Whether what is before a row, of those of its time too, makes a difference."""
    from sqlglot import exp

    call = window.this
    while isinstance(call, exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
    return isinstance(call, (exp.RowNumber, exp.Lag, exp.Lead))


def _counts_rows(window: "exp.Window") -> bool:
    """Whether its frame is so many rows, which are ordered by time."""
    spec = window.args.get("spec")
    return spec is not None and str(spec.args.get("kind") or "").upper() == "ROWS"


def _complete(
    order: "exp.Order | None",
    select: "exp.Select",
    catalog: Catalog,
    keys: "Sequence[exp.Expr]" = (),
) -> dict[str, None]:
    """Add to an order, of rows of a key, what it lacks; and what is said of it."""
    from sqlglot import exp

    rest = [] if order is None else _list_rest(order, keys, select, catalog)
    if order is None or not rest:
        return {}
    said = describe_ties(show_order(order), ", ".join(column.name for column in rest))
    items = [exp.Ordered(this=column, nulls_first=True) for column in rest]
    order.set("expressions", [*order.expressions, *items])
    return {said: None}


def _list_rest(
    order: "exp.Order", keys: "Sequence[exp.Expr]", select: "exp.Select", catalog: Catalog
) -> "list[exp.Column]":
    """The columns that an order of rows lacks: of a key, or all that are shown (none: it lacks
    none, or what is ordered are other rows)."""
    from sqlglot import exp

    scope = list_tables(select, catalog)
    if (found := find_stream(select, scope)) is None or select.args.get("group") is not None:
        return []  # groups are told apart by what they are of (number_groups)
    alias, stream = found
    asked = [*keys, *(item.this for item in order.expressions)]
    known = {c[1] for e in asked if (c := resolve(scope, e)) is not None and c[0] == alias}
    whole = [k for k in stream.keys if not any(_may_lack(stream, c) for c in k)]
    if any({*key} <= known for key in whole):
        return []
    shown = [c for e in select.expressions for c in e.find_all(exp.Column)]
    of = [c[1] for e in shown if (c := resolve(scope, e)) is not None and c[0] == alias]
    if any(e.is_star for e in select.expressions) or not {*of} - known:
        of += [c.name for c in stream.columns if c.bucket is None and c.expression is None]
    least = min(whole, key=lambda key: len({*key} - known), default=of)
    names = [c for c in dict.fromkeys((stream.timestamp, *least)) if c not in known]
    quoted = [exp.to_identifier(name, quoted=True) for name in (alias, *names)]
    return [exp.column(name, quoted[0].copy()) for name in quoted[1:]]


def _may_lack(stream: Stream, name: str) -> bool:
    column = stream.column(name)
    return column is not None and column.nullable
