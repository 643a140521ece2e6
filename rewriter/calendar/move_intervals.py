"""Comparisons of a row's time with a value that is a time, and INTERVALs: beside the former."""

from typing import TYPE_CHECKING, NamedTuple

from ontoweir.mappings.model.catalog import Catalog, TimestampType
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.calendar.change_comparisons import change_comparisons
from ontoweir.rewriter.windows.read_sql_grid import read_interval, write_interval

if TYPE_CHECKING:
    from sqlglot import exp


class _Term(NamedTuple):
    """A column of times: a row's own time (`is_time`) or a value; and so many µs later."""

    column: "exp.Column"
    alias: str
    is_time: bool
    after_us: int


def move_intervals(tree: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT in whose WHERE and ON a value that is a time is compared as it is, with the time of
    a row so much earlier or later: `due + INTERVAL '1' HOUR > ts` is `due > ts - INTERVAL '1'
    HOUR`, and `due - ts <= INTERVAL '1' HOUR` is `due <= ts + INTERVAL '1' HOUR`.

    Args:
        tree: a SELECT without subqueries; it is copied.
        catalog: the tables.
    """
    return change_comparisons(tree, catalog, _may_change, _move)


def _may_change(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return not isinstance(node, exp.In) and (
        isinstance(node, exp.Between) or node.find(exp.Interval) is not None
    )


def _move(node: "exp.Expr", scope: Scope) -> "exp.Expr | None":
    """What stands for a comparison (None: the comparison itself)."""
    from sqlglot import exp

    if isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        both = (exp.GTE, low), (exp.LTE, high)
        plain = [kind(this=node.this.copy(), expression=side.copy()) for kind, side in both]
        made = [_move(part, scope) for part in plain]
        if made == [None, None] and not _is_mixed(node.this, low, high, scope=scope):
            return None
        parts = [m or p for m, p in zip(made, plain, strict=True)]
        return exp.Paren(this=exp.And(this=parts[0], expression=parts[1]))
    left, right = _read_pair(node, scope)
    if left is None or right is None or left.is_time == right.is_time:
        return None
    value, time = (right, left) if left.is_time else (left, right)
    if value.after_us == 0 and not _is_difference(node):
        return None
    if (
        value.alias == time.alias
        and node.find_ancestor(exp.Or, exp.Select) is not node.parent_select
    ):
        return None  # alternatives of one row are computed
    moved = time.after_us - value.after_us
    side = time.column.copy()
    if moved:
        kind = exp.Add if moved > 0 else exp.Sub
        side = kind(this=side, expression=write_interval(abs(moved)))  # type: ignore[assignment]
    sides = (side, value.column.copy()) if left.is_time else (value.column.copy(), side)
    return type(node)(this=sides[0], expression=sides[1])


def _is_mixed(*sides: "exp.Expr", scope: Scope) -> bool:
    """Whether it is between a row's own time and a value."""
    terms = [_read(side, scope) for side in sides]
    return None not in terms and len({t.is_time for t in terms[1:] if t is not None}) > 1


def _read_pair(node: "exp.Expr", scope: Scope) -> tuple[_Term | None, _Term | None]:
    """The two sides; of a difference that is compared with a length, what is on either side of it
    once the less is moved."""
    from sqlglot import exp

    one, other = node.this.unnest(), node.args["expression"].unnest()
    if isinstance(one, exp.Sub) and (length := read_interval(other)) is not None:
        return _read(one.this, scope), _read(one.expression, scope, length)
    if isinstance(other, exp.Sub) and (length := read_interval(one)) is not None:
        return _read(other.expression, scope, length), _read(other.this, scope)
    return _read(one, scope), _read(other, scope)


def _is_difference(node: "exp.Expr") -> bool:
    """Whether a side is a length: the other one is a difference of times."""
    sides = node.this.unnest(), node.args["expression"].unnest()
    return any(read_interval(side) is not None for side in sides)


def _read(tree: "exp.Expr", scope: Scope, after_us: int = 0) -> _Term | None:
    """A column of times, and INTERVALs that are added or taken away (None: something else)."""
    from sqlglot import exp

    inner = tree.unnest()
    while isinstance(inner, (exp.Add, exp.Sub)):
        if (length := read_interval(inner.expression)) is None:
            return None
        after_us += length if isinstance(inner, exp.Add) else -length
        inner = inner.this.unnest()
    if not isinstance(inner, exp.Column) or inner.is_star:
        return None
    try:
        column = scope.resolve(inner.table or None, inner.name, line_of(inner))
    except SqlRefusal:  # said where it is read
        return None
    if scope.step_of(column) is not None:
        return _Term(inner, column.alias, True, after_us)
    is_value = isinstance(scope.type_of(column), TimestampType)
    return _Term(inner, column.alias, False, after_us) if is_value else None
