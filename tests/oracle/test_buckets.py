"""Aggregates by buckets of time: each group once, when it is final, replayed and live, as DuckDB
answers over the prefix."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import (
    CATALOG,
    MARKERS,
    Oracle,
    Query,
    make_data,
    make_query,
    run_live,
    same,
    split_groups,
)
from tests.runtime.in_process import EPOCH, replay_here, store

WINDOW = 3


@dataclass(frozen=True)
class Buckets:
    """Buckets of a stream's timestamp, in µs, and how long after one its matches may come (None:
    for ever)."""

    alias: str
    width: int
    origin: int
    wait: int | None

    @property
    def ours(self) -> str:
        size = f"INTERVAL '{self.width}' MICROSECOND"
        offset = f", INTERVAL '{self.origin}' MICROSECOND" if self.origin else ""
        return f"TUMBLE({self.alias}.ts, {size}{offset})"

    @property
    def duck(self) -> str:
        time = f"epoch_us({self.alias}.ts)"
        return f"(floor(({time} - {self.origin}) / {self.width}) * {self.width} + {self.origin})"


def make_buckets(random: Random, query: Query) -> Buckets:
    """Buckets of one of the query's streams."""
    aliases = [a for a in "st" if f"{a}." in query.rest or query.rest.split(",")[0][0] == a]
    alias = random.choice(aliases)
    width = random.randint(1, 5)
    wait: int | None = 0
    if "t.ts" in query.rest:
        windowed = "t.ts <= s.ts +" in query.rest
        after = "s.ts < t.ts" in query.rest or "s.ts <= t.ts" in query.rest
        before = "t.ts < s.ts" in query.rest
        if alias == "s" and after:
            wait = WINDOW if windowed else None
        if alias == "t" and before:
            wait = None
    return Buckets(alias, width, random.randrange(width), wait)


def end_stream(random: Random, query: Query) -> Query:
    """The query, sometimes over the beginning of a stream: its tuples are then kept for ever."""
    if random.random() < 0.75:
        return query
    joined = " AND " if " WHERE " in query.rest else " WHERE "
    last = f"s.ts <= TIMESTAMP '1970-01-01 00:00:00.00000{random.randint(2, 6)}'"
    return replace(query, rest=f"{query.rest}{joined}{last}")


def add_buckets(query: Query, buckets: Buckets) -> Query:
    """The query grouped by buckets, too."""
    columns = (("g_bucket", buckets.ours, buckets.duck), *query.columns)
    return replace(query, columns=columns)


def write(query: Query, buckets: Buckets, place: int) -> str:
    """The SQL that we read (1), or DuckDB (2)."""
    selected = ", ".join(f"{c[place]} AS {c[0]}" for c in query.columns)
    bucket = buckets.ours if place == 1 else buckets.duck
    having = f" HAVING {query.having}" if query.having else ""
    group = ", ".join((*query.group, bucket))
    return f"SELECT {selected} FROM {query.rest} GROUP BY {group}{having}"


def final(
    query: Query, buckets: Buckets, groups: dict[Any, Any], marker: int
) -> dict[Any, tuple[Any, int]]:
    """The groups that are final once a marker is over, and when they are."""
    assert buckets.wait is not None
    place = [c[0] for c in query.columns if c[0].startswith("g")].index("g_bucket")
    kept = {}
    for key, row in groups.items():
        at = int(key[place]) + buckets.width + buckets.wait
        if at <= marker + 1:
            kept[(*key[:place], int(key[place]), *key[place + 1 :])] = (row, at)
    return kept


def show(query: Query, rows: list[dict[str, Any]]) -> dict[Any, tuple[Any, int]]:
    """Ours in the same form; no group is there twice."""
    plain = [{**row, "g_bucket": micros(row["g_bucket"])} for row in rows]
    groups = split_groups(query, plain)
    assert len(groups) == len(rows)
    return {
        key: (row, micros(at))
        for (key, row), at in zip(groups.items(), (r["at"] for r in rows), strict=True)
    }


def by_start(query: Query, groups: dict[Any, Any]) -> dict[Any, Any]:
    """Groups whose buckets are timestamps, with numbers in their place."""
    place = [c[0] for c in query.columns if c[0].startswith("g")].index("g_bucket")
    return {
        (*key[:place], micros(key[place]), *key[place + 1 :]): row for key, row in groups.items()
    }


def micros(moment: Any) -> int:
    gone = moment.replace(tzinfo=None) - EPOCH
    return int(gone.days * 86_400_000_000 + gone.seconds * 1_000_000 + gone.microseconds)


def equal(found: dict[Any, tuple[Any, int]], expected: dict[Any, tuple[Any, int]]) -> bool:
    values = ({k: row for k, (row, _) in d.items()} for d in (found, expected))
    times = ({k: at for k, (_, at) in d.items()} for d in (found, expected))
    return same(*values) and len({tuple(sorted(t.items(), key=str)) for t in times}) == 1


def check(seed: int) -> None:
    random = Random(seed)
    compare(random, end_stream(random, make_query(random)))


def compare(random: Random, query: Query) -> None:
    """Assert that a query, grouped by buckets too, is answered as DuckDB does."""
    buckets = make_buckets(random, query)
    query = add_buckets(query, buckets)
    sql, data = write(query, buckets, 1), make_data(random)
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert buckets.wait is not None, sql
    assert verdict.bound is not None
    case = Case(CATALOG, union, data, MARKERS)
    oracle = Oracle(case)
    read = {o.table for q in union.disjuncts for o in q.occurrences} & {"s", "t"}
    last = max([-1, *(row[-1] for name in read for row in data[name][1])])
    expected = [
        final(query, buckets, oracle.groups(query, write(query, buckets, 2), m), m)
        for m in range(last + 1)
    ]
    if not re.search("MEDIAN|_CONT", sql):  # DuckDB rounds those of decimals
        printed = print_sql(union, case.catalog, dialect="duckdb", comments=False)
        written = oracle.groups(query, write(query, buckets, 2), MARKERS)
        assert same(by_start(query, oracle.groups(query, printed, MARKERS)), written), printed
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", union, verdict.plans, catalog, verdict.bound.rows, verdict.declarations, parts
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        assert equal(show(query, whole), expected[-1] if expected else {}), sql
        assert whole == sorted(whole, key=lambda row: row["at"])
        ranges = random.choice([2, 3, 5])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=ranges)
        assert rows == whole, sql
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            told = [row for row in live if micros(row["at"]) <= marker + 1]
            assert equal(show(query, told), expected[marker]), (sql, marker)


@budget(0.5)
@given(seed=SEEDS)
def test_buckets_equal_duckdb(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize(
    ("window", "bounded"), [("", False), ("AND t.ts <= s.ts + INTERVAL '3' MICROSECOND", True)]
)
def test_no_bucket_is_final_while_a_tuple_may_wait_for_ever(window: str, bounded: bool) -> None:
    """Also where there are finitely many such tuples, which are kept."""
    bucket = "TUMBLE(s.ts, INTERVAL '2' MICROSECOND)"
    sql = f"""SELECT {bucket} AS b, COUNT(*) AS n FROM s, t WHERE s.ts < t.ts {window}
        AND s.ts <= TIMESTAMP '1970-01-01 00:00:00.000004' GROUP BY {bucket}"""
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    assert (check_query(union, CATALOG).plans is not None) is bounded
