"""Which numbers of rows conditions choose."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_condition import turn_comparison
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.own_nodes import is_number

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Limits:
    """The rows with numbers of a window from `least` to `limit`; `rest`: what is said besides."""

    window: "exp.Window"
    least: int
    limit: int
    rest: "tuple[exp.Expr, ...]"


@dataclass(frozen=True, slots=True)
class RowLimit:
    """The rows from the `least` to the one of number `limit`, and with `ties` those equal to it."""

    least: int
    limit: int
    ties: bool


def read_limits(conjuncts: "Sequence[exp.Expr]", named: "dict[str, exp.Window]") -> "Limits | None":
    """The numbers up to one that conditions choose (None: they do not, or of several windows).

    Args:
        conjuncts: what holds together.
        named: the windows that a SELECT gives names.

    Raises:
        SqlRefusal: no row has such a number.
    """
    ranges, rest = [], []
    for one in conjuncts:
        found = _read(one, named)
        if found is None:
            rest.append(one)
        else:
            ranges.append(found)
    windows = {w.sql("spark") for w, *_ in ranges}
    most = [high for _, _, high in ranges if high is not None]
    if len(windows) != 1 or not most:
        return None
    window, least, limit = ranges[0][0], max(1, *(low for _, low, _ in ranges)), min(most)
    if least > limit:
        raise SqlRefusal(
            f"no row has such a number, {show_sql(window)}",
            why="numbers begin with 1, and the greatest must not be less than the least",
            fix="write n <= 3, or n BETWEEN 2 AND 3",
            line=line_of(window),
        )
    return Limits(window, least, limit, tuple(rest))


def _read(
    condition: "exp.Expr", named: "dict[str, exp.Window]"
) -> "tuple[exp.Window, int, int | None] | None":
    from sqlglot import exp

    condition = condition.unnest()
    if isinstance(condition, exp.Between):
        window = _window(condition.this, named)
        low, high = (whole_number(condition.args.get(k)) for k in ("low", "high"))
        if window is None or low is None or high is None or condition.args.get("symmetric"):
            return None
        return window, low, high
    if not isinstance(condition, (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ)):
        return None
    kind: type[exp.Expr] = type(condition)
    left, right = condition.this, condition.expression
    if isinstance(left, exp.Literal):
        left, right, kind = right, left, turn_comparison(kind)
    window, number = _window(left, named), whole_number(right)
    if window is None or number is None:
        return None
    if kind is exp.EQ:
        return window, number, number
    if kind in (exp.LT, exp.LTE):
        return window, 1, number - (kind is exp.LT)
    return window, number + (kind is exp.GT), None


def _window(tree: "exp.Expr", named: "dict[str, exp.Window]") -> "exp.Window | None":
    """The window that numbers rows in an order."""
    from sqlglot import exp

    if isinstance(tree, exp.Column):
        tree = named.get(tree.name.lower(), tree)
    if not isinstance(tree, exp.Window) or not is_number(tree) or not tree.args.get("order"):
        return None
    return tree


def whole_number(tree: "exp.Expr | None") -> int | None:
    """A whole number that is written (None: something else)."""
    from sqlglot import exp

    if not isinstance(tree, exp.Literal) or tree.is_string or not tree.is_int:
        return None
    return int(tree.this)


def read_size(select: "exp.Select") -> RowLimit | None:
    """LIMIT n, also with OFFSET, or FETCH FIRST n ROWS WITH TIES, of a SELECT that has one of them
    (None: a share, no number, or ties after OFFSET)."""
    from sqlglot import exp

    limit, offset = select.args["limit"], select.args.get("offset")
    fetch = isinstance(limit, exp.Fetch)
    size = whole_number(limit.args.get("count") if fetch else limit.expression)
    skipped = 0 if offset is None else whole_number(offset.expression)
    options = limit.args.get("limit_options")
    ties = options is not None and bool(options.args.get("with_ties"))
    odd = options is not None and (not fetch or bool(options.args.get("percent")))
    if size is None or skipped is None or size < 1 or odd or (ties and skipped):
        return None
    return RowLimit(skipped + 1, skipped + size, ties)
