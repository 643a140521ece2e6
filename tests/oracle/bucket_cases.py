"""Random aggregates by buckets of time, of many shapes: steps, widths, zones, joins, lags."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations
from random import Random
from typing import Any

from ontoweir.mappings.model.catalog import (
    Catalog,
    DataSource,
    Lag,
    Relation,
    Stream,
)
from tests.oracle.bucket_tables import COLUMNS, NAMES, STATIC, make_rows
from tests.oracle.clock_buckets import EPOCH, Grouping
from tests.oracle.random_queries import Tables

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
NOTHING = DataSource("parquet", "none")
PLACES = (
    # (a zone, or none; about when)
    ("UTC", "1970-01-01T00:00"),
    ("UTC", "1969-12-31T22:00"),
    ("UTC", "1904-02-28T12:00"),
    ("UTC", "2024-12-30T00:00"),
    ("Europe/Berlin", "2024-03-31T01:00"),
    ("Europe/Berlin", "2024-10-27T01:00"),
    ("America/Sao_Paulo", "2018-02-18T02:00"),
    ("America/Sao_Paulo", "2018-11-04T03:00"),
    ("America/St_Johns", "2009-11-01T02:31"),
    ("Asia/Kolkata", "2024-06-30T18:30"),
    ("Asia/Kathmandu", "1985-12-31T18:30"),
    ("Australia/Lord_Howe", "2024-04-06T15:00"),
    ("Pacific/Apia", "2011-12-30T10:00"),
    ("Pacific/Kwajalein", "1993-08-21T12:00"),
    ("Africa/Cairo", "2014-05-15T22:00"),
    ("America/Havana", "2024-11-03T05:00"),
    ("America/Toronto", "1919-03-31T04:30"),
    ("Pacific/Kwajalein", "1969-10-01T00:00"),
)


@dataclass(frozen=True)
class BucketCase:
    """A query, and data.

    `columns`: of every column of SELECT its name, its text, and what it is: ("start" | "end",
    number of the grouping), ("group", column) or (function, column).
    """

    catalog: Catalog
    data: Tables
    members: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    group: tuple[str, ...]
    columns: tuple[tuple[str, str, tuple[Any, ...]], ...]
    lags: tuple[tuple[int | None, ...], ...]
    """From each stream to each other: how much later it may be, in steps."""

    limits: tuple[str, ...] = ()
    """What declared lags say, for the oracle."""

    @property
    def step(self) -> int:
        return next(iter(self.catalog.streams.values())).step_us

    @property
    def streams(self) -> tuple[str, ...]:
        return tuple(alias for alias, table in self.members if table != "r")

    @property
    def sql(self) -> str:
        selected = ", ".join(f"{text} AS {name}" for name, text, _ in self.columns)
        windows = {g.alias: g.table for g in self.groupings if g.table}
        tables = ", ".join(f"{windows.get(a, table)} AS {a}" for a, table in self.members)
        where = f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        group = ", ".join((*self.group, *(g.text for g in self.groupings)))
        return f"SELECT {selected} FROM {tables}{where} GROUP BY {group}"

    def wait(self, alias: str) -> int | None:
        """For how many steps after a row of a stream matches of it may come."""
        lags = self.lags[self.streams.index(alias)]
        if any(lag is None for lag in lags):
            return None
        return max(0, *(lag for lag in lags if lag is not None))

    @property
    def closing(self) -> int:
        """Which of the groupings says when groups are final."""
        return next((i for i, g in enumerate(self.groupings) if g.slide), 0)

    @property
    def closes(self) -> bool:
        return self.wait(self.groupings[self.closing].alias) is not None

    @property
    def near(self) -> bool:
        return all(lag is not None for row in self.lags for lag in row)


def make_case(random: Random) -> BucketCase:
    zone, about = random.choice(PLACES)
    steps = [1, SECOND, 7 * SECOND, MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 5 * HOUR, DAY, 3 * DAY]
    step = random.choice(steps)
    base = (datetime.fromisoformat(about).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    markers = random.choice([1, 4, 8, 16, 30])
    first = base // step - random.randint(0, markers)
    members = _members(random)
    catalog, declared = _catalog(random, step)
    streams = tuple(a for a, t in members if t != "r")
    conditions, lags, limits = _conditions(random, members, step, declared)
    if random.random() < 0.12:
        last = EPOCH + timedelta(microseconds=(first + random.randint(0, markers)) * step)
        conditions = (*conditions, f"{random.choice(streams)}.ts <= TIMESTAMP '{_show(last)}'")
    count = random.choice([1, 1, 1, 1, 2])
    groupings: list[Grouping] = []
    for _ in range(count):
        alias, slides = random.choice(streams), any(g.slide for g in groupings)
        if random.random() < 0.35 and not slides:
            table = dict(members)[alias]
            made = _sliding(random, alias, table, step)
        else:
            made = _grouping(random, alias, step, zone, base)
        if replace(made, text="", end="") not in [replace(g, text="", end="") for g in groupings]:
            groupings.append(made)
    every = [f"{a}.{c}" for a, t in members for c in (STATIC if t == "r" else NAMES)]
    group = tuple(random.sample(every, k=random.choice([0, 0, 1, 1, 1, 2])))
    columns: list[tuple[str, str, tuple[Any, ...]]] = []
    for i, grouping in enumerate(groupings):
        columns.append((f"b{i}", grouping.text, ("start", i)))
        if grouping.end and (grouping.grows or random.random() < 0.4):
            columns.append((f"e{i}", grouping.end, ("end", i)))
    columns += [(f"g{i}", c, ("group", c)) for i, c in enumerate(group)]
    for n in range(random.choice([1, 1, 2, 3, 5])):
        function, argument, text = _aggregate(random, random.choice(every))
        columns.append((f"x{n}", text, (function, argument)))
    random.shuffle(columns)
    data = make_rows(random, [*range(first, first + markers)], step)
    return BucketCase(
        catalog, data, members, conditions, tuple(groupings), group, tuple(columns), lags, limits
    )


def _show(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")


def _members(random: Random) -> tuple[tuple[str, str], ...]:
    streams = random.choice(
        [["s"], ["s"], ["s"], ["s", "t"], ["s", "t"], ["s", "s"], ["s", "t", "s"]]
    )
    members = [(f"m{i}", table) for i, table in enumerate(streams)]
    if random.random() < 0.25:
        members.append(("r", "r"))
    return tuple(members)


def _catalog(random: Random, step: int) -> tuple[Catalog, list[tuple[str, Lag]]]:
    rate = random.choice([None, 20, 20])
    declared = []
    if random.random() < 0.3:
        within = random.randint(0, 4) * step + random.choice([0, step // 3])
        declared.append((random.choice("st"), Lag(random.choice("st"), ("h",), ("h",), within)))
    streams = {
        name: Stream(
            name,
            NOTHING,
            "ts",
            step,
            rate,
            COLUMNS,
            lags=tuple(lag for s, lag in declared if s == name),
        )
        for name in ("s", "t")
    }
    columns = tuple(next(c for c in COLUMNS if c.name == name) for name in STATIC)
    return Catalog(streams, {"r": Relation("r", NOTHING, columns, (("h",),))}), declared


def _conditions(
    random: Random, members: tuple[tuple[str, str], ...], step: int, declared: list[tuple[str, Lag]]
) -> tuple[tuple[str, ...], tuple[tuple[int | None, ...], ...], tuple[str, ...]]:
    conditions: list[str] = []
    limits: list[str] = []
    streams = [m for m in members if m[1] != "r"]
    size = len(streams)
    lags: list[list[int | None]] = [
        [0 if i == j else None for j in range(size)] for i in range(size)
    ]

    def limit(i: int, j: int, steps: int) -> None:
        """Stream j comes at most so many steps after stream i."""
        known = lags[i][j]
        lags[i][j] = steps if known is None else min(known, steps)

    joined: set[frozenset[str]] = set()
    for i, j in combinations(range(size), 2):
        x, y = streams[i][0], streams[j][0]
        near = random.random() < 0.8
        for early, late, p, q in random.sample([(x, y, i, j), (y, x, j, i)], k=2 if near else 1):
            match random.randrange(5):
                case 0:
                    conditions.append(f"{late}.ts <= {early}.ts")
                    limit(p, q, 0)
                case 1 if size > 1:
                    conditions.append(f"{late}.ts < {early}.ts + INTERVAL '{step * 2}' MICROSECOND")
                    limit(p, q, 1)
                case _:
                    within = random.randint(0, 4) * step + random.choice([0, 0, step // 2])
                    conditions.append(f"{late}.ts <= {early}.ts + INTERVAL '{within}' MICROSECOND")
                    limit(p, q, within // step)
        if random.random() < 0.6:
            ties = ["h = h", "a <= a", "g = g", "a <> a", "c < c", "u = u", "v = v", "f < f"]
            left, op, right = random.choice(["h = h", "h = h", *ties]).split()
            conditions.append(f"{x}.{left} {op} {y}.{right}")
            if left == "h":
                joined.add(frozenset((x, y)))
    if ("r", "r") in members:
        conditions.append(f"{random.choice(streams)[0]}.h = r.h")
    if random.random() < 0.3:
        local = "m0.a > -2", "m0.g IS NOT NULL", "m0.c <= 1.5", "m0.h IN (0, 1)", "m0.a <> 0"
        conditions.append(random.choice(local))
    changed = True
    while changed:  # h = h is an equivalence
        more = {a ^ b for a in joined for b in joined if len(a & b) == 1}
        changed = not more <= joined
        joined |= more
    for name, lag in declared:
        for (i, (late, of)), (j, (early, behind)) in permutations(enumerate(streams), 2):
            if of == name and behind == lag.behind and frozenset((late, early)) in joined:
                limits.append(f"{late}.ts <= {early}.ts + INTERVAL '{lag.within_us}' MICROSECOND")
                limit(j, i, lag.within_us // step)
    for k in range(size):
        for i in range(size):
            for j in range(size):
                a, b, held = lags[i][k], lags[k][j], lags[i][j]
                if a is not None and b is not None and (held is None or a + b < held):
                    lags[i][j] = a + b
    return tuple(conditions), tuple(map(tuple, lags)), tuple(limits)


def _grouping(random: Random, alias: str, step: int, zone: str, base: int) -> Grouping:
    time = f"{alias}.ts"
    kind = random.choice(["TUMBLE", "TUMBLE", "time_bucket", "date_bin"])
    if SECOND <= step <= HOUR and random.random() < 0.3:
        kind = random.choice(["FLOOR", "trunc"])
    if step >= 10 * MINUTE and random.random() < 0.7:
        kind = "calendar"
    if kind == "calendar":
        units = (
            ["day", "day", "week", "month"] if step < DAY else ["week", "month", "quarter", "year"]
        )
        unit = random.choice(units)
        given = "" if zone == "UTC" and random.random() < 0.5 else f", '{zone}'"
        return Grouping(alias, f"date_trunc('{unit}', {time}{given})", unit=unit, zone=zone)
    if kind in ("FLOOR", "trunc"):
        unit, width = random.choice([("second", SECOND), ("minute", MINUTE), ("hour", HOUR)])
        text = (
            f"FLOOR({time} TO {unit.upper()})"
            if kind == "FLOOR"
            else f"date_trunc('{unit}', {time})"
        )
        return Grouping(alias, text, width)
    width = random.choice([1, 1, 2, 3, 5]) * step + random.choice(
        [0, 0, 0, 1, step // 2, step // 3]
    )
    interval = f"INTERVAL '{width}' MICROSECOND"
    if kind == "TUMBLE":
        offset = random.choice([0, 0, random.randrange(width), 3 * width + 1])
        after = f", INTERVAL '{offset}' MICROSECOND" if offset else ""
        calls = [f"{name}({time}, {interval}{after})" for name in ("TUMBLE", "TUMBLE_START")]
        end = f"TUMBLE_END({time}, {interval}{after})"
        return Grouping(alias, random.choice(calls), width, offset % width, end=end)
    if kind == "time_bucket" and random.random() < 0.5:
        return Grouping(
            alias, f"time_bucket({interval}, {time})", width, 946_857_600 * SECOND % width
        )
    origin = base + random.randint(-3, 3) * step // 2
    shown = _show(EPOCH + timedelta(microseconds=origin))
    return Grouping(
        alias, f"{kind}({interval}, {time}, TIMESTAMP '{shown}')", width, origin % width
    )


def _sliding(random: Random, alias: str, table: str, step: int) -> Grouping:
    """Buckets that overlap, or grow: as calls, or as a table of windows."""
    slide = random.choice([1, 1, 2, 3]) * step + random.choice([0, 0, 0, 1, step // 2])
    grows = random.random() < 0.4
    size = slide * random.randint(1, 4)
    if not grows and random.random() < 0.4:
        size = random.randint(1, 5) * step + random.choice([0, step // 2])
    period = size if grows else slide
    offset = random.choice([0, 0, random.randrange(period), 3 * period + 1])
    kind = "CUMULATE" if grows else "HOP"
    given = [f"INTERVAL '{n}' MICROSECOND" for n in (slide, size, *([offset] if offset else []))]
    shown, origin = ", ".join(given), offset % period
    if random.random() < 0.4:
        windows = f"TABLE({kind}(TABLE {table}, DESCRIPTOR(ts), {shown}))"
        start, end = f"{alias}.window_start", f"{alias}.window_end"
        return Grouping(alias, start, size, origin, "", "UTC", end, slide, grows, windows)
    call = f"({alias}.ts, {shown})"
    start = random.choice([kind, f"{kind}_START"]) + call
    return Grouping(alias, start, size, origin, "", "UTC", f"{kind}_END{call}", slide, grows)


def _aggregate(random: Random, column: str) -> tuple[str, str, str]:
    functions = ["COUNT", "DISTINCT", "*"]
    match column[-1]:
        case "f" | "a" | "b" | "h" | "v" | "c":
            functions += ["SUM", "AVG", "MIN", "MAX", "MEDIAN", "SUM", "AVG"]
            functions += [] if column[-1] == "f" else ["SUM DISTINCT", "AVG DISTINCT"]
        case "d":
            functions += ["MIN", "MAX"]
        case _:
            pass  # a text
    match random.choice(functions):
        case "*":
            return "*", "", "COUNT(*)"
        case "DISTINCT":
            return "DISTINCT", column, f"COUNT(DISTINCT {column})"
        case "SUM DISTINCT" | "AVG DISTINCT" as asked:
            return asked, column, f"{asked[:3]}(DISTINCT {column})"
        case function:
            return function, column, f"{function}({column})"
