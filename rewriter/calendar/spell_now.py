"""Today, yesterday, this hour: comparisons of a time's bucket with that of NOW()."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.parse_duration import UNITS_US
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.read_sql_grid import (
    MONTHS,
    read_grid_or_day,
    read_interval,
    read_months,
)
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp

_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_NAMED = ("GETDATE", "SYSDATE")
_DAY = UNITS_US["day"]
_DAYS = "days"
"""What a number is of that is added to a day."""
_FLIPPED = {"LT": "GT", "LTE": "GTE", "GT": "LT", "GTE": "LTE", "EQ": "EQ"}


@dataclass(frozen=True, slots=True)
class _Now:
    """NOW(), from the begin of its `unit` on (None: as it is), so many µs, or `months`, later;
    `is_date`: it is a day, of which numbers are added as days."""

    unit: str | None = None
    shift_us: int = 0
    is_date: bool = False
    months: int = 0

    def write(self, more_us: int = 0) -> "exp.Expr":
        """The same, so much later, in words that windows are read of."""
        from sqlglot import exp

        made: exp.Expr = exp.Anonymous(this="NOW")
        if self.unit is not None:
            made = exp.TimestampTrunc(this=made, unit=exp.Var(this=self.unit.upper()))
        shift = self.shift_us + more_us
        if shift == self.months == 0:
            return made
        if self.months:
            amount = exp.Literal.string(str(abs(self.months)))
            length = exp.Interval(this=amount, unit=exp.Var(this="MONTH"))
            return (exp.Sub if self.months < 0 else exp.Add)(this=made, expression=length)
        unit = next(u for u in reversed(UNITS_US) if u != "week" and shift % UNITS_US[u] == 0)
        amount = exp.Literal.string(str(abs(shift) // UNITS_US[unit]))
        length = exp.Interval(this=amount, unit=exp.Var(this=unit.upper()))
        return (exp.Sub if shift < 0 else exp.Add)(this=made, expression=length)


def spell_now(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query where `CAST(ts AS DATE) = CURRENT_DATE - 1`, `date_trunc('hour', ts) = date_trunc(
    'hour', NOW())`, BETWEEN of such, and the like, are comparisons of the time itself with the
    begin of a bucket, which windows are read of; it is changed in place.

    CURRENT_DATE, GETDATE(), DATE_SUB, DATEADD and numbers of days are NOW() and its day, as much
    earlier or later. The month of NOW() is compared where the time is a stream's, which is not
    later than NOW(). What else there is of NOW() stays.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: CURRENT_DATE is compared with something else.
    """
    from sqlglot import exp

    for between in list(tree.find_all(exp.Between)):
        if not between.args.get("symmetric"):
            low = exp.GTE(this=between.this.copy(), expression=between.args["low"].copy())
            high = exp.LTE(this=between.this.copy(), expression=between.args["high"].copy())
            sides = [_spell(one, between, catalog) for one in (low, high)]
            if any(side is not None for side in sides):
                both = [
                    low if sides[0] is None else sides[0],
                    high if sides[1] is None else sides[1],
                ]
                between.replace(exp.paren(exp.and_(*both)))
    for node in list(tree.find_all(exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
        made = _spell(node, node, catalog)
        if made is not None:
            node.replace(made)
    for day in tree.find_all(exp.CurrentDate):
        compared = day.find_ancestor(exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Select)
        if compared is not None and not isinstance(compared, exp.Select):
            raise SqlRefusal(
                f"{show_sql(compared)} is not read",
                why="CURRENT_DATE is NOW()'s day, and a window is a stream's timestamp, or the "
                "day, month or hour of it, compared with a day, or so much before",
                fix="write e.g. CAST(ts AS DATE) = CURRENT_DATE - 1, or ts >= CURRENT_DATE - "
                "INTERVAL '7' DAY, joined to the other conditions by AND",
                line=line_of(compared),
            )
    return tree


def _spell(node: "exp.Expr", place: "exp.Expr", catalog: Catalog) -> "exp.Expr | None":
    """A comparison with a day, or the begin of a bucket, of NOW() (None: it stays)."""
    from sqlglot import exp

    sign, sides = type(node).__name__, (node.this, node.expression)
    if not any(is_now(n) or _is_other(n) for n in node.walk()):
        return None  # what follows goes into long expressions by recursion
    if (age := _spell_age(node)) is not None:
        return age
    found = [_read_now(side) for side in sides]
    if (found[0] is None) == (found[1] is None):
        return None
    now, other = (found[1], sides[0]) if found[0] is None else (found[0], sides[1])
    sign = sign if found[0] is None else _FLIPPED[sign]
    assert now is not None
    if any(is_now(n) for n in other.walk()):
        return None
    try:
        grid = read_grid_or_day(other)
    except SqlRefusal:
        return None
    if grid is None:
        if not any(map(_is_other, sides[found[0] is None].walk())):
            return None
        plain = [now.write(), other.copy()] if found[0] is not None else [other.copy(), now.write()]
        return type(node)(this=plain[0], expression=plain[1])
    time, unit = grid[0], _name(grid[1])
    if unit is None or now.unit is None or not _is_aligned(now, unit):
        return None
    width = UNITS_US.get(unit)
    start = now.write()
    before: type[exp.Expr] = exp.LT
    if width is not None:
        end = now.write(width)
        if now.months and sign in ("EQ", "GT", "LTE"):
            return None
    elif now.months + MONTHS[unit] <= 0:
        end = replace(now, months=now.months + MONTHS[unit]).write()
    else:  # the month of NOW() is over when all its times are
        if sign in ("GT", "LTE") or not _is_of_stream(time, place, catalog):
            return None
        end, before = exp.Anonymous(this="NOW"), exp.LTE
        if sign == "EQ" and (now.months or now.unit != unit):
            return None
    match sign:
        case "GTE":
            return exp.GTE(this=time.copy(), expression=start)
        case "LT":
            return exp.LT(this=time.copy(), expression=start)
        case "GT":
            return exp.GTE(this=time.copy(), expression=end)
        case "LTE":
            return exp.LT(this=time.copy(), expression=end)
        case _:
            first = exp.GTE(this=time.copy(), expression=start)
            last = before(this=time.copy(), expression=end)
            return exp.paren(exp.and_(first, last))


def _spell_age(node: "exp.Expr") -> "exp.Expr | None":
    """TIMESTAMPDIFF(MINUTE, ts, NOW()) <= 30, of whole units, as a comparison of the time (None: it
    is something else). A time that is later than NOW() is less than a unit before it."""
    from sqlglot import exp

    call, number, sign = node.this.unnest(), node.expression.unnest(), type(node).__name__
    if isinstance(number, exp.TimestampDiff) and sign in _FLIPPED:
        call, number, sign = number, call, _FLIPPED[sign]
    whole = isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit()
    if not isinstance(call, exp.TimestampDiff) or not whole or _read_now(call.this) != _Now():
        return None
    width = UNITS_US.get(call.text("unit").lower().removesuffix("s"))
    least = int(number.name) + (sign in ("LTE", "GT"))
    if width is None or sign == "EQ" or least < 1:
        return None
    start = _Now(None, -least * width).write()
    later = sign in ("LT", "LTE")
    return (exp.GT if later else exp.LTE)(this=call.expression.copy(), expression=start)


def _is_other(node: "exp.Expr") -> bool:
    """Whether it says NOW(), or how much earlier, in words that windows are not read of."""
    from sqlglot import exp

    named = isinstance(node, exp.Anonymous) and node.name.upper() in _NAMED
    return named or isinstance(
        node, (exp.CurrentDate, exp.TsOrDsAdd, exp.TimestampAdd, exp.AddMonths)
    )


def _is_aligned(now: _Now, unit: str) -> bool:
    """Whether a bucket of a unit begins then."""
    assert now.unit is not None
    width = UNITS_US.get(unit)
    if width is None:
        months = now.unit == unit or (now.unit, unit) in (
            ("year", "month"),
            ("year", "quarter"),
            ("quarter", "month"),
        )
        return months and now.shift_us == 0 and now.months % MONTHS[unit] == 0
    if now.months and (unit == "week" or now.unit == "week"):
        return False
    if unit == "week":
        return now.unit == "week" and now.shift_us % width == 0
    return _UNITS.index(now.unit) >= _UNITS.index(unit) and now.shift_us % width == 0


def _is_of_stream(time: "exp.Expr", place: "exp.Expr", catalog: Catalog) -> bool:
    """Whether it is the timestamp of a stream."""
    from sqlglot import exp

    select = place.find_ancestor(exp.Select)
    if not isinstance(time, exp.Column) or select is None:
        return False
    try:
        scope = list_tables(select, catalog)
        return scope.step_of(scope.resolve(time.table or None, time.name)) is not None
    except SqlRefusal:
        return False


def _name(grid: object) -> str | None:
    """The unit of a grid of UTC (None: it has another width, or zone)."""
    if isinstance(grid, CalendarBuckets):
        return grid.unit if grid.zone == "UTC" else None
    if isinstance(grid, FixedBuckets) and grid == FixedBuckets(grid.width_us):
        return next((u for u in _UNITS[:3] if UNITS_US[u] == grid.width_us), None)
    return None


def _read_now(tree: "exp.Expr") -> _Now | None:
    """NOW(), its day, or the begin of its bucket, with what is added (None: something else)."""
    from sqlglot import exp

    node = tree.unnest()
    if is_now(node) or (isinstance(node, exp.Anonymous) and node.name.upper() in _NAMED):
        return _Now()
    if isinstance(node, exp.CurrentDate):
        return _Now("day", is_date=True) if node.this is None else None
    if isinstance(node, (exp.Add, exp.Sub)):
        sign = -1 if isinstance(node, exp.Sub) else 1
        return _shift(_read_now(node.this), node.expression, sign, _DAYS, dates=False)
    if isinstance(node, exp.TsOrDsAdd):
        return _shift(_read_now(node.this), node.expression, 1, node.text("unit"), dates=True)
    if isinstance(node, exp.TimestampAdd):
        return _shift(_read_now(node.this), node.expression, 1, node.text("unit"), dates=False)
    if isinstance(node, exp.AddMonths):
        return _shift(_read_now(node.this), node.expression, 1, "month", dates=True)
    try:
        grid = read_grid_or_day(node)
    except SqlRefusal:
        return None
    inner = None if grid is None else _read_now(grid[0])
    unit = None if grid is None else _name(grid[1])
    if inner is None or unit is None:
        return None
    is_date = not isinstance(node, (exp.TimestampTrunc, exp.Floor))
    if inner.months and (unit == "week" or inner.months % MONTHS.get(unit, 1)):
        return None  # it begins another one than so many months before
    within = inner.unit in (None, *_UNITS[: min(_UNITS.index("week"), _UNITS.index(unit))])
    if within and inner.shift_us == 0:
        return _Now(unit, is_date=is_date, months=inner.months)
    days = unit == "day" and inner.unit in (None, "day") and inner.shift_us % _DAY == 0
    return replace(inner, unit="day", is_date=is_date) if days else None


def _shift(now: _Now | None, more: "exp.Expr", sign: int, unit: str, *, dates: bool) -> _Now | None:
    """NOW() with something added: an INTERVAL, or a number of a unit; `dates`: what a number is
    added to is made a day."""
    from sqlglot import exp

    inner = more.unnest()
    if isinstance(inner, exp.Mul) and isinstance(inner.expression, exp.Neg):
        inner, sign = inner.this.unnest(), -sign  # how DATE_SUB is parsed
    if isinstance(inner, exp.Neg):
        inner, sign = inner.this.unnest(), -sign
    if now is None:
        return None
    if now.months:
        return None  # what is added to months is not so much to NOW()
    months = read_months(inner)
    number = isinstance(inner, exp.Literal) and not inner.is_string and inner.name.isdigit()
    if number and (size := MONTHS.get(unit.lower().removesuffix("s"))) is not None:
        months = int(inner.name) * size
        now = _Now("day", is_date=True) if dates and now == _Now() else now
    if months is not None:
        return replace(now, months=sign * months) if now.shift_us == 0 else None
    if isinstance(inner, exp.Interval):
        length = read_interval(inner)
        return None if length is None else replace(now, shift_us=now.shift_us + sign * length)
    if not number:
        return None
    width = UNITS_US.get(unit.lower().removesuffix("s"))
    if dates and now == _Now():
        now = _Now("day", is_date=True)
    if width is None or (unit == _DAYS and not now.is_date):
        return None  # NOW() - 7 has no type
    return replace(now, shift_us=now.shift_us + sign * int(inner.name) * width)
