"""One side of a comparison of times: a constant, a timestamp, or the bucket in which it lies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.mappings.model.time_bucket import CalendarBuckets
from ontoweir.mappings.sql.read_literal import read_literal
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.rewriter.windows.read_sql_grid import is_grid, read_interval, read_sql_grid
from ontoweir.rewriter.windows.read_sql_time import read_sql_time
from ontoweir.rewriter.windows.window import Grid

if TYPE_CHECKING:
    from sqlglot import exp

Kind = Literal["instant", "day", "year"]
"""What is compared: instants, days as dates, years as numbers."""


@dataclass(frozen=True, slots=True)
class Constant:
    """An instant, or the begin of a day or a year (µs since 1970)."""

    kind: Kind
    time_us: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A stream's timestamp, `before_us` before it, as it is (`grid` None) or where its bucket
    begins, or `ends`; and `after_us` later."""

    kind: Kind
    alias: str
    column: "exp.Column"
    before_us: int
    grid: Grid | None
    ends: bool
    after_us: int

    @property
    def reach_us(self) -> tuple[int, int]:
        """How much later than the timestamp it is, at least and at most."""
        moved = self.after_us - self.before_us
        if self.grid is None:
            return moved, moved
        longest = self.grid.longest_us
        return (moved + 1, moved + longest) if self.ends else (moved - longest + 1, moved)


Side = Constant | Moment


def read_side(tree: "exp.Expr", scope: Scope) -> Side | None:
    """What is written on one side of a comparison (None: it is something else)."""
    from sqlglot import exp

    after, inner = 0, tree.unnest()
    while isinstance(inner, (exp.Add, exp.Sub)):
        length = read_interval(inner.expression)
        if length is None:
            return None
        after += length if isinstance(inner, exp.Add) else -length
        inner = inner.this.unnest()
    try:
        return _read_moment(inner, after, scope) or _read_constant(inner, after)
    except SqlRefusal:  # said where it is read
        return None


def _read_moment(tree: "exp.Expr", after: int, scope: Scope) -> Moment | None:
    from sqlglot import exp

    kind: Kind = "instant"
    grid: Grid | None = None
    ends, time = False, tree
    cast = isinstance(tree, (exp.Cast, exp.TryCast)) and tree.to.is_type("date")
    called = isinstance(tree, (exp.Date, exp.TsOrDsToDate))
    if cast or (called and len(list(tree.iter_expressions())) == 1):
        kind, grid, time = "day", CalendarBuckets("day"), tree.this
    elif isinstance(tree, exp.Year):
        kind, grid, time = "year", CalendarBuckets("year"), tree.this
    elif isinstance(tree, exp.Extract) and tree.this.name.upper() == "YEAR":
        kind, grid, time = "year", CalendarBuckets("year"), tree.expression
    elif is_grid(tree):
        read = read_sql_grid(tree)
        grid, ends, time = read.grid, read.ends, read.time
    while kind != "instant" and isinstance(time, (exp.TsOrDsToDate, exp.TimeStrToTime)):
        time = time.this
    found = read_sql_time(time, scope)
    if found is None or (kind == "year" and after):
        return None
    alias, stream, before = found
    column = exp.column(stream.timestamp, alias, quoted=True)
    return Moment(kind, alias, column, before, grid, ends, after)


def _read_constant(tree: "exp.Expr", after: int) -> Constant | None:
    from sqlglot import exp

    if isinstance(tree, (exp.Date, exp.TsOrDsToDate)) and isinstance(tree.this, exp.Literal):
        tree = exp.cast(tree.this.copy(), "date")
    value = read_literal(tree)
    if isinstance(value, int) and not isinstance(value, bool):
        known = 1 <= value <= 9999 and not after
        return Constant("year", _micros(f"{value:04}-01-01")) if known else None
    if not isinstance(value, str):
        return None
    try:
        time = _micros(value) + after
    except ValueError:
        return None
    day = (isinstance(tree, exp.Cast) and tree.to.is_type("date")) or len(value) == _DAY
    return Constant("day" if day else "instant", time)


_DAY = len("2026-03-02")


def _micros(text: str) -> int:
    return epoch_us(parse_instant(text))
