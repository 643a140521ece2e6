"""Aggregates by buckets of time by plain evaluation: DuckDB finds the matches of the whole history,
and Python groups them and adds fractions."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import product
from math import inf, isfinite, nan
from typing import Any

from tests.oracle.bucket_cases import BucketCase
from tests.oracle.bucket_tables import SQL_TYPES
from tests.oracle.clock_buckets import EPOCH
from tests.oracle.database import insert_rows, open_database


def find_groups(case: BucketCase) -> list[tuple[dict[str, Any], int]]:
    """The groups of the whole history, in any order: their rows, and when each is final."""
    assert case.closes
    base = open_database()
    for name, (columns, rows) in case.data.items():
        spec = ", ".join(f"{c} {SQL_TYPES.get(c, 'BIGINT')}" for c in columns)
        base.execute(f"CREATE TEMP TABLE all_{name} ({spec})")
        kinds = ", ".join(f"?::{SQL_TYPES.get(c, 'BIGINT')}" for c in columns)
        insert_rows(base, f"all_{name}", kinds, rows)
        shown = ", ".join("make_timestamp(ts) AS ts" if c == "ts" else c for c in columns)
        base.execute(f"CREATE TEMP VIEW {name} AS SELECT {shown} FROM all_{name}")
    needed = dict.fromkeys(
        [f"epoch_us({g.alias}.ts)" for g in case.groupings]
        + [
            *case.group,
            *(w[1] for _, _, w in case.columns if w[0] not in ("start", "end") and w[1]),
        ]
    )
    tables = ", ".join(f"{table} AS {alias}" for alias, table in case.members)
    where = (*case.conditions, *case.limits)
    text = f"SELECT {', '.join(needed)} FROM {tables}" + (
        f" WHERE {' AND '.join(where)}" if where else ""
    )
    matches = [dict(zip(needed, row, strict=True)) for row in base.execute(text).fetchall()]
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for match in matches:
        several = (g.find_all(match[f"epoch_us({g.alias}.ts)"]) for g in case.groupings)
        for found in product(*several):
            groups[found, tuple(match[c] for c in case.group)].append(match)
    made = []
    wait = case.wait(case.groupings[case.closing].alias)
    assert wait is not None
    for (found, key), of in groups.items():
        row = {}
        for name, _, what in case.columns:
            match what:
                case "start", place:
                    row[name] = found[place][0]
                case "end", place:
                    row[name] = found[place][1]
                case "group", column:
                    row[name] = key[case.group.index(column)]
                case "*", _:
                    row[name] = len(of)
                case _:
                    function, column = what
                    values = [m[column] for m in of if m[column] is not None]
                    row[name] = compute(function, values)
        made.append((row, found[case.closing][1] + wait * case.step))
    return made


def compute(function: str, values: list[Any]) -> Any:
    """An aggregate of values that are not NULL."""
    if function == "COUNT":
        return len(values)
    if function == "DISTINCT":
        return len(set(values))
    if not values:
        return None
    floats = isinstance(values[0], float)
    match function:
        case "SUM DISTINCT":
            return sum(set(values))
        case "AVG DISTINCT":
            return round_once(list(set(values)), len(set(values)))
        case "MIN":
            return min(values)
        case "MAX":
            return max(values)
        case "SUM":
            return round_once(values, 1) if floats else sum(values)
        case "AVG":
            return round_once(values, len(values))
        case _:
            ordered = sorted(values)
            return round_once([ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]], 2)


def round_once(values: list[Any], count: int) -> float:
    """The exact sum divided by a whole number, as the nearest double."""
    odd = {v for v in values if isinstance(v, float) and not isfinite(v)}
    if odd:
        return next(iter(odd)) if len(odd) == 1 else nan
    exact = sum(map(Fraction, values)) / count
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


def micros(moment: datetime) -> int:
    return (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def canon(row: dict[str, Any]) -> tuple[Any, ...]:
    """A row that compares: times as numbers, NaN as itself, -0.0 as 0.0."""
    cells = []
    for name in sorted(row):
        cell = row[name]
        if isinstance(cell, datetime):
            cell = micros(cell)
        if isinstance(cell, float):
            cell = "NaN" if cell != cell else cell + 0.0
        cells.append((name, type(cell).__name__ if isinstance(cell, str) else "", cell))
    return tuple(cells)
