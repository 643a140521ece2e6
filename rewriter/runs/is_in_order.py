"""Whether the rows of a key come in the order of a value that each of them has for itself."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.mappings.model.time_bucket import CalendarBuckets
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.runs.list_pinned import list_pinned
from ontoweir.rewriter.windows.read_sql_grid import (
    is_grid,
    name_value_grid,
    read_grid_or_day,
)

if TYPE_CHECKING:
    from sqlglot import exp


def is_in_order(
    ordered: "exp.Expr", select: "exp.Select", stream: Stream, scope: Scope
) -> frozenset[str] | None:
    """The key whose rows come in the order of a value, each with another one: the time that a row
    had before the one after it came; or what stands in runs, of rows that end these (None: it is
    not known to be such a value).

    Args:
        ordered: the value, of ORDER BY.
        select: of whose rows it is.
        stream: of these rows.
        scope: with it.
    """
    from sqlglot import exp

    tree, meeting = ordered.this, scope.catalog.preceding.get(stream.name)
    if meeting is None or not meeting.after or meeting.ties:
        return None
    if isinstance(tree, exp.Column):
        name = scope.resolve(tree.table or None, tree.name, line_of(tree)).column
        keys = scope.catalog.streams[meeting.base].keys
        if name == meeting.time and any({*key} <= {*meeting.key, name} for key in keys):
            return _list_open(meeting)
    where = select.args.get("where")
    # what is NULL comes first
    sorts = ordered.args.get("nulls_first") or not isinstance(tree, exp.Column)
    for condition in [] if where is None else split_conjuncts(where.this):
        ended = condition.unnest()
        last = isinstance(ended, exp.NullSafeNEQ) and _is_so(tree, ended.this)
        if last and sorts and _is_of_next(ended, meeting, stream, scope):
            return _list_open(meeting)
    return None


def _list_open(meeting: Preceding) -> frozenset[str]:
    """The columns of the key that have several values."""
    return frozenset(meeting.key) - {*list_pinned(meeting.only)}


def _is_so(tree: "exp.Expr", value: "exp.Expr") -> bool:
    """Whether it is a value, or the date of one that is the begin of a day."""
    from sqlglot import exp

    tree, value = tree.unnest(), value.unnest()
    named = name_value_grid(tree) if is_grid(tree) else tree
    if named.sql("spark") == value.sql("spark"):
        return True
    dated = isinstance(tree, (exp.Cast, exp.TryCast)) and tree.to.is_type("date")
    found = read_grid_or_day(value)
    days = found is not None and found[1] == CalendarBuckets("day")
    return days and dated and bool(tree.this.unnest() == value)


def _is_of_next(ended: "exp.Expr", meeting: Preceding, stream: Stream, scope: Scope) -> bool:
    """Whether a value is not that of the next row of the key."""
    from sqlglot import exp

    theirs = ended.expression.unnest()
    if not isinstance(theirs, exp.Column):
        return False
    counted = next((c for c in meeting.columns if c.name == theirs.name), None)
    if counted is None or (counted.function, counted.first, counted.last) != ("first", -1, -1):
        return False
    return counted.argument == _read(ended.this, stream, scope)


def _read(tree: "exp.Expr", stream: Stream, scope: Scope) -> Expression:
    from sqlglot import exp

    made = exp.Paren(this=tree.copy())
    for column in made.find_all(exp.Column):
        column.set("table", None)
    return read_row_expression(made.this, Scope(scope.catalog, {stream.name: stream}))
