"""Buckets of time in printed SQL: expressions of the timestamp in the place of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.parse_duration import UNITS_US
from ontoweir.mappings.model.time_bucket import CalendarBuckets, FixedBuckets, Moments, TimeBucket
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.aggregation import Panes
from ontoweir.rewriter.sql.print_condition import needs_quotes

if TYPE_CHECKING:
    from sqlglot import exp

_SPARK = ("spark", "spark2", "databricks")


def print_buckets(tree: exp.Expr, types: Types, dialect: str) -> None:
    """Replace the columns that are buckets, in place; `types`: of the tree's tables.

    Raises:
        QueryError: the dialect is neither Spark's nor DuckDB's, and has no word for the bucket.
    """
    from sqlglot import exp

    for column in list(tree.find_all(exp.Column)):
        if not is_bucket(column.name):
            continue
        table = types.tables[column.table]
        assert isinstance(table, Stream)
        declared = table.column(column.name)
        assert declared is not None
        assert declared.bucket is not None
        name = table.timestamp
        time = exp.Column(
            this=exp.to_identifier(name, quoted=needs_quotes(name)), table=column.args.get("table")
        )
        column.replace(_print(declared.bucket, time, dialect))


def _print(bucket: TimeBucket, time: exp.Expr, dialect: str) -> exp.Expr:
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
    if dialect in _SPARK:
        read, make, divide = "unix_micros", "timestamp_micros", "floor(({0} - {1}) / {2})"
    elif dialect == "duckdb":
        read, make, divide = "epoch_us", "make_timestamp", "floor(({0} - {1}) / {2})::BIGINT"
    else:
        raise _refuse(dialect)
    whole = divide.format(f"{read}({time.sql(dialect=dialect)})", origin, width)
    if dialect in _SPARK:
        whole = f"CAST({whole} AS BIGINT)"
    return _parse(f"{make}({whole} * {width} + {after})", dialect)


def _print_calendar(time: exp.Expr, unit: str, zone: str, dialect: str, *, ends: bool) -> exp.Expr:
    count, step = (3, "month") if unit == "quarter" else (1, unit)
    shown = time.sql(dialect=dialect)
    if dialect in _SPARK:
        local = f"date_trunc('{unit}', from_utc_timestamp({shown}, '{zone}'))"
        local += f" + INTERVAL '{count}' {step.upper()}" if ends else ""
        return _parse(f"to_utc_timestamp({local}, '{zone}')", dialect)
    if dialect == "duckdb":
        local = f"date_trunc('{unit}', timezone('{zone}', timezone('UTC', {shown})))"
        local += f" + INTERVAL '{count}' {step.upper()}" if ends else ""
        return _parse(f"timezone('UTC', timezone('{zone}', {local}))", dialect)
    raise _refuse(dialect)


def print_sliding(matches: str, variables: Sequence[str], panes: Panes, dialect: str) -> str:
    """Matches with the panes they lie in, once for each bucket of its pane: with the bucket's start
    in the place of the pane, and its end, if that is asked for.

    Args:
        matches: SQL whose columns are `variables`, one of which is the pane's.
        variables: names of columns.
        panes: what they are panes of.
        dialect: of the SQL.

    Raises:
        QueryError: the dialect is neither Spark's nor DuckDB's.
    """
    if dialect in _SPARK:
        read, make, whole = "unix_micros", "timestamp_micros", "CAST(FLOOR({0}) AS BIGINT)"
        numbers = f"SELECT EXPLODE(SEQUENCE(0, {panes.buckets.most - 1})) AS n"
    elif dialect == "duckdb":
        read, make, whole = "EPOCH_US", "MAKE_TIMESTAMP", "FLOOR({0})::BIGINT"
        numbers = f"SELECT UNNEST(RANGE(0, {panes.buckets.most})) AS n"
    else:
        raise _refuse(dialect)

    def quote(name: str) -> str:
        return _identifier(name).sql(dialect=dialect)

    buckets, pane = panes.buckets, f"{read}({quote(panes.variable)})"
    period, origin = buckets.period_us, buckets.origin_us
    start = f"{whole.format(f'({pane} - {origin}) / {period}')} * {period} + {origin}"
    if buckets.grows:
        end = f"{start} + (n + 1) * {buckets.slide_us}"
    else:
        start = f"{start} - n * {buckets.slide_us}"
        end = f"{start} + {buckets.size_us}"
    columns = [quote(v) for v in variables if v != panes.variable]
    columns.append(f"{make}({start}) AS {quote(panes.variable)}")
    if panes.ends is not None:
        columns.append(f"{make}({end}) AS {quote(panes.ends)}")
    inner = f"FROM (\n{indent(matches, '  ')}\n) AS panes CROSS JOIN ({numbers}) AS buckets"
    return f"SELECT {', '.join(columns)}\n{inner}\nWHERE {end} > {pane}"


def _identifier(name: str) -> exp.Identifier:
    from sqlglot import exp

    return exp.to_identifier(name, quoted=needs_quotes(name))


def _parse(text: str, dialect: str) -> exp.Expr:
    from sqlglot import parse_one

    return parse_one(text, dialect=dialect)


def _refuse(dialect: str) -> QueryError:
    return QueryError(
        f"the query groups by a bucket of time that is not printed in {dialect}",
        why="only hours, days, months and the like, in UTC, have a common name",
        fix="print it with --dialect spark or --dialect duckdb",
    )
