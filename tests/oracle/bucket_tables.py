"""The tables of random aggregates by buckets of time, and their rows."""

from datetime import date
from decimal import Decimal
from math import inf
from random import Random
from typing import Any

from ontoweir.mappings.model.catalog import (
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
)
from tests.oracle.random_queries import Tables

SQL_TYPES = {
    "a": "BIGINT",
    "v": "BIGINT",
    "b": "DECIMAL(6,2)",
    "c": "DECIMAL(12,3)",
    "g": "VARCHAR",
    "u": "VARCHAR",
    "h": "BIGINT",
    "d": "DATE",
    "f": "DOUBLE",
}
COLUMNS = (
    Column("a", IntType(), minimum=-3, maximum=3),
    Column("v", IntType()),
    Column("b", DecimalType(6, 2), minimum=Decimal(-2), maximum=Decimal(2)),
    Column("c", DecimalType(12, 3)),
    Column("g", StringType(), enum=("x", "y")),
    Column("u", StringType()),
    Column("h", IntType(), enum=(0, 1, 2)),
    Column("d", DateType(), minimum="2000-01-01", maximum="2000-01-04"),
    Column("f", FloatType()),
)
NAMES = tuple(c.name for c in COLUMNS)
STATIC = ("h", "a", "u")

FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.2,
    0.3,
    1e16,
    -1e16,
    1e300,
    -1e300,
    1.7e308,
    -1.7e308,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1 / 3,
    123456.789,
    2.0**53,
    2.0**-1000,
)


def make_rows(random: Random, steps: list[int], step: int) -> Tables:
    """Rows at some steps: NULLs, few values and many, and doubles that are hard to add."""
    share, wild = random.choice([0.0, 0.1, 0.5]), random.choice([0.0, 0.0, 0.05])
    texts = [
        "",
        "x",
        "é",
        "y" * 40,
        "123e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-12d3-a456-426614174001",
    ]

    def cell(column: str) -> Any:
        if random.random() < share:
            return None
        match column:
            case "a":
                return random.randint(-3, 3)
            case "v":
                return random.choice([random.randint(-2, 2), random.randint(-(1 << 40), 1 << 40)])
            case "b":
                return Decimal(random.randint(-200, 200)) / 100
            case "c":
                return Decimal(random.randint(-5000, 5000)) / 1000
            case "g":
                return random.choice(["x", "y"])
            case "u":
                return random.choice(texts)
            case "h":
                return random.randint(0, 2)
            case "f":
                if random.random() < wild:
                    return random.choice([inf, -inf])
                if random.random() < 0.4:
                    return random.choice(FLOATS)
                return random.uniform(-1, 1) * 2.0 ** random.randint(-60, 60)
            case _:
                return date(2000, 1, random.randint(1, 4))

    data: Tables = {}
    for name in ("s", "t"):
        times = sorted(
            random.choice(steps) * step for _ in range(random.choice([0, 4, 15, 25, 25]))
        )
        while any(times.count(t) > 20 for t in times):
            times = times[1:]
        data[name] = ([*NAMES, "ts"], [(*map(cell, NAMES), time) for time in times])
    rows = [(h, cell("a"), cell("u")) for h in random.sample(range(3), k=random.randint(0, 3))]
    data["r"] = ([*STATIC], rows)
    return data
