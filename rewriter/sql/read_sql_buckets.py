"""Buckets of time in SQL: `date_trunc('hour', ts)`, `FLOOR(ts TO HOUR)`, `TUMBLE(ts, INTERVAL …)`,
`time_bucket(INTERVAL …, ts)`, `HOP(ts, INTERVAL …, INTERVAL …)`, `CUMULATE(…)`."""

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ontoweir.mappings.model.catalog import Catalog, Column, Stream
from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.mappings.model.parse_duration import UNITS_US, parse_duration
from ontoweir.mappings.model.sliding_buckets import make_sliding
from ontoweir.mappings.model.time_bucket import (
    Buckets,
    CalendarBuckets,
    FixedBuckets,
    TimeBucket,
    slide_panes,
)
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.buckets.make_column import ENDS, is_growing, make_column
from ontoweir.rewriter.windows.read_sql_time import read_sql_time

if TYPE_CHECKING:
    from sqlglot import exp

_CALENDAR = ("day", "week", "month", "quarter", "year")
_NAMES = ("TUMBLE", "TUMBLE_START", "TUMBLE_END", "TIME_BUCKET", "DATE_TRUNC", "DATE_BIN")
_SLIDING = ("HOP", "HOP_START", "HOP_END", "CUMULATE", "CUMULATE_START", "CUMULATE_END")
_MONDAY_US = 946_857_600_000_000
"""3 January 2000, from which DuckDB and TimescaleDB count where no origin is given."""
_WHY = "a bucket of time is a unit or a width, and a stream's timestamp"


def read_sql_buckets(
    tree: "exp.Query", catalog: Catalog
) -> "tuple[exp.Query, Catalog, tuple[tuple[str, Column], ...]]":
    """A query in which buckets of time, in SELECT, GROUP BY and HAVING, are columns; the catalog
    with these columns; and the columns, with their streams.

    Raises:
        SqlRefusal: what is truncated is not a stream's timestamp; or by no known unit or width.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return tree, catalog, ()
    tree = tree.copy()
    found = [n for place in _places(tree) for n in place.walk() if _is_bucket(n)]
    if not found:
        return tree, catalog, ()
    scope, _, _ = read_from(tree, catalog)
    streams = dict(catalog.streams)
    made: dict[tuple[str, Column], None] = {}
    for node in found:
        alias, stream, bucket = _read(node, scope)
        column = make_column(bucket)
        made[stream.name, column] = None
        known = streams[stream.name]
        if known.column(column.name) is None:
            streams[stream.name] = replace(known, columns=(*known.columns, column))
        node.replace(exp.column(column.name, alias, quoted=True))
    return _group_ends(tree), replace(catalog, streams=streams), tuple(made)


def _group_ends(tree: "exp.Select") -> "exp.Select":
    """Where a bucket is grouped by, its end may be selected: it is grouped by too."""
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None:
        return tree
    names = {(c.table, c.name) for c in group.expressions if isinstance(c, exp.Column)}
    for item in tree.expressions:
        inner = item.unalias()
        if not isinstance(inner, exp.Column) or not inner.name.startswith(ENDS):
            continue
        if (inner.table, inner.name.removeprefix(ENDS)) in names:
            group.append("expressions", inner.copy())
    shown = {(c.table, c.name) for e in tree.expressions for c in e.find_all(exp.Column)}
    kept = [e for e in group.expressions if not _follows(e, names) or (e.table, e.name) in shown]
    group.set("expressions", kept)
    return tree


def _follows(item: "exp.Expr", names: Set[tuple[str, str]]) -> bool:
    """Whether it is the end of a bucket whose start, which tells the same, is among some columns:
    not of those that grow."""
    from sqlglot import exp

    if not isinstance(item, exp.Column) or not item.name.startswith(ENDS):
        return False
    start = item.name.removeprefix(ENDS)
    return (item.table, start) in names and not is_growing(start)


def _places(tree: "exp.Select") -> "list[exp.Expr]":
    group, having = tree.args.get("group"), tree.args.get("having")
    more = [*(() if group is None else group.expressions), *([having] if having else [])]
    return [*tree.expressions, *more]


def _is_bucket(node: "exp.Expr") -> bool:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return node.name.upper() in (*_NAMES, *_SLIDING)
    if isinstance(node, exp.Floor):
        return node.args.get("to") is not None
    return isinstance(node, (exp.TimestampTrunc, exp.DateTrunc, exp.DateBin))


def _read(node: "exp.Expr", scope: Scope) -> tuple[str, Stream, TimeBucket]:
    """The alias and the stream of a bucket, and the bucket."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        name, given = node.name.upper(), list(node.expressions)
    elif isinstance(node, exp.DateBin):
        origin = node.args.get("unit")
        name, given = "DATE_BIN", [node.this, node.expression, *([origin] if origin else [])]
    else:
        unit = node.args["to"] if isinstance(node, exp.Floor) else node.args["unit"]
        name, given = "DATE_TRUNC", [unit, node.this]
    if name in _SLIDING:
        return _read_sliding(name, given, node, scope)
    first_time = name.startswith("TUMBLE")
    if len(given) not in (2, 3):
        raise _refuse(node, f"{len(given)} arguments")
    time, width = given[:2] if first_time else (given[1], given[0])
    alias, stream, behind = _stream_of(time, node, scope)
    third = given[2] if len(given) == 3 else None
    buckets = (
        _truncated(width, third, node)
        if name == "DATE_TRUNC"
        else _binned(width, third, node, name)
    )
    return alias, stream, TimeBucket(buckets, ends=name == "TUMBLE_END", behind_us=behind)


def _read_sliding(
    name: str, given: "Sequence[exp.Expr]", node: "exp.Expr", scope: Scope
) -> tuple[str, Stream, TimeBucket]:
    """HOP(ts, slide, size) and CUMULATE(ts, step, size), from 1970 or from an offset."""
    if len(given) not in (3, 4):
        raise _refuse(node, f"{len(given)} arguments")
    alias, stream, behind = _stream_of(given[0], node, scope)
    slide, size = (_duration(g) for g in given[1:3])
    offset = _offset(given[3] if len(given) == 4 else None, node)
    sliding = make_sliding(slide, size, offset, grows=name.startswith("CUMULATE"))
    if sliding is None:
        raise _refuse(node, "no INTERVAL to slide by and of a size (of CUMULATE, a multiple)")
    return alias, stream, slide_panes(sliding, ends=name.endswith("_END"), behind_us=behind)


def _duration(given: "exp.Expr") -> int | None:
    from sqlglot import exp

    if not isinstance(given, exp.Interval):
        return None
    unit = given.args.get("unit")
    text = given.this.name if given.this is not None else ""
    return parse_duration(f"{text} {unit.name if unit else ''}")


def _stream_of(time: "exp.Expr", node: "exp.Expr", scope: Scope) -> tuple[str, Stream, int]:
    """The alias and the stream of a timestamp, and how long before it the time is, in µs."""
    found = read_sql_time(time, scope)
    if found is None:
        raise _refuse(node, f"{time.sql('spark')} is not a stream's timestamp")
    return found


def _truncated(unit: "exp.Expr", zone: "exp.Expr | None", node: "exp.Expr") -> Buckets:
    name = unit.name.lower().removesuffix("s")
    place = "UTC" if zone is None else _text(zone, node)
    if name in _CALENDAR:
        return CalendarBuckets(name, _check_zone(place, node))  # type: ignore[arg-type]
    if name not in UNITS_US:
        raise _refuse(node, f"the unit {unit.name!r}")
    if zone is not None and name == "hour":
        raise _refuse(node, "hours of a time zone")
    return FixedBuckets(UNITS_US[name])


def _binned(width: "exp.Expr", origin: "exp.Expr | None", node: "exp.Expr", name: str) -> Buckets:
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
        raise _refuse(node, f"the width {text.strip()!r}")
    if name.startswith("TUMBLE"):
        return FixedBuckets(duration, _offset(origin, node) % duration)
    start = _MONDAY_US if origin is None else _moment(origin, node)
    return FixedBuckets(duration, start % duration)


def _offset(given: "exp.Expr | None", node: "exp.Expr") -> int:
    from sqlglot import exp

    if given is None:
        return 0
    if not isinstance(given, exp.Interval):
        raise _refuse(node, "an offset that is no INTERVAL")
    duration = _duration(given)
    if duration is None:
        raise _refuse(node, f"the offset {given.sql('spark')}")
    return duration


def _moment(given: "exp.Expr", node: "exp.Expr") -> int:
    inner = given.this if given.key == "cast" else given
    try:
        return epoch_us(parse_instant(_text(inner, node)))
    except ValueError:
        raise _refuse(node, f"the origin {given.sql('spark')}") from None


def _text(given: "exp.Expr", node: "exp.Expr") -> str:
    from sqlglot import exp

    if isinstance(given, exp.Literal) and given.is_string:
        return str(given.this)
    raise _refuse(node, given.sql("spark"))


def _check_zone(name: str, node: "exp.Expr") -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise _refuse(node, f"the time zone {name!r}") from None
    return name


def _refuse(node: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} in {node.sql('spark')}",
        why=_WHY,
        fix="write e.g. date_trunc('hour', ts), date_trunc('day', ts, 'Europe/Berlin'), "
        "FLOOR(ts TO MINUTE), TUMBLE(ts, INTERVAL '5' MINUTE), time_bucket('5 minutes', ts), "
        "HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' HOUR), by a slide and a size, or CUMULATE(ts, "
        "INTERVAL '1' HOUR, INTERVAL '1' DAY), by a step and a size",
        line=line_of(node),
    )
