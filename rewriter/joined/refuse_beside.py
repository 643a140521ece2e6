"""Why something is not joined with the latest, or the first, rows of keys."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joined.part import list_part
from ontoweir.rewriter.joined.place_registers import read_register
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp


def refuse_beside(tree: "exp.Query", catalog: Catalog) -> SqlRefusal | None:
    """Why a query of the latest, or the first, rows of keys beside others is not read (None: it is
    of something else).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    tree = open_with(tree)
    start, joins = tree.args.get("from_"), tree.args.get("joins") or ()
    items = [] if start is None else [start.this, *(j.this for j in joins)]
    parts = [list_part(i, catalog) for i in items]
    latest = [p for p in parts if p is not None and not p.is_table]
    if not isinstance(tree, exp.Select) or len(items) < 2 or not latest:
        return None
    others = [i for i in items if i is not latest[0].item]
    groups = [
        i for i in others if isinstance(i, exp.Subquery) and aggregates(i.this) and has_now(i.this)
    ]
    if groups:
        return _refuse(
            f"{groups[0].alias_or_name}, groups of a sliding window, joined with "
            f"{latest[0].alias}, rows that others replace",
            groups[0],
        )
    if aggregates(tree) and sum(p is not None for p in parts) > 1:
        return _refuse(
            f"groups of rows joined with {latest[0].alias}, rows that others replace", tree
        )
    for join in joins:
        register = read_register(join.this, catalog)
        if register is not None and str(join.args.get("side") or "").upper() == "LEFT":
            return SqlRefusal(
                f"LEFT JOIN of {register.alias}, a static relation, with several of the rows "
                "that come and go",
                why="it is joined with the rows of one stream, before these are joined with others",
                fix="write a condition ON columns of one of them, or JOIN",
                line=line_of(join),
            )
    tables = [p for p in parts if p is not None and p.is_table]
    if tables and not has_now(tree):
        one, time = tables[0].alias, next(iter(tables[0].names.values()))
        return SqlRefusal(
            f"{one}, rows without a window, joined with {latest[0].alias}, which others replace",
            why=f"whenever one is replaced, all rows of {one} so far would be told anew",
            fix=f"add {one}.{time} > NOW() - INTERVAL '1' HOUR; for the latest row until that of "
            f"{one}: ASOF JOIN, or (SELECT … WHERE l.{time} <= {one}.{time} ORDER BY l.{time} DESC "
            "LIMIT 1)",
            line=line_of(tables[0].item),
        )
    return None


def _refuse(what: str, place: "exp.Expr") -> SqlRefusal:
    return SqlRefusal(
        what,
        why="what is joined of rows that come and go are rows of streams; of groups of them it is "
        "not kept how they change",
        fix="select the joined rows, and aggregate them in the results; or group by a bucket of "
        "time, date_trunc('hour', ts), whose groups are final; or write a query for each",
        line=line_of(place),
    )
