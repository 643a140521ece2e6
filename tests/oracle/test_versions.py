"""Rows with the version of their own time, inner, LEFT, beside windows, absence and aggregates:
every answer, replayed and live, as DuckDB's ASOF JOIN has it over every prefix."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.witness import WitnessRow
from ontoweir.errors import QueryError
from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    BooleanType,
    Catalog,
    Column,
    IntType,
    Stream,
    VersionsOf,
)
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_absence import Finals
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, count, make_job, run_live
from tests.runtime.in_process import replay_here, store

HELD = "abgh"
VALUES = {"a": ["-1", "0", "2"], "b": ["-1", "0.5"], "g": ["'x'", "'y'"], "h": ["0", "1", "2"]}


@dataclass(frozen=True)
class World:
    """A catalog with the relation `p` of the versions `t`, and what DuckDB reads as `p` at the time
    of a row: `key`, and which versions count."""

    catalog: Catalog
    key: tuple[str, ...]


def make_world(random: Random, units: tuple[int, int] = (1, 1)) -> World:
    """Versions by one or two columns, with or without an order and deletes; `units`: of the times
    of rows, and of versions."""
    key = tuple(random.sample("hga", k=random.choice([1, 1, 1, 2])))
    whole = random.random() < 0.3
    delete = None if whole else random.choice([None, "gone"])
    order = None if whole else random.choice([None, "seq"])
    apart = (*key, "ts") if order is None else (*key, "ts", "seq")
    more = (Column("gone", BooleanType()), Column("seq", IntType()))
    base = CATALOG.streams["t"]
    updates = replace(base, columns=(*base.columns, *more), keys=(apart,), step_us=units[1])
    shown = tuple(c for c in updates.columns if c.name != delete)
    versions = VersionsOf("t", key, delete, order, whole=whole)
    keys = ((*key, AS_OF),)
    relation = Stream("p", ANSWERS, AS_OF, units[1], None, shown, keys, versions=versions)
    rows = replace(CATALOG.streams["s"], step_us=units[0])
    streams = {**CATALOG.streams, "s": rows, "t": updates, "p": relation}
    return World(replace(CATALOG, streams=streams), key)


def make_rows(random: Random, world: World) -> Tables:
    """Data in which of several versions of a key at one time one is the last: few keys, which many
    rows ask for, often at times of versions."""
    data: Tables = make_data(random)
    few: dict[str, list[Any]] = {"h": [0, 1, None], "g": ["x", "y", None], "a": [-1, 0, None]}
    for name, most in (("s", 12), ("t", 16)):
        columns, rows = data[name]
        rows = [row for row in rows * 3 if random.random() < 0.7][:most]
        made = []
        for row in rows:
            cells = dict(zip(columns, row, strict=True))
            for column in world.key:
                cells[column] = random.choices(few[column], [6, 6, 1])[0]
            step = world.catalog.streams[name].step_us
            cells["ts"] = random.randrange(MARKERS) // step * step
            made.append(tuple(cells[c] for c in columns))
        data[name] = columns, sorted(made, key=lambda row: row[-1])
    columns, rows = data["t"]
    places = [columns.index(c) for c in world.key]
    seen, kept = set(), []
    versions = world.catalog.streams["p"].versions
    assert versions is not None
    for number, row in enumerate(random.sample(rows, k=len(rows))):
        gone, seq = random.choice([True, False, False, None]), number * 37 % 101
        at = (*(row[i] for i in places), row[-1], None if versions.order is None else seq)
        if at in seen and None not in at[: len(places)]:
            continue
        seen.add(at)
        kept.append((*row[:-1], gone, seq, row[-1]))
    kept.sort(key=lambda row: row[-1])
    data["t"] = [*columns[:-1], "gone", "seq", columns[-1]], kept
    return data


def _versions(world: World) -> str:
    """The versions with the time when the next one of their key begins."""
    of = world.catalog.streams["p"].versions
    assert of is not None
    order = "ts" if of.order is None else "ts, seq"
    known = " AND ".join(f"{c} IS NOT NULL" for c in world.key)
    until = f"LEAD(ts) OVER (PARTITION BY {', '.join(world.key)} ORDER BY {order})"
    if of.whole:
        until = "(SELECT MIN(u.ts) FROM t AS u WHERE u.ts > t.ts)"
    every = f"SELECT *, {until} AS until FROM t WHERE {known}"
    gone = "" if of.delete is None else " WHERE gone IS NOT TRUE"
    return f"SELECT * FROM ({every}) AS every{gone}"


def make_query(random: Random, world: World) -> tuple[Stacked, frozenset[str]]:
    """A query over rows with their versions, and the columns that may be NULL in its answers."""
    ours, duck = ["s AS x"], ["s AS x"]
    conditions, duck_conditions = [], []
    shown = [f"x.{c}" for c in HELD]
    optional: list[str] = []
    computed: list[str] = []
    hosts = ["x"]
    if random.random() < 0.3:
        hosts.append("y")
        gap = random.choice([0, 1, 3])
        conditions.append(f"y.ts >= x.ts AND y.ts <= x.ts + INTERVAL '{gap}' MICROSECOND")
        conditions += [random.choice(["x.h = y.h", "x.g = y.g", "x.a <= y.a", "TRUE"])]
        conditions = [c for c in conditions if c != "TRUE"]
        ours.append("s AS y")
        duck.append("s AS y")
        shown += [f"y.{c}" for c in HELD]
    duck_conditions += conditions
    joins, duck_joins = "", ""
    for number in range(random.choice([1, 1, 1, 2])):
        host, alias = random.choice(hosts), f"p{number}"
        other = random.choice(hosts)
        equal = []
        for column in world.key:
            constant = random.random() < 0.1
            equal.append(
                f"{alias}.{column} = "
                + (random.choice(VALUES[column]) if constant else f"{host}.{column}")
            )
        if random.random() < 0.3:
            op = random.choice(["=", "<", ">=", "<>"])
            column = random.choice("abh")
            equal.append(f"{alias}.{column} {op} {other}.{column}")
        as_of = f"p FOR SYSTEM_TIME AS OF {host}.ts AS {alias}"
        met = f"{alias}.ts <= {host}.ts AND ({alias}.until > {host}.ts OR {alias}.until IS NULL)"
        on = " AND ".join(equal)
        kind = random.choice(["JOIN", "JOIN", "LEFT JOIN", "NOT EXISTS"])
        if kind == "NOT EXISTS":
            conditions.append(f"NOT EXISTS (SELECT 1 FROM {as_of} WHERE {on})")
            duck_conditions.append(f"NOT EXISTS (SELECT 1 FROM v AS {alias} WHERE {on} AND {met})")
            continue
        if kind == "JOIN":
            made = [f"{host}.a + {alias}.a", f"{host}.h * 2 - {alias}.h", f"{alias}.b * {host}.a"]
            computed += random.sample(made, k=random.choice([0, 0, 1, 2]))
            if random.random() < 0.1:
                both = f"{host}.a + {alias}.h > {random.randint(-2, 3)}"
                conditions.append(both)
                duck_conditions.append(both)
        joins += f" {kind} {as_of} ON {on}"
        duck_joins += f" {kind} v AS {alias} ON {on} AND {met}"
        shown += [f"{alias}.{c}" for c in HELD]
        if kind == "LEFT JOIN":
            optional += [f"{alias}.{c}" for c in HELD]
    if random.random() < 0.2:
        local = random.choice(["x.a > -2", "x.h IN (0, 1)", "x.g = 'x'"])
        conditions.append(local)
        duck_conditions.append(local)
    chosen = [*random.sample(shown, k=random.randint(1, 4)), *computed]
    names = tuple(f"c{i}" for i in range(len(chosen)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(chosen, names, strict=True))
    distinct = "DISTINCT " if random.random() < 0.2 else ""

    def text(tables: list[str], joined: str, every: list[str]) -> str:
        where = f" WHERE {' AND '.join(every)}" if every else ""
        return f"SELECT {distinct}{listed} FROM {' CROSS JOIN '.join(tables)}{joined}{where}"

    nulls = frozenset(n for n, c in zip(names, chosen, strict=True) if c in optional)
    with_versions = f"WITH v AS ({_versions(world)}) "
    told = Stacked(
        text(ours, joins, conditions),
        with_versions + text(duck, duck_joins, duck_conditions),
        names,
    )
    return told, nulls


def check(seed: int) -> None:
    random = Random(seed)
    world = make_world(random, random.choice([(1, 1), (1, 1), (2, 1), (1, 2), (2, 3)]))
    query, nulls = make_query(random, world)
    data = make_rows(random, world)
    try:
        union = parse_sql(query.ours, world.catalog, name="q", file="q.sql")
    except QueryError as error:
        if "step" not in str(error):
            raise
        event("refused")  # a length that is no whole number of steps
        return
    verdict = check_query(union, world.catalog)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(world.catalog, union, data, MARKERS)
    oracle = Finals(case)
    oracle.nulls = nulls
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    read = tables_of(union)
    last = max((row[-1] for n in ("s", "t") if n in read for row in data[n][1]), default=-1)
    printed = print_sql(union, world.catalog, dialect="duckdb", comments=False)
    if not any(block.absence for block in union.blocks):
        told = oracle.rows(replace(query, duck=printed), MARKERS)
        assert told == oracle.rows(query, MARKERS), printed
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(last + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (query.ours, marker)


@budget(0.15)
@given(seed=SEEDS)
def test_rows_meet_the_version_of_their_time(seed: int) -> None:
    check(seed)


MET = "SELECT {0} FROM s AS x JOIN p FOR SYSTEM_TIME AS OF x.ts AS p0 ON p0.a = x.a"


@pytest.mark.parametrize(
    "query",
    [
        MET,
        MET.replace("SELECT", "SELECT DISTINCT"),
        f"{MET} JOIN s AS y ON y.h = x.h AND y.ts > x.ts",
    ],
)
@pytest.mark.parametrize("shown", ["x.h", "p0.h, x.h"])
def test_a_counterexample_tells_all_versions_apart(query: str, shown: str) -> None:
    """What every suffix adds to the answers is another list for each subset of the versions."""
    rows = replace(CATALOG.streams["s"], columns=_unlimited(CATALOG.streams["s"].columns))
    base = CATALOG.streams["t"]
    more = (Column("gone", BooleanType()), Column("seq", IntType()))
    columns = (*_unlimited(base.columns), *more)
    updates = replace(base, columns=columns, keys=(("a", "ts"),))
    versions = VersionsOf("t", ("a",), "gone")
    known = (*columns[:-2], columns[-1])
    relation = Stream("p", ANSWERS, AS_OF, 1, None, known, (("a", AS_OF),), versions=versions)
    catalog = replace(CATALOG, streams={"s": rows, "t": updates, "p": relation})
    text = query.format(shown)
    union = parse_sql(text, catalog, name="q", file="q.sql")
    witness = check_query(union, catalog).witness
    assert witness is not None
    of = f"WITH v AS ({_versions(World(catalog, ('a',)))}) "
    met = "p0.ts <= x.ts AND (p0.until > x.ts OR p0.until IS NULL) AND p0.a = x.a"
    duck = of + text.replace(
        "p FOR SYSTEM_TIME AS OF x.ts AS p0 ON p0.a = x.a", f"v AS p0 ON {met}"
    )

    def ask(given: list[WitnessRow]) -> Counter[Any]:
        data: Tables = {"r": (["h", "a", "g"], [])}
        for name in ("s", "t"):
            names = [c.name for c in catalog.streams[name].columns]
            mine = [r for r in given if r.table == name]
            cells = [(*(dict(r.values).get(n) for n in names), r.step) for r in mine]
            data[name] = [*names, "ts"], cells
        found = Finals(Case(catalog, union, data, 1000))
        return found.rows(Stacked(text, duck, ()), 1000)

    told = set()
    for chosen in product((False, True), repeat=witness.size):
        before = [*witness.fixed]
        before += [r for r, there in zip(witness.optional, chosen, strict=True) if there]
        answers = ask(before)
        told.add(
            tuple(str(sorted((ask([*before, *s]) - answers).items())) for s in witness.suffixes)
        )
    assert len(told) == 2**witness.size


def _unlimited(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(replace(c, minimum=None, maximum=None) if c.name == "a" else c for c in columns)
