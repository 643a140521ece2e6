"""Groups of one match, and values that never repeat, by a key: as DuckDB answers the same SQL over
the prefix, replayed and live, in no more rows than the bound."""

from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Catalog, Column, DateType, DecimalType, IntType, Stream
from ontoweir.mappings.model.catalog import StringType as Text
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_sql_nulls import MARKERS, NOTHING, Query, compare

_COLUMNS = (
    Column("h", IntType()),
    Column("a", IntType()),
    Column("b", DecimalType(6, 2)),
    Column("g", Text()),
    Column("d", DateType()),
)
CATALOG = Catalog(
    {
        "s": Stream("s", NOTHING, "ts", 1, 20, _COLUMNS, keys=(("h",),)),
        "t": Stream("t", NOTHING, "ts", 1, 20, _COLUMNS, keys=(("h", "ts"),)),
    },
    {},
)


def make_query(random: Random) -> Query:
    """Aggregates by the key, or of it, mostly; of one stream, or of two at one time."""
    join = random.random() < 0.4
    tables = ["s", "t"] if join else ["s"]
    conditions = [random.choice(["s.ts = t.ts", "s.ts = t.ts AND s.a = t.a"])] if join else []
    if join and random.random() < 0.5:
        conditions.append("t.h = s.a")
    if random.random() < 0.3:
        conditions.append(random.choice(["s.a > 0", "s.g IS NOT NULL", "s.b <= 1.5"]))
    every = [f"{t}.{c}" for t in tables for c in "habgd"]
    group = random.choice([[], ["s.h"], ["s.h"], ["s.h", "s.g"], ["s.h", "t.h"], ["t.h"]])
    group = [c for c in group if c[0] in tables]
    columns = [(f"g{i}", c, c) for i, c in enumerate(group)]
    for n in range(random.randint(1, 4)):
        columns.append((f"x{n}", *_aggregate(random, random.choice(["s.h", *every]), bool(group))))
    random.shuffle(columns)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return Query(tuple(columns), tuple(group), ", ".join(tables) + where)


def _aggregate(random: Random, column: str, grouped: bool) -> tuple[str, str]:
    functions = ["COUNT(*)", f"COUNT({column})", f"COUNT(DISTINCT {column})"]
    if grouped and column[-1] in "hab":
        functions += [f"{f}({column})" for f in ("SUM", "AVG", "MIN", "MAX")]
        functions += [f"{f}(DISTINCT {column})" for f in ("SUM", "AVG")]
        median = f"MEDIAN({column})", f"MEDIAN(CAST({column} AS DOUBLE))"
        if random.random() < 0.2:
            return median
    if grouped and column[-1] == "d":
        functions += [f"MIN({column})", f"MAX({column})"]
    return (random.choice(functions),) * 2


def make_data(random: Random) -> Tables:
    """Small tables that keep the keys, with NULLs: in t they share the key."""

    def cell(column: str) -> Any:
        if random.random() < 0.3:
            return None
        match column:
            case "a" | "h":
                return random.randint(-2, 4)
            case "b":
                return Decimal(random.randint(-200, 200)) / 100
            case "g":
                return random.choice(["x", "y"])
            case _:
                return date(2000, 1, random.randint(1, 4))

    data: Tables = {}
    for name in ("s", "t"):
        times = sorted(random.randrange(MARKERS) for _ in range(random.randint(0, 14)))
        rows, seen = [], set()
        fresh = random.sample(range(-4, 40), k=len(times))
        for time, key in zip(times, fresh, strict=True):
            own = key if name == "s" else cell("h")
            if name == "t" and own is not None and (own, time) in seen:
                continue
            seen.add((own, time))
            rows.append((own, *(cell(c) for c in "abgd"), time))
        data[name] = (["h", "a", "b", "g", "d", "ts"], rows)
    return data


def check(seed: int) -> Verdict:
    """One random query over random tables."""
    random = Random(seed)
    return compare(random, make_query(random), CATALOG, make_data(random))


@budget(0.3)
@given(seed=SEEDS)
def test_keyed_groups_equal_duckdb(seed: int) -> None:
    verdict = check(seed)
    if any(part.part.once for part in verdict.parts):
        event("groups of one match")


def test_most_are_decided() -> None:
    """That the test above is about something."""
    verdicts = []
    for seed in range(40):
        union = parse_sql(make_query(Random(seed)).text(1), CATALOG, name="q", file="q.sql")
        verdicts.append(check_query(union, CATALOG, disprove=False))
    assert sum(v.plans is not None for v in verdicts) > 15
    assert sum(any(p.part.once for p in v.parts) for v in verdicts) > 5
