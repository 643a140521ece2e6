"""One bucket of time, in printed SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.model.parse_duration import UNITS_US
from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    Moments,
    MonthsLater,
    TimeBucket,
)

if TYPE_CHECKING:
    from sqlglot import exp

SPARK = ("spark", "spark2", "databricks")
"""Dialects that are Spark's."""


def print_bucket(bucket: TimeBucket, time: exp.Expr, dialect: str) -> exp.Expr:
    """The bucket of a time, as an expression of it.

    Args:
        bucket: which.
        time: the time.
        dialect: of sqlglot.

    Raises:
        QueryError: the dialect is neither Spark's nor DuckDB's, and has no word for the bucket.
    """
    from sqlglot import exp

    if bucket.behind_us:
        micros = exp.Literal.string(str(bucket.behind_us))
        time = exp.Sub(
            this=time, expression=exp.Interval(this=micros, unit=exp.Var(this="MICROSECOND"))
        )
    match bucket.buckets:
        case FixedBuckets(width_us=width, origin_us=origin):
            unit = next((u for u, size in UNITS_US.items() if size == width), None)
            named = unit in ("second", "minute", "hour", "day") and origin == 0
            if named and not bucket.ends:
                return exp.TimestampTrunc(this=time, unit=exp.Var(this=str(unit).upper()))
            return _print_fixed(time, width, origin, dialect, ends=bucket.ends)
        case CalendarBuckets(unit=unit, zone=zone):
            if zone == "UTC" and not bucket.ends:
                return exp.TimestampTrunc(this=time, unit=exp.Var(this=unit.upper()))
            return _print_calendar(time, unit, zone, dialect, ends=bucket.ends)
        case MonthsLater(months=months, grid=grid):
            later = _print_months(time, months, dialect)
            return print_bucket(TimeBucket(grid, ends=True, behind_us=1), later, dialect)
        case Moments(after_us=0):
            return time
        case Moments(after_us=after_us):
            return exp.Add(
                this=time,
                expression=exp.Interval(
                    this=exp.Literal.string(str(after_us)), unit=exp.Var(this="MICROSECOND")
                ),
            )


def _print_fixed(time: exp.Expr, width: int, origin: int, dialect: str, *, ends: bool) -> exp.Expr:
    after = origin + width * ends
    if dialect in SPARK:
        read, make, divide = "unix_micros", "timestamp_micros", "floor(({0} - {1}) / {2})"
    elif dialect == "duckdb":
        read, make, divide = "epoch_us", "make_timestamp", "floor(({0} - {1}) / {2})::BIGINT"
    else:
        raise refuse_dialect(dialect)
    whole = divide.format(f"{read}({time.sql(dialect=dialect)})", origin, width)
    if dialect in SPARK:
        whole = f"CAST({whole} AS BIGINT)"
    return _parse(f"{make}({whole} * {width} + {after})", dialect)


def _print_calendar(time: exp.Expr, unit: str, zone: str, dialect: str, *, ends: bool) -> exp.Expr:
    count, step = (3, "month") if unit == "quarter" else (1, unit)
    shown = time.sql(dialect=dialect)
    if dialect in SPARK:
        local = f"date_trunc('{unit}', from_utc_timestamp({shown}, '{zone}'))"
        local += f" + INTERVAL '{count}' {step.upper()}" if ends else ""
        return _parse(f"to_utc_timestamp({local}, '{zone}')", dialect)
    if dialect == "duckdb":
        local = f"date_trunc('{unit}', timezone('{zone}', timezone('UTC', {shown})))"
        local += f" + INTERVAL '{count}' {step.upper()}" if ends else ""
        return _parse(f"timezone('UTC', timezone('{zone}', {local}))", dialect)
    raise refuse_dialect(dialect)


def _print_months(time: exp.Expr, months: int, dialect: str) -> exp.Expr:
    """The first day that is not before a time, so many months later; where there is none, the begin
    of the next month."""
    if dialect not in (*SPARK, "duckdb"):
        raise refuse_dialect(dialect)
    before = f"{time.sql(dialect=dialect)} - INTERVAL '1' MICROSECOND"
    day = f"(date_trunc('day', {before}) + INTERVAL '1' DAY)"
    later = f"({day} + INTERVAL '{months}' MONTH)"
    first = f"date_trunc('month', {later}) + INTERVAL '1' MONTH"
    return _parse(f"CASE WHEN day({later}) < day({day}) THEN {first} ELSE {later} END", dialect)


def _parse(text: str, dialect: str) -> exp.Expr:
    from sqlglot import parse_one

    return parse_one(text, dialect=dialect)


def refuse_dialect(dialect: str) -> QueryError:
    """A dialect in which buckets are not printed."""
    return QueryError(
        f"the query groups by a bucket of time that is not printed in {dialect}",
        why="only hours, days, months and the like, in UTC, have a common name",
        fix="print it with --dialect spark or --dialect duckdb",
    )
