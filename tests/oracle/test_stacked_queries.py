"""Queries over the final groups of others: every answer, replayed and live, as DuckDB answers the
same text where only buckets that are over have groups."""

from collections import Counter
from dataclasses import dataclass, replace
from math import gcd
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.between.lift_comparisons import read_compared
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord
from ontoweir.runtime.live.checkpoint.save_state import commit_batch, load_state
from ontoweir.runtime.live.make_live_job import make_live_job
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.run_kernel import few_touched
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, Oracle, make_data, upto
from tests.runtime.in_process import EPOCH, replay_here, store
from tests.runtime.live_cases import cut_arrivals, make_table

HELD = {"s": "abgh", "t": "abgh", "r": "hag"}
NUMBERS = "abh"


@dataclass(frozen=True)
class Block:
    """An aggregate query by buckets: its text, what DuckDB reads, and the kinds of its columns: a
    letter, `time` (where a bucket begins or ends) or `number` (whole); `width`: of its buckets."""

    text: str
    duck: str
    columns: tuple[tuple[str, str], ...]
    width: int
    grid: int


def _interval(us: int) -> str:
    return f"INTERVAL '{us}' MICROSECOND"


def _floor(time: str, width: int) -> str:
    """Where the bucket of a time begins, also before 1970."""
    return f"floor(epoch_us(q.{time}) / {width})::BIGINT * {width}"


def make_block(
    random: Random,
    table: str,
    time: str,
    held: dict[str, str],
    late: int,
    step: int,
    grid: int = 0,
) -> Block:
    """Groups of a table by a bucket of its time; `held`: kinds of its columns; `late`: how long
    after its time a row is there; `step`: answers are final at whole steps; `grid`: rows are there
    at multiples of it only (0: at any step)."""
    width = random.randint(1, 4)
    slide = random.choice([None, None, random.randint(1, 3)])
    group = random.sample(sorted(held), k=min(len(held), random.choice([0, 1, 1, 2])))
    level = "v" if late else "u"
    shown = [(f"{level}g{n}", held[c], f"q.{c}") for n, c in enumerate(group)]
    calls: list[tuple[str, str, str]] = []
    for n in range(random.randint(1, 2)):
        column = random.choice(sorted(held))
        functions = ["COUNT(*)", "COUNT({})", "COUNT(DISTINCT {})", "MIN({})", "MAX({})"]
        if held[column] in ("a", "h"):
            functions.append("SUM({})")
        call = random.choice(functions if held[column] not in ("g", "time") else functions[:3])
        kind = held[column] if "M" in call[:3] and "S" not in call[:3] else "number"
        calls.append((f"{level}x{n}", kind, call.format(f"q.{column}")))
    if slide is None:
        ours = (
            f"TUMBLE_START(q.{time}, {_interval(width)})",
            f"TUMBLE_END(q.{time}, {_interval(width)})",
        )
        first = f"make_timestamp({_floor(time, width)})"
        lies = "TRUE"
        rows = f"{table} AS q"
    else:
        hop = f"q.{time}, {_interval(slide)}, {_interval(width)}"
        ours = (f"HOP_START({hop})", f"HOP_END({hop})")
        first = f"make_timestamp({_floor(time, slide)} - i * {slide})"
        lies = f"epoch_us({first}) + {width} > epoch_us(q.{time})"
        rows = f"{table} AS q, range({width // slide + 2}) AS n(i)"
    end = f"{first} + to_microseconds({width})"
    ends = f"epoch_us({first}) + {width}"
    after = late
    if grid > step and width % grid == 0 and (slide or 0) % grid == 0:
        after = (late - 1) // grid * grid  # the last row of a bucket is there then
    final = f"make_timestamp(ceil(({ends} + {after}) / {step})::BIGINT * {step})"
    where = ""
    if random.random() < 0.3:
        column = random.choice(sorted(held))
        where = f"q.{column} IS NOT NULL"
    having = f" HAVING COUNT(*) > {random.randint(0, 2)}" if random.random() < 0.2 else ""
    both = random.random() < 0.5 or slide is not None
    listed = [(ours[0], first, "b", "time")] + ([(ours[1], end, "e", "time")] if both else [])
    listed += [(t, t, n, k) for n, k, t in shown] + [(t, t, n, k) for n, k, t in calls]
    grouped = [ours[0], *([ours[1]] if both else []), *(t for _, _, t in shown)]
    text = (
        f"SELECT {', '.join(f'{o} AS {n}' for o, _, n, _ in listed)} FROM {table} AS q"
        f"{f' WHERE {where}' if where else ''} GROUP BY {', '.join(grouped)}{having}"
    )
    conditions = " AND ".join([lies, where] if where else [lies])
    keys = [first, *(t for _, _, t in shown)]
    inner = (
        f"SELECT {', '.join(f'{d} AS {n}' for _, d, n, _ in listed)}, {final} AS final FROM {rows} "
        f"WHERE {conditions} GROUP BY {', '.join(keys)}{having}"
    )
    duck = f"SELECT * EXCLUDE (final) FROM ({inner}) WHERE final <= (SELECT MAX(now) FROM clock)"
    return Block(text, duck, tuple((n, k) for _, _, n, k in listed), width, slide or width)


@dataclass(frozen=True)
class Stacked:
    """A query: what we read and what DuckDB reads, its columns, and when an answer is final, for
    DuckDB (None: when it is found)."""

    ours: str
    duck: str
    names: tuple[str, ...]


def make_stacked(random: Random, unit: int) -> Stacked:
    """A query over groups, alone, with itself, or with a stream; `unit`: of the times of `t`."""
    base = random.choice("st")
    other = random.choice(["none", "none", "self", "self", "stream"])
    step = unit if base == "t" else 1
    block = make_block(random, base, "ts", {c: c for c in HELD[base]}, 0, step)
    if random.random() < 0.25 and block.width % step == 0:  # twice
        held = {n: k for n, k in block.columns if k not in ("time",)}
        grid = gcd(block.grid, block.width)
        outer = make_block(random, "w0", "b", held or {"b": "time"}, block.width, step, grid)
        block = Block(
            f"WITH w0 AS ({block.text}) {outer.text}",
            f"WITH w0 AS ({block.duck}) {outer.duck}",
            outer.columns,
            outer.width,
            outer.grid,
        )
    kinds = dict(block.columns)
    if random.random() < 0.25:
        return make_windows(random, block)
    tables = ["w AS x"]
    conditions = []
    shown = [f"x.{n}" for n in kinds]
    if other == "self":
        tables.append("w AS y")
        shown += [f"y.{n}" for n in kinds]
        gap = random.randint(0, 4)
        op = random.choice(["=", "=", "<", ">="])
        conditions.append(f"y.b {op} x.b + {_interval(gap)}")
        if op != "=":
            conditions.append(f"y.b <= x.b + {_interval(gap + 3)}")
            conditions.append(f"y.b >= x.b - {_interval(3)}")
        ties = [n for n, k in kinds.items() if k != "time"]
        if ties and random.random() < 0.7:
            tie = random.choice(ties)
            op = random.choice(["=", "=", "<>"] + (["<"] if kinds[tie] != "g" else []))
            conditions.append(f"x.{tie} {op} y.{tie}")
    elif other == "stream":
        tables.append("t AS y")
        shown += [f"y.{c}" for c in HELD["t"]]
        conditions.append(f"y.ts >= x.b - {_interval(random.randint(0, 2))}")
        conditions.append(f"y.ts <= x.b + {_interval(random.randint(0, 5))}")
        for column in HELD["t"]:
            of = [n for n, k in kinds.items() if k == column]
            if of and random.random() < 0.6:
                conditions.append(f"y.{column} = x.{random.choice(of)}")
    numbers = [n for n, k in kinds.items() if k == "number" or k in NUMBERS]
    if numbers and random.random() < 0.5:
        conditions.append(f"x.{random.choice(numbers)} > {random.randint(-1, 2)}")
    chosen = random.sample(shown, k=random.randint(1, min(4, len(shown))))
    names = tuple(f"c{i}" for i in range(len(chosen)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(chosen, names, strict=True))
    distinct = "DISTINCT " if random.random() < 0.2 else ""
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    body = f"SELECT {distinct}{listed} FROM {', '.join(tables)}{where}"
    return Stacked(f"WITH w AS ({block.text}) {body}", f"WITH w AS ({block.duck}) {body}", names)


def make_windows(random: Random, block: Block) -> Stacked:
    """Functions over windows of groups: those of one key, in the order of their buckets."""
    kinds = dict(block.columns)
    keys = [n for n in kinds if n[1:2] == "g"]
    by = f"(PARTITION BY {', '.join(keys)} ORDER BY b" if keys else "(ORDER BY b"
    numbers = [n for n, k in kinds.items() if k == "number" or k in NUMBERS] or ["1"]
    windows = []
    for _ in range(random.randint(1, 2)):
        n = random.choice(numbers)
        windows += [
            f"{n} - LAG({n}, {random.randint(1, 2)}) OVER {by})",
            f"SUM({n}) OVER {by})",
            f"MAX({n}) OVER {by} ROWS {random.randint(0, 2)} PRECEDING)",
            f"COUNT(*) OVER {by} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
            f"ROW_NUMBER() OVER {by})",
        ]
    chosen = [f"COALESCE({w}, -99)" for w in random.sample(windows, k=random.randint(1, 3))]
    after = random.random() < 0.3
    if after:
        chosen.append(f"COALESCE(LEAD({random.choice(numbers)}) OVER {by}), -99)")
    shown = [*random.sample(sorted(kinds), k=min(len(kinds), random.randint(0, 2))), *chosen]
    names = tuple(f"c{i}" for i in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    where = " AND ".join(f"{k} IS NOT NULL" for k in keys)
    body = f"SELECT {listed} FROM w{f' WHERE {where}' if where else ''}"
    last = f" QUALIFY LEAD(b) OVER {by}) IS NOT NULL" if after else ""
    return Stacked(
        f"WITH w AS ({block.text}) {body}", f"WITH w AS ({block.duck}) {body}{last}", names
    )


class Prefixes(Oracle):
    """DuckDB over prefixes, where `clock` says what is over."""

    def rows(self, query: Stacked, marker: int) -> Counter[Any]:
        for name in self.names:
            source = f"all_{name}" + (
                "" if name == "r" else f" WHERE ts <= make_timestamp({marker})"
            )
            self.base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM {source}")
        clock = f"SELECT make_timestamp({marker}) AS now"
        self.base.execute(f"CREATE OR REPLACE TEMP VIEW clock AS {clock}")
        known = " AND ".join(f"{n} IS NOT NULL" for n in query.names) or "TRUE"
        return Counter(
            tuple(map(_plain, row))
            for row in self.base.execute(
                f"SELECT * FROM ({query.duck}) AS whole WHERE {known}"
            ).fetchall()
        )


def _plain(cell: Any) -> Any:
    return cell.replace(tzinfo=None) if hasattr(cell, "tzinfo") else cell


def count(rows: list[dict[str, Any]], names: tuple[str, ...]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        found[tuple(_plain(row[n]) for n in names)] += row.get("multiplicity", 1)
    return found


def make_job(verdict: Verdict, union: SpjUnion, catalog: Catalog) -> QueryJob:
    union = read_compared(union, verdict.union.blocks)
    return replace(plan_job(verdict, catalog), union=union)


def run_live(
    case: Case, verdict: Verdict, random: Random, folder: Path
) -> tuple[list[dict[str, Any]], int]:
    """As test_sql_nulls has it: the state is read back after every other micro-batch."""
    statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
    query = make_job(verdict, case.query, case.catalog)
    job = make_live_job([query], case.catalog, statics, {})
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
    random = Random(seed)
    unit = random.choice([1, 1, 2])
    query = make_stacked(random, unit)
    data: Tables = make_data(random)
    columns, rows = data["t"]
    data["t"] = columns, [row for row in rows if row[-1] % unit == 0]
    streams = {**CATALOG.streams, "t": replace(CATALOG.streams["t"], step_us=unit)}
    whole_catalog = replace(CATALOG, streams=streams)
    try:
        union = parse_sql(query.ours, whole_catalog, name="q", file="q.sql")
    except QueryError:
        # where a bucket that ends between two steps begins is a value like any
        assert unit == 2
        event("refused")
        return
    verdict = check_query(union, whole_catalog)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(whole_catalog, union, data, MARKERS)
    oracle = Prefixes(case)
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    read = tables_of(union)
    last = max((row[-1] for n in ("s", "t") if n in read for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(last + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        assert all(_micros(row["at"]) <= last for row in whole)
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (query.ours, marker)


def _micros(moment: Any) -> int:
    return int((moment.replace(tzinfo=None) - EPOCH).total_seconds() * 1_000_000 + 0.5)


@budget(0.15)
@given(seed=SEEDS)
def test_queries_over_final_groups_equal_duckdb(seed: int) -> None:
    check(seed)
