"""Reads functions of dates and times in expressions of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    DateType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.expression import Call, Expression, Function, Value
from ontoweir.mappings.model.parse_duration import parse_duration
from ontoweir.mappings.model.time_bucket import MONDAY_US

if TYPE_CHECKING:
    from sqlglot import exp

UNITS_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""Units that are always equally long, in UTC."""
_TRUNCATED = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_BINS = ("TUMBLE", "TUMBLE_START", "TUMBLE_END", "TIME_BUCKET")
_FORMATS = {
    "yyyy": "%Y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
}
"""The parts of a format that mean one thing everywhere: Spark's letters, and those of strftime."""
_DAYS = (
    "write EXTRACT(ISODOW FROM ts), which is 1 on Monday and 7 on Sunday: ISODOW % 7 is DOW of "
    "PostgreSQL, DuckDB and Snowflake, 0 on Sunday, and ISODOW % 7 + 1 is DAYOFWEEK of Spark, "
    "BigQuery and MySQL, 1 on Sunday; other parts are YEAR, QUARTER, MONTH, WEEK (of ISO 8601), "
    "DAY, DOY, HOUR, MINUTE, SECOND and EPOCH"
)
_PART = re.compile("%[YmdHMS]|%.")
_DAY_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?")


def read_date_function(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression | None:
    """The function of dates or times that is written; None: it is none.

    Raises:
        SqlRefusal: it is not the same in every SQL.
    """
    from sqlglot import exp

    match tree:
        case exp.TimestampDiff() | exp.DateDiff():
            return _read_difference(tree, read, refuse)
        case exp.UnixMicros() | exp.UnixMillis() | exp.UnixSeconds():
            unit = {"unixmicros": 1, "unixmillis": 1_000}.get(tree.key, 1_000_000)
            return build.whole_units(build.epoch_us(read(tree.this)), unit, down=True)
        case exp.StrToUnix() if "format" in tree.args:
            return build.whole_units(build.epoch_us(read(tree.this)), 1_000_000, down=True)
        case exp.Anonymous() if tree.name.upper() == "DATE_TRUNC":
            return _read_truncation(tree, read, refuse)
        case exp.Anonymous() if tree.name.upper() in _BINS:
            return _read_bin(tree, read, refuse)
        case exp.TimestampAdd():
            return _read_addition(tree, read, refuse)
        case exp.TsOrDsToDate():
            return build.cast_day(read(tree.this))
        case exp.TimeToStr():
            return _read_format(tree, read, refuse)
        case exp.Add() | exp.Sub():
            return _read_moved_time(tree, read, refuse)
        case exp.Extract() if tree.this.name.upper() == "EPOCH":
            return build.seconds(_read_micros(tree.expression.unnest(), read))
    return _read_part(tree, read, refuse)


def _read_micros(tree: exp.Expr, read: Callable[[exp.Expr], Expression]) -> Expression:
    """A time in µs since 1970; or one less another."""
    from sqlglot import exp

    if isinstance(tree, exp.Sub) and not isinstance(tree.expression.unnest(), exp.Interval):
        later, earlier = (build.epoch_us(read(side)) for side in (tree.this, tree.expression))
        return build.arithmetic(Function.SUBTRACT, later, earlier)
    return build.epoch_us(read(tree))


def _read_moved_time(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression | None:
    """A time and an INTERVAL; None: it is no sum with one.

    Raises:
        SqlRefusal: the interval is of months or years, or it is added to no time.
    """
    from sqlglot import exp

    left, right = tree.this.unnest(), tree.expression.unnest()
    if isinstance(left, exp.Interval) and isinstance(tree, exp.Add):
        left, right = right, left
    if not isinstance(right, exp.Interval):
        return None
    time = read(left)
    length = _read_length(right, tree, refuse)
    if not isinstance(time.type, TimestampType):
        raise refuse(tree, why=f"an interval is added to a timestamp, not to {_name(time)}")
    micros = -length if isinstance(tree, exp.Sub) else length
    return Call(Function.ADD_US, (time, Value(micros, IntType())), TimestampType())


def _read_length(interval: exp.Interval, tree: exp.Expr, refuse: Callable[..., Exception]) -> int:
    """How long an INTERVAL is, in µs."""
    unit = interval.args.get("unit")
    amount = interval.this.name if interval.this is not None else ""
    length = parse_duration(f"{amount.lstrip('+-').strip()} {unit.name if unit else ''}")
    if length is None:
        raise refuse(tree, why="an interval is of weeks, days, hours or less")
    return -length if amount.startswith("-") else length


def read_spans(
    tree: exp.Binary, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> tuple[Expression, Expression] | None:
    """The sides of a comparison of how long a time is after another one with an INTERVAL, in µs;
    None: it is another one.

    Raises:
        SqlRefusal: the interval is of months or years, or another time is compared with it.
    """
    from sqlglot import exp

    sides = tree.this.unnest(), tree.expression.unnest()
    if not any(isinstance(side, exp.Interval) for side in sides):
        return None
    made: list[Expression] = []
    for side in sides:
        if isinstance(side, exp.Interval):
            made.append(Value(_read_length(side, tree, refuse), IntType()))
        elif isinstance(side, exp.Sub) and not isinstance(side.expression.unnest(), exp.Interval):
            made.append(_read_micros(side, read))
        else:
            raise refuse(side, why="an INTERVAL is compared with how long a time is after another")
    return made[0], made[1]


def _read_addition(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression:
    """TIMESTAMPADD(unit, a constant, time)."""
    unit, count = UNITS_US.get(tree.args["unit"].name.upper()), read(tree.expression)
    if unit is None or not isinstance(count, Value) or not isinstance(count.value, int):
        raise refuse(tree, why="a constant number of weeks, days, hours or less is added")
    time = build.cast(read(tree.this), TimestampType())
    return Call(Function.ADD_US, (time, Value(unit * count.value, IntType())), TimestampType())


def read_day_times(
    tree: exp.Binary, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> tuple[Expression, Expression] | None:
    """The sides of a comparison of times of the day, CAST(… AS TIME), in UTC, as µs since midnight;
    None: it is another one.

    Raises:
        SqlRefusal: one side is no time of the day.
    """
    from sqlglot import exp

    sides = [side.unnest() for side in (tree.this, tree.expression)]
    cast = [isinstance(s, (exp.Cast, exp.TryCast)) and s.to.is_type("time") for s in sides]
    if not any(cast):
        return None
    made: list[Expression] = []
    for side, is_cast in zip(sides, cast, strict=True):
        inner = side.this if is_cast else side
        text = inner.name if isinstance(inner, exp.Literal) and inner.is_string else None
        found = None if text is None else _DAY_TIME.fullmatch(text.strip())
        if found is not None:
            hours, minutes, seconds, rest = found.groups(default="0")
            whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
            made.append(Value(whole * 1_000_000 + int(rest.ljust(6, "0")), IntType()))
            continue
        if not is_cast or text is not None:
            raise refuse(
                tree,
                why="a time of the day is compared with one",
                fix="write CAST(ts AS TIME) >= TIME '08:30:00'",
            )
        time = build.cast(read(inner), TimestampType())
        day = Call(Function.TRUNCATE, (Value("day", StringType()), time), TimestampType())
        made.append(build.difference_us(time, day))
    return made[0], made[1]


def _read_difference(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression:
    """TIMESTAMPDIFF(unit, earlier, later) in whole units, towards 0; DATEDIFF(later, earlier) in
    days."""
    from sqlglot import exp

    unit = tree.args.get("unit")
    name = unit.name.upper() if unit is not None else "DAY"
    if isinstance(tree, exp.DateDiff):
        if unit is not None:
            raise refuse(
                tree,
                why="some SQLs count whole units, others how often one begins",
                fix=f"write TIMESTAMPDIFF({name}, a, b), which counts whole units",
            )
        sides = [build.cast_day(read(_inner(s))) for s in (tree.this, tree.expression)]
        later, earlier = (build.cast(side, TimestampType()) for side in sides)
    else:
        later, earlier = read(tree.this), read(tree.expression)
    if name.rstrip("S") not in UNITS_US:
        raise refuse(tree, why=f"{name} is not always equally long", fix="write it in days")
    micros = build.difference_us(later, earlier)
    return build.whole_units(micros, UNITS_US[name.rstrip("S")], down=False)


def _read_truncation(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression:
    unit, *rest = tree.expressions
    if unit.name.lower() not in _TRUNCATED or len(rest) != 1:
        raise refuse(tree, why=f"a time is truncated, in UTC, to one of {', '.join(_TRUNCATED)}")
    unit = unit.name.lower()
    time = build.cast(read(rest[0]), TimestampType())
    return Call(Function.TRUNCATE, (Value(unit, StringType()), time), TimestampType())


def _read_bin(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression:
    """TUMBLE(time, width, offset) and TIME_BUCKET(width, time): where the bucket of a time begins,
    or ends (TUMBLE_END)."""
    from sqlglot import exp

    name, given = tree.name.upper(), list(tree.expressions)
    if name == "TIME_BUCKET":
        given[:2] = given[1::-1]
    time, *lengths = given
    if not 1 <= len(lengths) <= (1 if name == "TIME_BUCKET" else 2) or not all(
        isinstance(length, exp.Interval) for length in lengths
    ):
        raise refuse(tree, why="a bucket is of a time, its width, and how far it is shifted")
    width, *shift = (_read_length(length, tree, refuse) for length in lengths)
    if width <= 0:
        raise refuse(tree, why="a bucket has a width")
    origin = MONDAY_US if name == "TIME_BUCKET" else sum(shift)
    of = build.cast(read(time), TimestampType())
    whole = (Value(width, IntType()), Value(origin % width, IntType()))
    begin = Call(Function.BIN, (of, *whole), TimestampType())
    if name != "TUMBLE_END":
        return begin
    return Call(Function.ADD_US, (begin, Value(width, IntType())), TimestampType())


def _read_format(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression:
    """DATE_FORMAT, of parts that mean one thing everywhere."""
    text = tree.args["format"].name if tree.args.get("format") is not None else ""
    text = text.replace("strict", "")  # sqlglot's
    for letters, part in _FORMATS.items():
        text = text.replace(letters, part)
    text = text.replace("'T'", "T")  # as Spark quotes it
    rest = _PART.sub(lambda m: "" if m[0] in _FORMATS.values() else m[0], text)
    if re.search("[A-Za-z%'\\[\\]#]", rest.replace("T", "", 1)) or not text:
        raise refuse(
            tree,
            why="a format is of yyyy, MM, dd, HH, mm, ss, one T, and signs between them",
            fix="write EXTRACT(… FROM …) for other parts",
        )
    time = read(_inner(tree.this))
    if not isinstance(time.type, DateType | TimestampType):
        raise build.TypeClash(f"DATE_FORMAT of {_name(time)}")
    return Call(Function.FORMAT, (time, Value(text, StringType())), StringType())


def _read_part(
    tree: exp.Expr, read: Callable[[exp.Expr], Expression], refuse: Callable[..., Exception]
) -> Expression | None:
    """A part of a date or time."""
    from sqlglot import exp

    parts: dict[type, Function] = {
        exp.Year: Function.YEAR,
        exp.Quarter: Function.QUARTER,
        exp.Month: Function.MONTH,
        exp.WeekOfYear: Function.WEEK,
        exp.Day: Function.DAY,
        exp.DayOfMonth: Function.DAY,
        exp.DayOfYear: Function.DAY_OF_YEAR,
        exp.DayOfWeekIso: Function.DAY_OF_WEEK,
        exp.Hour: Function.HOUR,
        exp.Minute: Function.MINUTE,
        exp.Second: Function.SECOND,
    }
    names = {f.value: f for f in parts.values()} | {
        "WEEK": Function.WEEK,
        "DOY": Function.DAY_OF_YEAR,
        "DAYOFWEEK_ISO": Function.DAY_OF_WEEK,
        "ISODOW": Function.DAY_OF_WEEK,
    }
    if isinstance(tree, exp.DayOfWeek):
        raise refuse(tree, why="Sunday is 0 in some SQLs, and 1 in others", fix=_DAYS)
    if isinstance(tree, exp.Extract):
        function, inner = names.get(tree.this.name.upper()), tree.expression
    else:
        function, inner = parts.get(type(tree)), tree.this
        if function is None:
            return None
    if function is None:
        raise refuse(tree, why="this part of a time is not the same in every SQL", fix=_DAYS)
    subject = read(_inner(inner))
    if not isinstance(subject.type, DateType | TimestampType):
        raise build.TypeClash(f"{function.value} of {_name(subject)}")
    if function in (Function.HOUR, Function.MINUTE, Function.SECOND):
        subject = build.cast(subject, TimestampType())
    return Call(function, (subject,), IntType())


def _inner(tree: exp.Expr) -> exp.Expr:
    """What Spark takes a date or time of."""
    from sqlglot import exp

    while isinstance(tree, (exp.TsOrDsToDate, exp.TimeStrToTime)):
        tree = tree.this
    return tree


def _name(made: Expression) -> str:
    return name_column_type(made.type)
