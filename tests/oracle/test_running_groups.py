"""Groups of all rows so far, and what is asked around them: HAVING that comes and goes, conditions,
totals, sums of sums, the first of them, joins and unions: what holds at every time is what DuckDB
finds, live, replayed in ranges, as snapshots, within the bound."""

import re
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text, compare_told, fill_nulls, relax
from tests.oracle.test_sql_nulls import CATALOG, make_data

COUNTED = "(SELECT h, COUNT(*) AS n FROM s GROUP BY h)"


def _draw_groups(random: Random, having: str = "") -> str:
    key = random.choice("ha")
    value, table = "ah"[key == "a"], random.choice("st")
    calls = ["COUNT(*)", *(f"{f}({value})" for f in ("SUM", "MAX", "MIN", "AVG", "COUNT"))]
    call = random.choice(calls)
    kept = random.choice(["", "", f" WHERE {value} > 0", f" WHERE {key} IN (0, 1)"])
    having = having.format(call=call, n=random.randint(0, 3))
    return f"SELECT {key} AS k, {call} AS n FROM {table}{kept} GROUP BY {key}{having}"


def make_text(random: Random) -> str:
    groups, others = _draw_groups(random), _draw_groups(random)
    rows, n = f"({groups}) x", random.randint(0, 3)
    leaves = random.choice(["< {n} + 1", "= {n}", "BETWEEN 1 AND {n}", "<> {n}"])
    having = f" HAVING {{call}} {leaves}"
    total = random.choice(["SUM", "MAX", "MIN", "COUNT"])
    side, no = random.choice(["", "LEFT ", "FULL ", "RIGHT "]), random.choice(["", "NOT "])
    match random.randint(0, 10):
        case 0 | 1:
            inner = _draw_groups(random, having)
            return inner.replace(" AS k,", " AS c0,").replace(" AS n FROM", " AS c1 FROM")
        case 2:
            return f"SELECT x.k AS c0, x.n * 2 + x.k AS c1 FROM {rows} WHERE x.n < {n}"
        case 3:
            return f"SELECT x.k AS c0, x.n - {total}(x.n) OVER () AS c1 FROM {rows}"
        case 4:
            return f"SELECT {total}(x.n) AS c0, COUNT(*) AS c1 FROM {rows}"
        case 5:
            return f"SELECT x.n AS c0, COUNT(*) AS c1 FROM {rows} GROUP BY x.n"
        case 6:
            kept = "QUALIFY RANK() OVER (ORDER BY x.n) = 1"
            return f"SELECT x.k AS c0, x.n AS c1 FROM {rows} WHERE x.n IS NOT NULL {kept}"
        case 7:
            other = f"SELECT y.k, y.n FROM ({others}) y WHERE y.n > {n}"
            return f"SELECT x.k AS c0, x.n AS c1 FROM {rows} UNION ALL {other}"
        case 8:
            joined = f"{rows} {side}JOIN ({others}) y ON x.k = y.k"
            return f"SELECT x.k AS c0, y.n AS c1 FROM {joined} WHERE x.n > {n}"
        case 9:
            window = f"{random.choice('st')} WHERE ts > NOW() - INTERVAL '3' MICROSECOND"
            recent = f"SELECT h AS k, COUNT(*) AS n FROM {window} GROUP BY h"
            joined = f"{rows} {side}JOIN ({recent}) y ON x.k = y.k"
            return f"SELECT x.k AS c0, x.n - COALESCE(y.n, 0) AS c1 FROM {joined}"
        case _:
            beside = f"SELECT 1 FROM ({others}) y WHERE y.k = x.k AND y.n > x.n"
            return f"SELECT x.k AS c0, x.n AS c1 FROM {rows} WHERE {no}EXISTS ({beside})"


def compare(random: Random, text: str) -> str:
    data = fill_nulls(make_data(random))
    try:
        union = parse_sql(text, CATALOG, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:60]}"
    if choose_emit(union) is not Emit.CHANGES:
        return "updates"
    read = set(re.findall(r"FROM ([st])\b", text))
    since = min((row[-1] for name in read for row in data[name][1]), default=0)
    return compare_told(random, text, ("c0", "c1"), union, (CATALOG, data), since)


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    return compare(random, make_text(random))


@budget(0.3)
@given(seed=SEEDS)
def test_groups_so_far_and_what_is_around_them_are_duckdbs(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT h AS c0, AVG(a) AS c1 FROM s GROUP BY h HAVING AVG(a) > 0",
        "SELECT h AS c0, SUM(a) * 2 AS c1 FROM s GROUP BY h HAVING c1 BETWEEN 0 AND 5",
        (
            "SELECT t.h AS c0, MAX(t.a) AS c1 FROM t GROUP BY t.h HAVING COUNT(*) < 3 "
            "ORDER BY MAX(t.a) DESC, t.h LIMIT 1"
        ),
        "SELECT h AS c0, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS c1 FROM t GROUP BY h",
        "SELECT h AS c0, COUNT(*) AS c1 FROM s GROUP BY h QUALIFY COUNT(*) > AVG(COUNT(*)) OVER ()",
        (
            "SELECT h AS c0, COUNT(*) FILTER (WHERE a > 0) * 1.0 / COUNT(*) AS c1 FROM t "
            "GROUP BY h HAVING COUNT(*) FILTER (WHERE a > 0) * 2 < COUNT(*)"
        ),
        (
            "SELECT x.h AS c0, x.n AS c1 FROM (SELECT h, AVG(a) FILTER (WHERE a > 0) AS n FROM s "
            "GROUP BY h) x WHERE x.n < 3"
        ),
    ],
)
def test_what_was_refused_is_duckdbs(text: str) -> None:
    for seed in range(2):
        assert "bounded" in compare(Random(seed), text), text


@pytest.mark.parametrize(
    "text",
    [
        "SELECT h AS c0, MEDIAN(a) AS c1 FROM s GROUP BY h HAVING MEDIAN(a) > 0",
        "SELECT h AS c0, COUNT(DISTINCT a) AS c1 FROM s GROUP BY h HAVING COUNT(DISTINCT a) < 3",
        "SELECT r.h AS c0, COUNT(*) AS c1 FROM s JOIN r ON r.h = s.h GROUP BY r.h HAVING c1 < 4",
        "SELECT h AS c0, a AS c1 FROM t GROUP BY h, a HAVING COUNT(*) = 1",
        (
            "SELECT h AS c0, SUM(a) AS c1 FROM s GROUP BY h HAVING SUM(a) < 2 OR "
            "SUM(a) > (SELECT MAX(h) FROM r)"
        ),
    ],
)
def test_having_of_joins_distinct_values_and_null_keys_is_duckdbs(text: str) -> None:
    for seed in range(2):
        told = compare_text(text, ("c0", "c1"), Random(seed))
        assert "bounded" in told or "stateless" in told, text


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT x.h AS c0, x.n AS c1 FROM {COUNTED} x WHERE x.h = 1",
        f"SELECT h AS c0, n AS c1 FROM {COUNTED} x WHERE h IN (0, 2) AND n > 1",
        f"SELECT x.h AS c0, r.a AS c1 FROM {COUNTED} x JOIN r ON r.h = x.h WHERE x.h IN (1, 2)",
        "SELECT h AS c0, AVG(a) AS c1 FROM s GROUP BY h HAVING AVG(a) > 0 AND h = 1",
    ],
)
def test_what_is_said_of_keys_limits_what_is_kept(text: str) -> None:
    open_keys = relax(CATALOG, ("h",))
    union = parse_sql(text, open_keys, name="q", file="q.sql")
    assert check_query(union, open_keys, disprove=False).plans is not None
    for seed in range(2):
        assert "refused" not in compare(Random(seed), text), text


def test_what_is_hidden_by_having_is_no_counterexample() -> None:
    columns = (Column("k", IntType()), Column("v", IntType(), minimum=0, maximum=9))
    stream = Stream("s", DataSource("parquet", "none"), "ts", 1_000_000, None, columns)
    catalog = Catalog({"s": stream})
    for having in ("COUNT(*) < 0", "AVG(v) > 20", "AVG(v) > 3 AND AVG(v) < 2"):
        text = f"SELECT k, COUNT(*) AS n FROM s GROUP BY k HAVING {having}"
        verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
        assert verdict.tier is Tier.UNDECIDED, having
