"""What holds until something ends it, of more shapes: keys and shown values that are expressions,
dates, doubles, booleans; conditions of all kinds; HAVING; as DuckDB answers the same text."""

from collections import Counter
from dataclasses import replace
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import example, given

from ontoweir.mappings.model.catalog import BooleanType, Catalog, Column, FloatType
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_sql_nulls import CATALOG, MARKERS
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_standing import compare

R = 3
VALUES: dict[str, list[Any]] = {
    "a": [-1, 0, 1],
    "b": [Decimal("-0.02"), Decimal("0.01")],
    "g": ["x", "y"],
    "h": [0, 1, 2],
    "d": [date(2000, 1, 1), date(2000, 1, 3)],
    "f": [0.5, -1.25],
    "gone": [True, False],
}
_COLUMNS = (
    *CATALOG.streams["s"].columns[:5],
    Column("f", FloatType(), enum=(0.5, -1.25)),
    Column("gone", BooleanType()),
)
WIDE = Catalog(
    {
        name: replace(s, columns=_COLUMNS, max_per_timestamp=R)
        for name, s in CATALOG.streams.items()
    },
    CATALOG.relations,
)
_SHOWN = ["x.a + 1", "x.a % 2", "UPPER(x.g)", "COALESCE(x.h, 2)", "x.a * x.h"]
_SHOWN += ["CASE WHEN x.a > 0 THEN 'p' ELSE 'n' END", *(f"x.{c}" for c in VALUES)]
_KEYS = [(f"x.{c}", f"y.{c}") for c in VALUES]
_KEYS += [("x.a + 1", "y.a + 1"), ("x.a", "y.h"), ("x.h", "y.a"), ("UPPER(x.g)", "UPPER(y.g)")]
_CALLS = ["COUNT(*)", "COUNT(x.a)", "SUM(x.a)", "MIN(x.b)", "AVG(x.a)", "COUNT(DISTINCT x.g)"]
_CALLS += ["MAX(x.d)", "SUM(x.f)", "COUNT(x.gone)", "SUM(x.a * x.h)", "MEDIAN(x.a)"]


def make_condition(random: Random, of: str) -> str:
    conditions = [
        *("{0}.a > -1", "{0}.g IS NOT NULL", "{0}.gone", "NOT {0}.gone", "{0}.f > 0", "{0}.b <> 0"),
        *("{0}.d < DATE '2000-01-02'", "{0}.a + {0}.h > 0", "{0}.g IS NULL", "{0}.a <> {0}.h"),
        *("{0}.h NOT IN (1, 2)", "COALESCE({0}.a, 0) = 0", "{0}.a BETWEEN 0 AND 1"),
    ]
    return random.choice(conditions).format(of)


def make_from(random: Random) -> str:
    """Rows beside which there is no later one, or the latest ones."""
    mine = [make_condition(random, "x") for _ in range(random.choice([0, 0, 1, 2]))]
    if random.random() < 0.3:
        parts = ", ".join(random.sample(["h", "g", "a", "d", "gone"], k=random.choice([1, 2])))
        inner = f"SELECT * FROM s QUALIFY RANK() OVER (PARTITION BY {parts} ORDER BY ts DESC) = 1"
        return f"({inner}) AS x" + (f" WHERE {' AND '.join(mine)}" if mine else "")
    equal = [random.choice(_KEYS) for _ in range(random.choice([1, 1, 2]))]
    said = [random.choice([f"{m} = {o}", f"{o} = {m}"]) for m, o in equal]
    said += [random.choice(["y.ts > x.ts", "x.ts <= y.ts"])]
    said += [make_condition(random, "y") for _ in range(random.choice([0, 1, 2]))]
    random.shuffle(said)
    inner = f"SELECT 1 FROM {random.choice('tts')} AS y WHERE {' AND '.join(said)}"
    return f"s AS x WHERE {' AND '.join([f'NOT EXISTS ({inner})', *mine])}"


def make_query(random: Random) -> Stacked:
    rows, tail, word = make_from(random), "", ""
    shown = random.sample(_SHOWN, k=random.randint(1, 2))
    if grouped := random.random() < 0.5:
        group = random.choice([[], shown])
        shown = group + random.sample(_CALLS, k=2)
        tail = f" GROUP BY {', '.join(group)}" if group else ""
        if group and random.random() < 0.3:
            tail += random.choice([" HAVING COUNT(*) > 1", " HAVING COUNT(x.g) > 0"])
    else:
        word = random.choice(["", "DISTINCT "])
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    ours = f"SELECT {word}{listed} FROM {rows}{tail}"
    known = " AND ".join(f"{n} IS NOT NULL" for n in names)
    plain = grouped or "QUALIFY" in ours  # which show NULL
    return Stacked(ours, ours if plain else f"SELECT * FROM ({ours}) WHERE {known}", names)


def make_rows(random: Random) -> Tables:
    share = random.choice([0.0, 0.05, 0.3])
    data: Tables = {}

    def cell(column: str) -> Any:
        return None if random.random() < share else random.choice(VALUES[column])

    for name in ("s", "t"):
        times = Counter(random.randrange(MARKERS) for _ in range(random.choice([3, 10, 20])))
        at = [time for time in sorted(times) for _ in range(min(R, times[time]))]
        data[name] = ([*VALUES, "ts"], [(*map(cell, VALUES), time) for time in at])
    data["r"] = (["h", "a", "g"], [])
    return data


def check(seed: int) -> None:
    random = Random(seed)
    query = make_query(random)
    union = parse_sql(query.ours, WIDE, name="q", file="q.sql")
    assert union.standing is not None, query.ours
    compare(query, union, random, WIDE, make_rows(random))


# of `>=`, which few random ones tell from `>`
@example(seed=32)
@example(seed=37)
@example(seed=51)
@budget(0.15)
@given(seed=SEEDS)
def test_more_shapes_are_duckdbs(seed: int) -> None:
    check(seed)
