"""Aggregates of SQL over tables with NULLs: every update, replayed and live, as DuckDB answers the
same SQL over the prefix."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isclose
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from tests.oracle.budget import SEEDS, budget
from tests.oracle.database import insert_rows, open_database
from tests.oracle.exact_variances import draw_of_doubles
from tests.oracle.random_queries import Case, Tables
from tests.oracle.run_kernel import few_touched
from tests.runtime.in_process import EPOCH, replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_job

MARKERS = 9
_TYPES = {
    "a": "BIGINT",
    "b": "DECIMAL(6,2)",
    "g": "VARCHAR",
    "h": "BIGINT",
    "d": "DATE",
    "f": "DOUBLE",
    "gone": "BOOLEAN",
    "seq": "BIGINT",
}
_COLUMNS = (
    Column("a", IntType(), minimum=-3, maximum=3),
    Column("b", DecimalType(6, 2), minimum=Decimal(-2), maximum=Decimal(2)),
    Column("g", StringType(), enum=("x", "y")),
    Column("h", IntType(), enum=(0, 1, 2)),
    Column("d", DateType(), minimum="2000-01-01", maximum="2000-01-04"),
    Column("f", FloatType()),
)
NOTHING = DataSource("parquet", "none")
CATALOG = Catalog(
    {
        name: Stream(name, NOTHING, "ts", 1, 20, _COLUMNS if name == "s" else _COLUMNS[:4])
        for name in ("s", "t")
    },
    {"r": Relation("r", NOTHING, (_COLUMNS[3], _COLUMNS[0], _COLUMNS[2]), (("h",),))},
)


@dataclass(frozen=True)
class Query:
    """A random query: its columns, and the rest, which DuckDB reads as it is."""

    columns: tuple[tuple[str, str, str], ...]
    """(name, what we read, what DuckDB reads)"""
    group: tuple[str, ...]
    rest: str
    having: str = ""

    def text(self, place: int) -> str:
        selected = ", ".join(f"{c[place]} AS {c[0]}" for c in self.columns)
        groups = f" GROUP BY {', '.join(self.group)}" if self.group else ""
        having = f" HAVING {self.having}" if self.having else ""
        return f"SELECT {selected} FROM {self.rest}{groups}{having}"


def make_query(random: Random) -> Query:
    """Some aggregates of some columns, grouped by some others."""
    tables = random.choice([["s"], ["s"], ["s", "t"], ["s", "t"], ["s", "r"], ["s", "t", "r"]])
    conditions = []
    if "t" in tables:
        order = "s.ts < t.ts", "s.ts <= t.ts", "t.ts < s.ts", "s.ts = t.ts"
        conditions.append(random.choice(order))
        if random.random() < 0.5:
            conditions.append("t.ts <= s.ts + INTERVAL '3' MICROSECOND")
        if random.random() < 0.7:
            ties = "s.h = t.h", "s.a <= t.a", "s.g = t.g", "s.a <> t.a", "s.b < t.b"
            conditions.append(random.choice(ties))
    if "r" in tables:
        conditions.append("s.h = r.h")
    if random.random() < 0.3:
        local = "s.a > -2", "s.g IS NOT NULL", "s.b <= 1.5", "s.h IN (0, 1)", "s.a <> 0"
        conditions.append(random.choice(local))
    held = {"s": "abghdf", "t": "abgh", "r": "hag"}
    every = [f"{t}.{c}" for t in tables for c in held[t]]
    groups = [c for c in every if c[-1] != "f"]
    group = random.sample(groups, k=random.choice([0, 0, 1, 1, 2, 3]))
    columns = [(f"g{i}", c, c) for i, c in enumerate(group)]
    for n in range(random.randint(1, 5)):
        columns.append((f"x{n}", *_aggregate(random, random.choice(every))))
    random.shuffle(columns)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return Query(tuple(columns), tuple(group), ", ".join(tables) + where)


def _aggregate(random: Random, column: str) -> tuple[str, str]:
    functions = ["COUNT", "COUNT", "DISTINCT"]
    match column[-1]:
        case "f":
            functions += ["SUM", "AVG", "MIN", "MAX", "VARIANCE"]
        case "a" | "b" | "h":
            functions += ["SUM", "AVG", "MIN", "MAX", "MEDIAN", "QUANTILE", "BETWEEN"]
            functions += ["SUM DISTINCT", "AVG DISTINCT"]
        case "d":
            functions += ["MIN", "MAX", "QUANTILE"]
        case _:  # a text
            functions += ["MIN", "MAX"]
    match random.choice([*functions, "*"]):
        case "*":
            return ("COUNT(*)",) * 2
        case "DISTINCT":
            return (f"COUNT(DISTINCT {column})",) * 2
        case "SUM DISTINCT" | "AVG DISTINCT" as asked:
            return (f"{asked[:3]}(DISTINCT {column})",) * 2
        case "VARIANCE":
            return draw_of_doubles(random, column, column)
        case "MEDIAN":
            return f"MEDIAN({column})", f"MEDIAN(CAST({column} AS DOUBLE))"
        case "BETWEEN":
            fraction = random.choice(["0", "0.25", "0.5", "0.875", "1"])  # which doubles have
            ordered = f"PERCENTILE_CONT({fraction}) WITHIN GROUP (ORDER BY {column})"
            ours = random.choice([ordered, f"QUANTILE_CONT({column}, {fraction})"])
            return ours, f"QUANTILE_CONT(CAST({column} AS DOUBLE), {fraction})"
        case "QUANTILE":
            fraction = random.choice(["0", "0.1", "0.25", "0.5", "0.9", "1"])
            ordered = f"PERCENTILE_DISC({fraction}) WITHIN GROUP (ORDER BY {column})"
            disc = f"QUANTILE_DISC({column}, {fraction})"
            return random.choice([f"QUANTILE({column}, {fraction})", ordered, disc]), disc
        case function:
            return (f"{function}({column})",) * 2


def make_data(random: Random) -> Tables:
    """Small tables with many NULLs."""
    share = random.choice([0.1, 0.4, 0.8])

    def cell(column: str) -> Any:
        if random.random() < share:
            return None
        match column:
            case "a":
                return random.randint(-3, 3)
            case "b":
                return Decimal(random.randint(-200, 200)) / 100
            case "g":
                return random.choice(["x", "y"])
            case "h":
                return random.randint(0, 2)
            case "f":  # of few bits, so that DuckDB's sums are exact, too
                return random.choice([1.0, -1.0]) * 2.0 ** random.randint(-12, 12)
            case _:
                return date(2000, 1, random.randint(1, 4))

    data: Tables = {}
    for name, held in (("s", "abghdf"), ("t", "abgh")):
        times = sorted(random.randrange(MARKERS) for _ in range(random.randint(0, 14)))
        data[name] = ([*held, "ts"], [(*map(cell, held), time) for time in times])
    rows = [(h, cell("a"), cell("g")) for h in random.sample(range(3), k=random.randint(0, 3))]
    data["r"] = (["h", "a", "g"], rows)
    return data


class Oracle:
    """DuckDB over prefixes."""

    def __init__(self, case: Case) -> None:
        self.base = open_database()
        self.names = tuple(case.data)
        for name, (columns, rows) in case.data.items():
            spec = ", ".join(f"{c} {_TYPES.get(c, 'TIMESTAMP')}" for c in columns)
            self.base.execute(f"CREATE TEMP TABLE all_{name} ({spec})")
            cells = (f"?::{_TYPES[c]}" if c in _TYPES else "make_timestamp(?)" for c in columns)
            insert_rows(self.base, f"all_{name}", ", ".join(cells), rows)

    def groups(self, query: Query, text: str, upto: int) -> dict[Any, Any]:
        for name in self.names:
            source = f"all_{name}" + ("" if name == "r" else f" WHERE ts <= make_timestamp({upto})")
            self.base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM {source}")
        if not self.base.execute(f"SELECT COUNT(*) FROM {query.rest}").fetchall()[0][0]:
            return {}
        names = [c[0] for c in query.columns]
        answers = [dict(zip(names, row, strict=True)) for row in self.base.execute(text).fetchall()]
        return split_groups(query, answers)


def split_groups(query: Query, rows: list[dict[str, Any]]) -> dict[Any, Any]:
    """The last row of every group."""
    grouped = [c[0] for c in query.columns if c[0].startswith("g")]
    values = [c[0] for c in query.columns if c[0].startswith("x")]
    return {tuple(row[g] for g in grouped): tuple(row[v] for v in values) for row in rows}


def same(found: dict[Any, Any], expected: dict[Any, Any]) -> bool:
    """Whether groups are equal, averages up to rounding."""
    if found.keys() != expected.keys():
        return False
    return all(
        a == b
        or (isinstance(a, float) and b is not None and isclose(a, b, rel_tol=1e-12, abs_tol=1e-15))
        for key, row in found.items()
        for a, b in zip(row, expected[key], strict=True)
    )


def upto(rows: list[dict[str, Any]], marker: int) -> list[dict[str, Any]]:
    return [row for row in rows if _micros(row["at"]) <= marker]


def _micros(moment: datetime) -> int:
    return (moment - EPOCH).microseconds


def run_live(
    case: Case, verdict: Verdict, random: Random, folder: Path, emit: Emit = Emit.ANSWERS
) -> tuple[Any, int]:
    """The rows of a live run whose state is read back after every other micro-batch, and the last
    finished marker."""
    job = make_job(case, verdict, emit)
    state = begin_live(job)
    rows = []
    streams = {h.stream.name for h in job.histories}
    with few_touched():
        for number, batch in enumerate(cut_arrivals(case, random, streams)):
            outcome = advance_live(job, state, batch, 0.0)
            place = commit_batch(folder, "fingerprint", CommitRecord("run"), outcome)
            known = load_state(place, "fingerprint", job)[0]
            state = known if number % 2 else outcome.state
            rows += outcome.answers[0].to_pylist()
    return rows, -1 if state.finished_us is None else state.finished_us


def check(seed: int) -> None:
    """One random query over random tables, replayed in one range and in several, and live."""
    random = Random(seed)
    event(str(compare(random, make_query(random), CATALOG, make_data(random)).tier))


def compare(random: Random, query: Query, catalog: Catalog, data: Tables) -> Verdict:
    """Assert that a query over some data, if it is bounded, is answered as DuckDB does."""
    union = parse_sql(query.text(1), catalog, name="q", file="q.sql")
    case = Case(catalog, union, data, MARKERS)
    verdict = check_query(union, catalog, disprove=False)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return verdict
    assert verdict.bound is not None
    oracle = Oracle(case)
    expected = [oracle.groups(query, query.text(2), m) for m in range(MARKERS)]
    printed = print_sql(union, case.catalog, dialect="duckdb", comments=False)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", union, verdict.plans, catalog, verdict.bound.rows, verdict.declarations, parts
        )
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(MARKERS):
            found = split_groups(query, upto(whole, marker))
            assert same(found, expected[marker]), (query.text(1), marker)
        if not re.search("MEDIAN|QUANTILE_CONT", printed):  # DuckDB rounds those of decimals
            assert same(expected[-1], oracle.groups(query, printed, MARKERS)), printed
        ranges = random.choice([2, 3, 5])
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=ranges)
        assert rows == whole, query.text(1)
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            found = split_groups(query, upto(live, marker))
            assert same(found, expected[marker]), (query.text(1), marker)
    return verdict


@budget(0.4)
@given(seed=SEEDS)
def test_aggregates_over_nulls_equal_duckdb(seed: int) -> None:
    check(seed)
