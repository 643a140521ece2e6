"""Sessions of rows, replayed, live and in ranges, against a plain evaluation at every marker; in
SQL as Spark and Flink write them."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import run_live
from tests.runtime.in_process import EPOCH, replay_here, store

MARKERS = 20
NOTHING = DataSource("parquet", "none")
KIND = Column("kind", IntType(), 0, 2, nullable=True)
COLUMNS = (Column("k", StringType(), nullable=True), KIND, Column("cost", IntType()))
PAGE = Stream("page", NOTHING, "ts", 1, 3, COLUMNS)
HIT = Stream("hit", NOTHING, "ts", 1, 3, COLUMNS)
SITE = Relation("site", NOTHING, (Column("kind", IntType()), Column("place", StringType())))
CATALOG = Catalog({"page": PAGE, "hit": HIT}, {"site": SITE})
PLACES = ((0, "x"), (1, "y"), (1, "z"))
AGGREGATES = {
    "n": "COUNT(*)",
    "s": "SUM(p.cost)",
    "m": "MAX(p.cost)",
    "d": "COUNT(DISTINCT p.kind)",
}
Row = tuple[Any, ...]


@dataclass(frozen=True)
class SessionCase:
    """Rows of page and hit (k, kind, cost, ts), and what is asked of their sessions: `keys`, with
    `joins` also the place; of costs of at least `where`; `both`: of the rows of two streams."""

    rows: dict[str, list[Row]]
    keys: tuple[str, ...]
    joins: bool
    both: bool
    gap: int
    where: int
    shown: tuple[str, ...]
    most: int | None

    def sql(self, style: str) -> str:
        """The query in one of several styles: spark, named, group or table."""
        keys = [f"site.{k}" if k == "place" else f"p.{k}" for k in self.keys]
        gap = f"INTERVAL '{self.gap}' MICROSECOND"
        source = "page AS p"
        if self.both:
            source = "(SELECT k, kind, cost, ts FROM page UNION ALL SELECT k, kind, cost, ts "
            source += "FROM hit) AS p"
        call = f"session_window(p.ts, {gap})"
        start, end, group = "session_window.start AS b", "session_window.end AS e", call
        if style == "named":
            start, end, group = f"{call} AS w", "w.end AS e", "w"
        elif style == "group":
            group = f"SESSION(p.ts, {gap})"
            start, end = (f"SESSION_{part}(p.ts, {gap}) AS {part[0]}e" for part in ("START", "END"))
        elif style == "table":
            keyed = f"PARTITION BY {', '.join(self.keys)}" if self.keys else ""
            source = f"TABLE(SESSION(TABLE page {keyed}, DESCRIPTOR(ts), {gap})) AS p"
            start, end, group = "window_start AS b", "window_end AS e", "window_start, window_end"
        if self.joins:
            source += " JOIN site ON site.kind = p.kind"
        shown = ", ".join([*keys, start, end, *(f"{AGGREGATES[n]} AS {n}" for n in self.shown)])
        having = "" if self.most is None else f" HAVING COUNT(*) <= {self.most}"
        where = "" if style == "table" else f" WHERE p.cost >= {self.where}"
        return f"SELECT {shown} FROM {source}{where} GROUP BY " + (
            ", ".join([*keys, group]) + having
        )

    def evaluate(self, marker: int) -> Counter[Row]:
        """The sessions that are over at a marker: the definition, row by row."""
        runs: dict[Row, list[list[Row]]] = defaultdict(list)
        rows = [*self.rows["page"], *(self.rows["hit"] if self.both else ())]
        for k, kind, cost, ts in sorted(rows, key=lambda r: r[3]):
            if cost < self.where or ts > marker:
                continue
            places = [p for of, p in PLACES if of == kind] if self.joins else [None]
            for place in places:
                held = runs[tuple({"k": k, "kind": kind, "place": place}[n] for n in self.keys)]
                if not held or ts - held[-1][-1][3] > self.gap:
                    held.append([])
                held[-1].append((k, kind, cost, ts))
        found: Counter[Row] = Counter()
        for key, of_key in runs.items():
            for run in of_key:
                end = run[-1][3] + self.gap
                if end <= marker and (self.most is None or len(run) <= self.most):
                    values = {
                        "n": len(run),
                        "s": sum(r[2] for r in run),
                        "m": max(r[2] for r in run),
                        "d": len({r[1] for r in run} - {None}),
                    }
                    found[(*key, run[0][3], end, *(values[n] for n in self.shown), end)] += 1
        return found


def make_case(random: Random) -> SessionCase:
    """A random case."""
    share, names = random.choice([0.2, 0.5, 0.9]), random.choice(["ab", "abcd"])
    rows: dict[str, list[Row]] = {"page": [], "hit": []}
    for held in rows.values():
        for ts in range(random.randint(1, MARKERS)):
            for _ in range(3):
                if random.random() < share / 2:
                    kind = random.choice([0, 1, 2, None])
                    held.append((random.choice([*names, None]), kind, random.randint(-3, 3), ts))
    joins = random.random() < 0.3
    keys = random.choice([("k",), ("k",), ("k", "kind"), (), ("kind",)])
    return SessionCase(
        rows,
        (*keys, "place") if joins and random.random() < 0.5 else keys,
        joins,
        not joins and random.random() < 0.3,
        random.choice([1, 1, 2, 4]),
        random.choice([-3, -3, 0]),
        tuple(random.sample(sorted(AGGREGATES), k=random.randint(1, 4))),
        random.choice([None, None, 1, 3]),
    )


def show(case: SessionCase, rows: list[dict[str, Any]]) -> list[Row]:
    """Rows of answers, with times as markers."""

    def plain(value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        return (value.replace(tzinfo=None) - EPOCH.replace(tzinfo=None)).microseconds

    return [
        tuple(plain(v) for name, v in row.items() if name not in ("w_end", "multiplicity"))
        for row in rows
    ]


def compare(random: Random, case: SessionCase) -> None:
    """Assert that a case is bounded, its state within the bound, and answered as evaluated."""
    styles = ["spark", "group", *([] if case.both else ["named"])]
    if not (case.both or case.joins or case.where > -3):  # a table of sessions has no WHERE
        styles.append("table")
    sql = case.sql(random.choice(styles))
    union = parse_sql(sql, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    assert verdict.tier in (Tier.WINDOW_BOUNDED, Tier.CONDITIONALLY_BOUNDED), sql
    assert verdict.plans is not None
    assert verdict.bound is not None
    data = {n: (["k", "kind", "cost", "ts"], rows) for n, rows in case.rows.items()}
    data["site"] = (["kind", "place"], list(PLACES))
    text = {f"{t}.k": "VARCHAR" for t in case.rows} | {"site.place": "VARCHAR"}
    whole = Case(CATALOG, union, data, MARKERS, text)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        live, done = run_live(whole, verdict, random, Path(folder))
        for marker in range(done + 1):
            told = [row for row in show(case, live) if row[-1] <= marker]
            assert Counter(told) == case.evaluate(marker), (sql, marker)
        stored, statics = store(whole, random, Path(folder))
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob(
            "q", union, verdict.plans, stored, verdict.bound.rows, verdict.declarations, parts
        )
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1}
        options |= {"ranges": random.choice([1, 3]), "rows_per_chunk": random.choice([1, 2, 5, 99])}
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options)
    read = [*case.rows["page"], *(case.rows["hit"] if case.both else ())]
    end = max((row[-1] for row in read), default=-1)
    assert Counter(show(case, rows)) == case.evaluate(end), sql
    event(f"answers: {len(rows) > 0}")


@given(SEEDS)
@budget(0.4)
def test_sessions_end_when_no_row_came_for_the_gap(seed: int) -> None:
    random = Random(seed)
    compare(random, make_case(random))
