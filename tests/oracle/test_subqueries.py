"""Nested SQL: random subqueries, WITH, views and UNION ALL, replayed and live, as DuckDB answers
the same text over the prefix."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, QueryView
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import (
    CATALOG,
    MARKERS,
    Oracle,
    Query,
    compare,
    make_data,
    run_live,
    upto,
)
from tests.runtime.in_process import replay_here, store

HELD = {"s": "abgh", "t": "abgh", "r": "hag"}
_TIME = "ts"


@dataclass(frozen=True)
class Block:
    """A SELECT, or several under UNION ALL: its text, and the kind of each column that it shows (a
    letter, or `ts`)."""

    text: str
    columns: tuple[tuple[str, str], ...]


@dataclass
class Maker:
    """Makes blocks; what is written before the query by WITH, and the views."""

    random: Random
    named: dict[str, str]
    views: dict[str, str]
    count: int = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def block(self, depth: int, streams: int) -> Block:
        """A block over so many streams at most."""
        if depth > 0 and self.random.random() < 0.2:
            left = self.select(depth - 1, streams)
            right = self.select(depth - 1, streams, tuple(k for _, k in left.columns))
            return Block(f"{left.text} UNION ALL {right.text}", left.columns)
        return self.select(depth, streams)

    def select(self, depth: int, streams: int, kinds: tuple[str, ...] | None = None) -> Block:
        """A SELECT; `kinds`: of its columns, else any."""
        several = streams > 1 and self.random.random() < 0.4
        items = [self.item(depth, 1 if several else streams)]
        if several:
            items.append(self.item(depth, 1))
        if self.random.random() < 0.15:
            items.append((f"r AS {self.name('x')}", tuple((c, c) for c in HELD["r"])))
        aliases = [text.rpartition(" AS ")[2].partition("(")[0] for text, _ in items]
        held = [
            (f"{alias}.{name}", kind)
            for alias, (_, columns) in zip(aliases, items, strict=True)
            for name, kind in columns
        ]
        where = self.conditions(held, aliases)
        shown: list[tuple[str, str, str]] = []
        chosen = self.random.sample(held, k=self.random.randint(1, min(4, len(held))))
        times = [h for h in held if h[1] == _TIME and h not in chosen]
        if kinds is None:
            for text, kind in [*chosen, *times[: self.random.choice([0, 1, 1, 1])]]:
                own = text.split(".")[1]
                free = own not in [name for _, name, _ in shown] and self.random.random() < 0.3
                shown.append((text, own if free else self.name("c"), kind))
        else:
            for kind in kinds:
                of = [t for t, k in held if k == kind]
                if not of:
                    return self.select(0, 1, kinds)
                shown.append((self.random.choice(of), self.name("c"), kind))
        columns = tuple((name, kind) for _, name, kind in shown)
        listed = ", ".join(f"{text} AS {name}" for text, name, _ in shown)
        if kinds is None:
            listed = ", ".join(
                f"{self.compute(text, kind)} AS {name}" for text, name, kind in shown
            )
        tables = ", ".join(text for text, _ in items)
        return Block(f"SELECT {listed} FROM {tables}{where}", columns)

    def compute(self, text: str, kind: str) -> str:
        if kind == "h" and self.random.random() < 0.2:
            return f"{text} + 1"
        return text

    def item(self, depth: int, streams: int) -> tuple[str, tuple[tuple[str, str], ...]]:
        """An item of FROM with an alias, and its columns."""
        alias = self.name("x")
        if depth == 0 or self.random.random() < 0.25:
            table = self.random.choice("st")
            return f"{table} AS {alias}", (*((c, c) for c in HELD[table]), (_TIME, _TIME))
        inner = self.block(depth - 1, streams)
        match self.random.randrange(4):
            case 0:
                name = self.name("w")
                self.named[name] = inner.text
                return f"{name} AS {alias}", inner.columns
            case 1 if not self.named:  # a view does not see what WITH names
                name = self.name("v")
                self.views[name] = inner.text
                return f"{name} AS {alias}", inner.columns
            case 2:
                names = tuple(self.name("n") for _ in inner.columns)
                columns = tuple(
                    (n, kind) for n, (_, kind) in zip(names, inner.columns, strict=True)
                )
                return f"({inner.text}) AS {alias}({', '.join(names)})", columns
            case _:
                return f"({inner.text}) AS {alias}", inner.columns

    def conditions(self, held: list[tuple[str, str]], aliases: list[str]) -> str:
        """A condition that ties several items, and one of a value."""
        made = []
        for alias in aliases[1:]:
            for kind in self.random.sample([_TIME, "h", "a", "g"], k=4):
                left = [t for t, k in held if k == kind and not t.startswith(f"{alias}.")]
                right = [t for t, k in held if k == kind and t.startswith(f"{alias}.")]
                if not left or not right:
                    continue
                ops = ["<", "<=", ">="] if kind == _TIME else ["=", "="] if kind == "g" else "=<"
                made.append(
                    f"{self.random.choice(left)} {self.random.choice(ops)} "
                    f"{self.random.choice(right)}"
                )
                if self.random.random() < 0.6:
                    break
        if self.random.random() < 0.5:
            text, kind = self.random.choice(held)
            match kind:
                case "g":
                    made.append(self.random.choice([f"{text} = 'x'", f"{text} IS NOT NULL"]))
                case "ts":
                    pass
                case _:
                    n = self.random.randint(-2, 2)
                    made.append(
                        self.random.choice(
                            [f"{text} > {n}", f"{text} <> {n}", f"({text} > {n} OR {text} < {n})"]
                        )
                    )
        return f" WHERE {' AND '.join(made)}" if made else ""


def make_nested(random: Random) -> tuple[Maker, Block]:
    """A random nested query without aggregates."""
    maker = Maker(random, {}, {})
    while True:
        block = maker.block(random.choice([1, 2, 2, 3]), random.choice([1, 2, 2]))
        shown = [(name, kind) for name, kind in block.columns if kind != _TIME]
        if shown and len(block.text) < 1500:
            return maker, replace(block, columns=tuple(shown))
        maker.named.clear()
        maker.views.clear()


def _prepare(maker: Maker, oracle: Oracle) -> None:
    for name, text in maker.views.items():
        oracle.base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {text}")


def write_with(maker: Maker) -> str:
    named = ", ".join(f"{name} AS ({text})" for name, text in maker.named.items())
    return f"WITH {named} " if named else ""


def catalog_of(maker: Maker) -> Catalog:
    place = Source("ontoweir.toml", 1)
    return replace(CATALOG, views={n: QueryView(n, t, place) for n, t in maker.views.items()})


class Rows(Oracle):
    """DuckDB over prefixes, with views."""

    def __init__(self, case: Case, maker: Maker) -> None:
        super().__init__(case)
        self.maker = maker

    def set_prefix(self, marker: int) -> None:
        for name in self.names:
            source = f"all_{name}" + (
                "" if name == "r" else f" WHERE ts <= make_timestamp({marker})"
            )
            self.base.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM {source}")

    def rows(self, text: str, marker: int) -> Counter[Any]:
        self.set_prefix(marker)
        _prepare(self.maker, self)
        return Counter(self.base.execute(text).fetchall())

    def groups(self, query: Query, text: str, upto: int) -> dict[Any, Any]:
        self.set_prefix(upto)
        _prepare(self.maker, self)
        return super().groups(query, text, upto)


def check_rows(seed: int) -> None:
    """A random nested query: the rows of every prefix."""
    random = Random(seed)
    maker, block = make_nested(random)
    distinct = random.random() < 0.3
    names = [name for name, _ in block.columns]
    data = make_data(random)
    inner = f"SELECT {'DISTINCT ' if distinct else ''}{', '.join(names)} FROM ({block.text}) AS q"
    text = write_with(maker) + inner
    catalog = catalog_of(maker)
    union = parse_sql(text, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    event(str(verdict.tier))
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(catalog, union, data, MARKERS)
    oracle = Rows(case, maker)
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    asked = f"{write_with(maker)}SELECT * FROM ({inner}) AS whole WHERE {known}"
    expected = [oracle.rows(asked, m) for m in range(MARKERS)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = QueryJob("q", union, verdict.plans, stored, verdict.bound.rows, verdict.declarations)
        options = {"statics": statics, "rows_per_range": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(MARKERS):
            assert count_rows(upto(whole, marker), names) == expected[marker], (text, marker)
        rows, _ = replay_here(patch, job, Path(folder, "n.parquet"), **options, ranges=3)
        assert count_rows(rows, names) == expected[-1], text
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count_rows(upto(live, marker), names) == expected[marker], (text, marker)


def count_rows(rows: list[dict[str, Any]], names: list[str]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in rows:
        found[tuple(row[n] for n in names)] += row.get("multiplicity", 1)
    return found


_SINGLE = ("COUNT(*)", "COUNT({})", "COUNT(DISTINCT {})", "MIN({})", "MAX({})", "SUM({})")


def check_groups(seed: int) -> None:
    """Aggregates over a random nested query."""
    random = Random(seed)
    maker, block = make_nested(random)
    columns = [(f"q.{name}", kind) for name, kind in block.columns]
    group = tuple(c for c, _ in random.sample(columns, k=random.randint(0, min(2, len(columns)))))
    shown = [(f"g{i}", c, c) for i, c in enumerate(group)]
    for n in range(random.randint(1, 3)):
        column, kind = random.choice(columns)
        calls = _SINGLE[:3] if kind == "g" else _SINGLE
        call = random.choice(calls).format(column)
        shown.append((f"x{n}", call, call))
    data = make_data(random)
    # WITH is inside, where DuckDB and we read it alike
    query = Query(tuple(shown), group, f"({write_with(maker)}{block.text}) AS q")
    catalog = catalog_of(maker)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.oracle.test_sql_nulls.Oracle", lambda case: Rows(case, maker))
        try:
            verdict = compare(random, query, catalog, data)
        except QueryError as error:
            if "under two names" not in error.what:
                raise
            event("refused")
            return
    event(str(verdict.tier))


@budget(0.08)
@given(seed=SEEDS)
def test_rows_of_nested_queries_equal_duckdb(seed: int) -> None:
    check_rows(seed)


@budget(0.08)
@given(seed=SEEDS)
def test_groups_of_nested_queries_equal_duckdb(seed: int) -> None:
    check_groups(seed)
