"""A stream as the first table of numbered rows."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number, list_windows

if TYPE_CHECKING:
    from sqlglot import exp


def lead_stream(tree: "exp.Select", catalog: Catalog) -> None:
    """FROM s CROSS JOIN r WHERE … for FROM r JOIN s ON …, in place, in each SELECT that numbers
    rows of one stream and static relations, by inner joins alone."""
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        joins = list(select.args.get("joins") or ())
        scope, start = list_tables(select, catalog), select.args.get("from_")
        if not joins or start is None or len(scope.tables) != 1 + len(joins):
            continue
        plain = all(
            not any(j.args.get(k) for k in ("side", "method", "using"))
            and str(j.args.get("kind") or "").upper() in ("", "INNER", "CROSS")
            for j in joins
        )
        streams = [a for a, t in scope.tables.items() if isinstance(t, Stream)]
        stars = any(e.is_star for e in select.expressions)
        if not plain or stars or len(streams) != 1 or start.this.alias_or_name == streams[0]:
            continue
        windows = [w for w in list_windows(select) if is_number(w)]
        if not windows or select.args.get("distinct"):
            continue
        tables = [start.this, *(j.this for j in joins)]
        first = next(t for t in tables if t.alias_or_name == streams[0])
        said = [on.copy() for j in joins if (on := j.args.get("on")) is not None]
        select.set("from_", exp.From(this=first.copy()))
        others = [t for t in tables if t is not first]
        select.set("joins", [exp.Join(this=t.copy(), kind="CROSS") for t in others])
        if said:
            select.where(*said, copy=False)
