"""A grid of time in SQL: `date_trunc('hour', t)`, `FLOOR(t TO HOUR)`, `TUMBLE(t, INTERVAL …)`,
`time_bucket(INTERVAL …, t)`, of whatever time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.mappings.model.parse_duration import UNITS_US, parse_duration
from ontoweir.mappings.model.time_bucket import MONDAY_US, CalendarBuckets, FixedBuckets
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.windows.window import Grid

if TYPE_CHECKING:
    from sqlglot import exp

_CALENDAR = ("day", "week", "month", "quarter", "year")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""How many months a unit has."""
_TRUNCATED = ("second", "minute", "hour", "day")
_NAMES = ("TUMBLE", "TUMBLE_START", "TUMBLE_END", "TIME_BUCKET", "DATE_TRUNC", "DATE_BIN")


@dataclass(frozen=True, slots=True)
class SqlGrid:
    """A call: of which time, on which grid; whether the end of the bucket is asked for."""

    time: "exp.Expr"
    grid: Grid
    ends: bool


def is_grid(node: "exp.Expr") -> bool:
    """Whether it is a call that read_sql_grid reads."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _NAMES
    if isinstance(node, exp.Floor):
        return node.args.get("to") is not None
    return isinstance(node, (exp.TimestampTrunc, exp.DateTrunc, exp.DateBin))


def read_sql_grid(node: "exp.Expr") -> SqlGrid:
    """The grid and the time of a call.

    Raises:
        SqlRefusal: it has no known unit or width.
    """
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        name, given = node.name.upper(), list(node.expressions)
    elif isinstance(node, exp.DateBin):
        origin = node.args.get("unit")
        name, given = "DATE_BIN", [node.this, node.expression, *([origin] if origin else [])]
    else:
        unit = node.args["to"] if isinstance(node, exp.Floor) else node.args["unit"]
        name, given = "DATE_TRUNC", [unit, node.this]
    if len(given) not in (2, 3):
        raise refuse_grid(node, f"{len(given)} arguments")
    time, width = given[:2] if name.startswith("TUMBLE") else (given[1], given[0])
    third = given[2] if len(given) == 3 else None
    grid = (
        _truncated(width, third, node)
        if name == "DATE_TRUNC"
        else _binned(width, third, node, name)
    )
    return SqlGrid(time, grid, name == "TUMBLE_END")


def read_grid_or_day(node: "exp.Expr") -> "tuple[exp.Expr, Grid] | None":
    """The time and the grid of a call, or of a CAST of a time to its day in UTC (None: it is
    another one).

    Raises:
        SqlRefusal: it has no known unit or width.
    """
    from sqlglot import exp

    node = node.unnest()
    cast = isinstance(node, (exp.Cast, exp.TryCast)) and node.to.is_type("date")
    if cast or isinstance(node, (exp.Date, exp.TsOrDsToDate)):
        return node.this, CalendarBuckets("day")
    if not is_grid(node):
        return None
    made = read_sql_grid(node)
    return made.time, made.grid


def name_value_grid(node: "exp.Expr") -> "exp.Expr":
    """A call on a grid of a time that is a value, no stream's timestamp, as an expression of a row:
    DATE_TRUNC(unit, time) or TUMBLE(time, width, offset); the end of a bucket, as so much later.

    Raises:
        SqlRefusal: it has no known unit or width, or it is of days of a time zone.
    """
    from sqlglot import exp

    made = read_sql_grid(node)
    if isinstance(made.grid, CalendarBuckets):
        unit: str | None = made.grid.unit
        if made.ends or made.grid.zone != "UTC":
            raise SqlRefusal(
                f"{show_sql(node)}, of a time that is a value here, no stream's timestamp",
                why="values are truncated in UTC, to where a unit begins",
                fix="leave the time zone out; or truncate the timestamp of a stream, in a query "
                "without expressions of columns of several tables",
                line=line_of(node),
            )
    else:
        size = made.grid.width_us if made.grid.origin_us == 0 else None
        unit = next((u for u in _TRUNCATED if UNITS_US[u] == size), None)
    if unit is not None:
        given = [exp.Literal.string(unit), made.time]
        start = exp.Anonymous(this="DATE_TRUNC", expressions=given)
    else:
        assert isinstance(made.grid, FixedBuckets)
        lengths = [write_interval(made.grid.width_us), write_interval(made.grid.origin_us)]
        start = exp.Anonymous(this="TUMBLE", expressions=[made.time, *lengths])
    if not made.ends:
        return start
    assert isinstance(made.grid, FixedBuckets)
    return exp.Add(this=start, expression=write_interval(made.grid.width_us))


_VALUED = "valued"


def value_aggregated(tree: "exp.Query") -> bool:
    """Note of the buckets of times that aggregates are of, as in `COUNT(DISTINCT date_trunc('hour',
    ts))`, that they are values of rows; whether there are such."""
    from sqlglot import exp

    found = [n for call in tree.find_all(exp.AggFunc) for n in call.walk() if is_grid(n)]
    for node in found:
        node.meta[_VALUED] = True
    return bool(found)


def is_valued(node: "exp.Expr") -> bool:
    """Whether a grid is noted to be a value of a row."""
    return bool(node.meta.get(_VALUED))


def write_interval(micros: int) -> "exp.Interval":
    """An INTERVAL of so many µs."""
    from sqlglot import exp

    return exp.Interval(this=exp.Literal.string(str(micros)), unit=exp.Var(this="MICROSECOND"))


def read_interval(given: "exp.Expr") -> int | None:
    """The length of an INTERVAL in µs; None: it is none."""
    from sqlglot import exp

    if not isinstance(given, exp.Interval):
        return None
    unit = given.args.get("unit")
    text = given.this.name if given.this is not None else ""
    return parse_duration(f"{text} {unit.name if unit else ''}")


def read_months(given: "exp.Expr") -> int | None:
    """How many months an INTERVAL of months, quarters or years is; None: it is none."""
    from sqlglot import exp

    if not isinstance(given, exp.Interval) or given.this is None:
        return None
    unit = given.args.get("unit")
    number, _, named = given.this.name.strip().partition(" ")
    name = (named.strip() or (unit.name if unit else "")).lower().removesuffix("s")
    if name not in MONTHS or not number.isdigit():
        return None
    return int(number) * MONTHS[name]


def _truncated(unit: "exp.Expr", zone: "exp.Expr | None", node: "exp.Expr") -> Grid:
    name = unit.name.lower().removesuffix("s")
    place = "UTC" if zone is None else _text(zone, node)
    if name in _CALENDAR:
        return CalendarBuckets(name, _check_zone(place, node))  # type: ignore[arg-type]
    if name not in UNITS_US:
        raise refuse_grid(node, f"the unit {unit.name!r}")
    if zone is not None and name == "hour":
        raise refuse_grid(node, "hours of a time zone")
    return FixedBuckets(UNITS_US[name])


def _binned(width: "exp.Expr", origin: "exp.Expr | None", node: "exp.Expr", name: str) -> Grid:
    from sqlglot import exp

    if isinstance(width, exp.Interval):
        unit = width.args.get("unit")
        text = f"{width.this.name if width.this is not None else ''} {unit.name if unit else ''}"
    else:
        text = _text(width, node)
    amount, _, unit_name = text.strip().partition(" ")
    calendar = unit_name.strip().lower().removesuffix("s")
    if amount == "1" and calendar in ("month", "quarter", "year") and origin is None:
        return CalendarBuckets(calendar)  # type: ignore[arg-type]
    duration = parse_duration(text)
    if duration is None or duration <= 0:
        raise refuse_grid(node, f"the width {text.strip()!r}")
    if name.startswith("TUMBLE"):
        return FixedBuckets(duration, read_offset(origin, node) % duration)
    start = MONDAY_US if origin is None else _moment(origin, node)
    return FixedBuckets(duration, start % duration)


def read_offset(given: "exp.Expr | None", node: "exp.Expr") -> int:
    """From where buckets are counted, in µs after 1970."""
    from sqlglot import exp

    if given is None:
        return 0
    if not isinstance(given, exp.Interval):
        raise refuse_grid(node, "an offset that is no INTERVAL")
    duration = read_interval(given)
    if duration is None:
        raise refuse_grid(node, f"the offset {show_sql(given)}")
    return duration


def _moment(given: "exp.Expr", node: "exp.Expr") -> int:
    inner = given.this if given.key == "cast" else given
    try:
        return epoch_us(parse_instant(_text(inner, node)))
    except ValueError:
        raise refuse_grid(node, f"the origin {show_sql(given)}") from None


def _text(given: "exp.Expr", node: "exp.Expr") -> str:
    from sqlglot import exp

    if isinstance(given, exp.Literal) and given.is_string:
        return str(given.this)
    raise refuse_grid(node, show_sql(given))


def _check_zone(name: str, node: "exp.Expr") -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise refuse_grid(node, f"the time zone {name!r}") from None
    return name


def refuse_grid(node: "exp.Expr", what: str) -> SqlRefusal:
    """What a call on a grid of time does wrong."""
    return SqlRefusal(
        f"{what} in {show_sql(node)}",
        why="a bucket of time is a unit or a width, and a stream's timestamp",
        fix="write e.g. date_trunc('hour', ts), date_trunc('day', ts, 'Europe/Berlin'), "
        "FLOOR(ts TO MINUTE), TUMBLE(ts, INTERVAL '5' MINUTE), time_bucket('5 minutes', ts), "
        "HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR), by a slide and a size, or CUMULATE(ts, "
        "INTERVAL '1' HOUR, INTERVAL '1' DAY), by a step and a size",
        line=line_of(node),
    )
