"""The first row by time of each key, of those of one time by other columns."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import find_name

if TYPE_CHECKING:
    from sqlglot import exp


def number_first(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query where ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts, x) = 1 is < 2: rows have a place
    among those of their time, which is said of several; the first by time alone is another one.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for window in list(made.find_all(exp.Window)):
        select = window.find_ancestor(exp.Select)
        if select is None or not _is_first(window, select, catalog):
            continue
        parent = window.parent
        alias = parent.alias.lower() if isinstance(parent, exp.Alias) else None
        around = select.parent_select
        if isinstance(parent, (exp.EQ, exp.LTE)):
            _say_below(parent)
        elif alias is not None:
            for one, clause in ((select, "qualify"), (around, "where")):
                where = None if one is None else one.args.get(clause)
                for said in list(where.find_all(exp.EQ, exp.LTE)) if where is not None else ():
                    column = said.this
                    if isinstance(column, exp.Column) and column.name.lower() == alias:
                        _say_below(said)
    return made


def _is_first(window: "exp.Window", select: "exp.Select", catalog: Catalog) -> bool:
    """Whether rows of a stream are numbered by its time, from the first on, and by more."""
    from sqlglot import exp

    order, start = window.args.get("order"), select.args.get("from_")
    if not isinstance(window.this, exp.RowNumber) or order is None or start is None:
        return False
    first, *more = order.expressions
    name = find_name(start.this.name, catalog.streams) if not select.args.get("joins") else None
    stamp = None if name is None else catalog.streams[name].timestamp.lower()
    timed = isinstance(first.this, exp.Column) and first.this.name.lower() == stamp
    return bool(more) and timed and not first.args.get("desc")


def _say_below(said: "exp.Expr") -> None:
    """< 2 for = 1 and <= 1, in place."""
    from sqlglot import exp

    if said.expression == exp.Literal.number(1):
        said.replace(exp.LT(this=said.this.copy(), expression=exp.Literal.number(2)))
