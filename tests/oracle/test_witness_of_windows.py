"""Counterexamples of queries with windows, steps, delays and buckets: DuckDB evaluates the query
over each optional row and its suffix, at the times that follow: what is answered tells the row."""

from collections.abc import Sequence

import duckdb
import pytest

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.witness import Witness, WitnessRow
from tests.checker.decide.test_windows import COLUMNS, S10, decide

JOIN = "FROM s, t WHERE t.ts < s.ts AND s.a = t.c"
SHOWN = "s.ts >= date_trunc('hour', NOW())"
LATE = "s.ts <= NOW() - INTERVAL '3' SECOND"
MINUTE = "TUMBLE(s.ts, INTERVAL '1' MINUTE)"
SECOND = "TUMBLE(s.ts, INTERVAL '1' SECOND)"
HOP = "HOP_START(s.ts, INTERVAL '1' SECOND, INTERVAL '2' SECOND)"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {MINUTE} AS b, COUNT(*) AS n {JOIN} GROUP BY {MINUTE}",
        f"SELECT {MINUTE} AS b, MAX(t.b) AS n {JOIN} GROUP BY {MINUTE}",
        f"SELECT {MINUTE} AS b, s.k, AVG(t.b) AS n {JOIN} GROUP BY {MINUTE}, s.k",
        f"SELECT s.k, COUNT(*) AS n FROM s, t WHERE s.a = t.c AND {S10} GROUP BY s.k",
        f"SELECT s.k, MAX(t.b) AS n FROM s, t WHERE s.a = t.c AND {S10} GROUP BY s.k",
        f"SELECT s.a FROM s, t WHERE s.a = t.c AND {SHOWN}",
        f"SELECT DISTINCT s.k FROM s, t WHERE s.a = t.c AND {SHOWN}",
        f"SELECT s.a FROM s, t WHERE s.a = t.c AND {S10} AND {LATE}",
        f"SELECT DISTINCT s.a FROM s, t WHERE s.a = t.c AND {S10} AND {LATE}",
        f"SELECT DISTINCT s.k FROM s, t, t AS u WHERE s.a = t.c AND s.a = u.a AND {SHOWN}",
        f"SELECT {HOP} AS b, COUNT(*) AS n {JOIN} GROUP BY 1",
        f"SELECT {HOP} AS b, MAX(t.b) AS n {JOIN} GROUP BY 1",
        f"SELECT {HOP} AS b, s.k, COUNT(*) AS n {JOIN} GROUP BY 1, 2",
    ],
)
def test_a_counterexample_tells_its_rows(sql: str) -> None:
    witness = decide(sql).witness
    assert witness is not None
    for number, suffix in enumerate(witness.suffixes):
        mine = [witness.optional[number]]
        rest = [row for n, row in enumerate(witness.optional) if n != number]
        told = _answers(sql, witness, mine, suffix)
        assert told - _answers(sql, witness, rest, suffix)
        assert told - _answers(sql, witness, [*mine, *rest], ())


@pytest.mark.parametrize(
    "sql",
    [
        # no group is ever final
        f"SELECT {SECOND} AS b, COUNT(*) AS n FROM s, t WHERE s.ts < t.ts AND s.a = t.c GROUP BY 1",
        # HAVING may hide what the row changes
        f"SELECT {MINUTE} AS b, COUNT(*) AS n {JOIN} GROUP BY {MINUTE} HAVING COUNT(*) > 3",
        # which groups there are is the same whatever came
        f"SELECT s.k, COUNT(*) AS n FROM s, t WHERE s.a < t.c AND {S10} GROUP BY s.k",
    ],
)
def test_twin_what_rows_of_groups_do_not_tell_is_no_counterexample(sql: str) -> None:
    verdict = decide(sql)
    assert verdict.tier is Tier.UNDECIDED
    assert verdict.witness is None


def _answers(
    sql: str, witness: Witness, optional: Sequence[WitnessRow], suffix: Sequence[WitnessRow]
) -> set[object]:
    """What is answered at some time from the suffix on: of groups, which there are."""
    base = duckdb.connect()
    names = [c.name for c in COLUMNS]
    rows = [*witness.fixed, *optional, *suffix]
    for table in ("s", "t"):
        columns = ", ".join(f"{n} BIGINT" for n in names)
        base.execute(f"CREATE TABLE {table} ({columns}, ts TIMESTAMP)")
        for row in rows:
            if row.table == table:
                given = [dict(row.values)[n] for n in names]
                marks = ", ".join("?" * len(names))
                base.execute(
                    f"INSERT INTO {table} VALUES ({marks}, make_timestamp(?))",
                    [*given, (row.step or 0) * 1_000_000],
                )
    sql = sql.replace(MINUTE, "time_bucket(INTERVAL '1 minute', s.ts)")
    if HOP in sql:  # each row in the two buckets that overlap there
        begin = "time_bucket(INTERVAL '1 second', ts) - unnest([0, 1]) * INTERVAL '1 second' AS b0"
        sql = sql.replace("FROM s,", f"FROM (SELECT *, {begin} FROM s) s,").replace(HOP, "s.b0")
    last = max(r.step or 0 for s in witness.suffixes for r in s)
    grouped = sql.partition(" GROUP BY ")[2].count(",") + 1 if " GROUP BY " in sql else 99
    found: set[object] = set()
    for now in range(last, last + 20):
        text = sql.replace("NOW()", f"make_timestamp({now * 1_000_000})")
        found |= {row[:grouped] for row in base.execute(text).fetchall()}
    return found
