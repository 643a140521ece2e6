"""Why something is not joined with the latest, or the first, rows of keys."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joined.part import list_part
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
