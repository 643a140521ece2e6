"""Counterexamples of rows with what the rows before them say: DuckDB answers the same text over
every subset of the optional rows and each suffix: what suffixes bring tells all subsets apart."""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, ClosingRule, Column, Lag
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget, count_tuples
from tests.oracle.database import open_database
from tests.oracle.test_witness_beside import FREE

_STREAM = FREE.streams["s"]
ONE = replace(
    FREE,
    streams={n: replace(FREE.streams[n], keys=((_STREAM.timestamp,),)) for n in ("s", "t")},
)
"""One row at a time, in columns without a domain."""

_FUNCTIONS = (
    "LAG({0})",
    "LAG({0}, 2)",
    "FIRST_VALUE({0})",
    "SUM({0})",
    "COUNT({0})",
    "COUNT(*)",
    "AVG({0})",
    "MIN({0})",
    "MAX({0})",
    "ROW_NUMBER()",
)
_SHOWN = ("{0}", "h - {0}", "{0} > 2", "COALESCE({0}, 0)", "CASE WHEN {0} > h THEN 1 END")
_WHERE = ("", "", " WHERE h > 5", " WHERE h < 3 AND g <> 'x'", " WHERE h IS NOT NULL AND a > 0")
_ONLY = ("", "", " WHERE m > h", " WHERE m < h", " WHERE m IS NULL", " WHERE m <> h")
_FRAMES = ("", "", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW")

LATEST = "SELECT y.h FROM t y WHERE y.a = x.a AND y.ts < x.ts ORDER BY y.ts DESC LIMIT 1"


def make_query(random: Random) -> str:
    """Rows of a stream with what those before them say, of which some may be left out."""
    key = random.choice(["a", "a", "g", "g, h", "b"])
    function = random.choice(_FUNCTIONS).format(random.choice(["h", "h", "a"]))
    frame = random.choice(_FRAMES) if function.partition("(")[0] in ("SUM", "AVG", "MIN") else ""
    over = f"{function} OVER (PARTITION BY {key} ORDER BY ts{frame})"
    shown = random.choice(_SHOWN).format("m")
    inner = f"SELECT a, b, g, h, {over} AS m FROM s{random.choice(_WHERE)}"
    return f"SELECT {key}, {shown} AS z FROM ({inner}) AS q{random.choice(_ONLY)}"


def decide(text: str, catalog: Catalog = ONE) -> Verdict:
    return check_query(
        parse_sql(text, catalog, name="q", file="q.sql"), catalog, size=count_tuples()
    )


def check_witness(text: str, witness: Witness) -> None:
    """Assert that any algorithm must tell all subsets of the optional tuples apart."""
    told = set()
    for chosen in product((False, True), repeat=witness.size):
        rows = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        rows = [*witness.fixed, *rows]
        held, found = _answers(text, rows), []
        for suffix in witness.suffixes:
            assert min(r.step or 0 for r in suffix) > max((r.step or 0 for r in rows), default=-1)
            now = _answers(text, [*rows, *suffix])
            assert not held - now
            found.append(frozenset((now - held).items()))
        told.add(tuple(found))
    assert len(told) == 2**witness.size, (text, witness)


def _answers(text: str, rows: list[WitnessRow]) -> Counter[tuple[Any, ...]]:
    with open_database() as base:
        types = {"a": "BIGINT", "b": "DECIMAL(6,2)", "g": "VARCHAR", "h": "BIGINT"}
        for name in ("s", "t"):
            columns = [c.name for c in FREE.streams[name].columns]
            spec = ", ".join(f"{c} {types[c]}" for c in columns)
            base.execute(f"CREATE TEMP TABLE {name} ({spec}, ts TIMESTAMP)")
            marks = ", ".join("?" * len(columns))
            for row in (r for r in rows if r.table == name):
                base.execute(
                    f"INSERT INTO {name} VALUES ({marks}, make_timestamp(?))",
                    [*(dict(row.values)[c] for c in columns), row.step],
                )
        return Counter(base.execute(text).fetchall())


def check(seed: int) -> str:
    """The verdict on a random query, whose counterexample convinces."""
    text = make_query(Random(seed))
    verdict = decide(text)
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        check_witness(text, verdict.witness)
    return str(verdict.tier)


@budget(0.5)
@given(seed=SEEDS)
def test_counterexamples_convince_duckdb(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a, LAG(h) OVER (PARTITION BY a ORDER BY ts) AS z FROM s",
        "SELECT a, h - LAG(h) OVER (PARTITION BY a ORDER BY ts) AS z FROM s",
        "SELECT a, AVG(h) OVER (PARTITION BY a ORDER BY ts ROWS 3 PRECEDING) AS z FROM s",
        "SELECT a, h FROM s QUALIFY h > 2 * LAG(h) OVER (PARTITION BY a ORDER BY ts)",
        "SELECT g, h FROM s WHERE h > 7 QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY ts) = 1",
        "SELECT a, LAG(h) OVER (PARTITION BY a ORDER BY ts) > 9 AND h < 1 AS z FROM s",
        "SELECT x.a, y.h FROM s x ASOF LEFT JOIN t y ON y.a = x.a AND y.ts <= x.ts",
        f"SELECT x.a, ({LATEST}) AS z FROM s x",
    ],
)
def test_what_is_asked_of_keys_without_a_domain(text: str) -> None:
    verdict = decide(text)
    assert verdict.tier is Tier.UNBOUNDED
    assert verdict.witness is not None
    check_witness(text, verdict.witness)
    limited = {n: replace(s, columns=tuple(map(_limit, s.columns))) for n, s in ONE.streams.items()}
    found = decide(text, replace(ONE, streams=limited)).tier
    assert found not in (Tier.UNBOUNDED, Tier.UNDECIDED)


def _limit(column: Column) -> Column:
    if column.name == "g":
        return replace(column, enum=("x", "y"))
    return replace(column, minimum=0, maximum=99)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a, LAG(h) OVER (PARTITION BY a ORDER BY ts) AS z FROM s",
        "SELECT a, COUNT(*) AS z FROM s GROUP BY a",
        "SELECT a, COUNT(*) FILTER (WHERE h > 3) AS z FROM s GROUP BY a",
        "SELECT DISTINCT a FROM s",
    ],
)
@pytest.mark.parametrize("within", [None, 15, 40, 10_000])
def test_values_that_come_within_some_time(text: str, within: int | None) -> None:
    """All rows of a value lie within so many steps: few tuples can be told apart in that time, but
    not many, one of which comes at a time."""
    stream = ONE.streams["s"]
    if within is not None:
        lag = Lag("s", ("a",), ("a",), within * stream.step_us, None)
        stream = replace(stream, lags=(lag,))
    found = decide(text, replace(ONE, streams={"s": stream})).tier
    assert found is (Tier.UNBOUNDED if within is None else Tier.UNDECIDED)


OVER = "OVER (PARTITION BY a ORDER BY ts)"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT a, LAG(h) {OVER} AS z FROM s WHERE ABS(a) < 5",
        f"SELECT a, z FROM (SELECT a, LAG(h) {OVER} AS z FROM s) q WHERE MOD(a, 7) = a",
        f"SELECT a, CASE WHEN a BETWEEN 1 AND 5 THEN LAG(h) {OVER} END AS z FROM s",
        f"SELECT a, SUM(h) FILTER (WHERE a BETWEEN 1 AND 5) {OVER} AS z FROM s",
        f"SELECT a, h FROM (SELECT a, h, LAG(a) {OVER} AS m FROM s) q WHERE m BETWEEN 1 AND 5",
        f"SELECT a, h FROM s QUALIFY ts - LAG(ts) {OVER} < INTERVAL '10' MINUTE",
        f"SELECT a, h FROM s QUALIFY LAG(ts) {OVER} > ts - INTERVAL '10' MINUTE",
        "SELECT a, COUNT(*) AS n FROM s WHERE a > 0 GROUP BY a HAVING MIN(a) < 6",
        "SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING MIN(ABS(a)) < 6",
        "SELECT a, COUNT(*) AS n FROM s GROUP BY a HAVING COUNT_IF(a BETWEEN 1 AND 5) > 0",
    ],
)
def test_what_lets_few_keys_count_is_not_unbounded(text: str) -> None:
    assert decide(text).tier is Tier.UNDECIDED


def test_rows_that_a_rule_of_another_column_lets_through() -> None:
    """At most 4 keys for each open value of h."""
    rule = ClosingRule(("h",), rows=500)
    stream = replace(ONE.streams["s"], closing=(rule,))
    text = f"SELECT a, LAG(b) {OVER} AS z FROM s WHERE a - h BETWEEN 0 AND 3"
    assert decide(text, replace(ONE, streams={"s": stream})).tier is Tier.UNDECIDED
