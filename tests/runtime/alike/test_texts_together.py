"""Queries over texts that differ in the constants they name are advanced together as alone."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream, StringType
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.live.make_live_job import make_live_job
from tests.oracle.random_queries import Case, Rows
from tests.runtime.alike.run_together import compare
from tests.runtime.live_cases import make_query

STATES = ("go", "slow", "stop")
KINDS = (
    "SELECT S.st, S.a FROM S WHERE {S}",
    "SELECT DISTINCT S.state FROM S WHERE {S}",
    "SELECT S.st FROM S, T WHERE S.ts < T.ts AND T.ts <= {far} AND {stations} AND {S} AND {T}",
    "SELECT x.st, y.state FROM S x, S y WHERE x.ts < y.ts AND y.ts <= {far} AND {same} AND {x}",
    "SELECT S.state, T.b FROM S, T WHERE S.ts < T.ts AND S.a = T.b AND {S} AND {T}",
    "SELECT S.st, COUNT(*) AS n, SUM(S.a) AS total FROM S WHERE {S} GROUP BY S.st",
    "SELECT S.state, S.st, MAX(S.a) AS most FROM S WHERE {S} GROUP BY S.state, S.st",
    "SELECT S.state, COUNT(DISTINCT S.a) AS n FROM S WHERE {S} GROUP BY S.state",
    "SELECT T.st, COUNT(*) AS n FROM S, T WHERE {join} AND {S} AND {T} GROUP BY T.st HAVING n > 1",
)


WORDS = {
    "stations": "S.st = T.st",
    "same": "x.st = y.st AND x.state <> y.state",
    "join": "S.ts < T.ts AND S.a = T.b",
}
NOWHERE = DataSource("parquet", None)
CATALOG = Catalog(
    {
        "S": Stream(
            "S",
            NOWHERE,
            "ts",
            1_000_000,
            3,
            (
                Column("st", StringType()),
                Column("state", StringType(), enum=STATES),
                Column("a", IntType(), 0, 5),
            ),
            (),
            (),
        ),
        "T": Stream(
            "T",
            NOWHERE,
            "ts",
            1_000_000,
            3,
            (Column("st", StringType()), Column("b", IntType(), 0, 5)),
            (),
            (),
        ),
    },
    {},
)


def _condition(random: Random, alias: str, kind: int) -> str:
    """A condition of a kind, with constants of its own."""
    station = f"'s{random.randint(0, 4)}'"
    others = ", ".join(f"'s{n}'" for n in random.sample(range(6), random.randint(2, 4)))
    number = random.randint(0, 5)
    listed = ", ".join(map(str, random.sample(range(6), random.randint(2, 4))))
    value = "a" if alias != "T" else "b"
    return (
        f"{alias}.st = {station}",
        f"{alias}.st <> {station}",
        f"{alias}.st IN ({others})",
        f"{alias}.st <> {station} AND {alias}.{value} >= {number}",
        f"{alias}.{value} IN ({listed})",
        f"{alias}.{value} <> {number} AND {alias}.st <> {station}",
        f"{alias}.st >= 's1' AND {alias}.{value} > {number}",
    )[kind]


def _make(seed: int) -> tuple[Case, list[str]]:
    """Rows, and the texts of several queries of the kind."""
    random = Random(seed)
    kind = random.choice(KINDS)
    texts = []
    conditions = [random.randrange(7) for _ in range(3)]
    for _ in range(4):
        made = {a: _condition(random, a, n) for a, n in zip("STx", conditions, strict=True)}
        far = "x.ts" if "S x" in kind else "S.ts"
        texts.append(kind.format(**made, far=f"{far} + INTERVAL '3' SECOND", **WORDS))
    rows: dict[str, Rows] = {"S": [], "T": []}
    for time in range(14):
        for _ in range(random.choice([1, 2, 3])):
            # some stations come and go
            station = random.choice([f"s{random.randint(0, 5)}", f"s{time // 3}", None])
            rows["S"].append(
                (time * 1_000_000, station, random.choice(STATES), random.randint(0, 5))
            )
            rows["T"].append((time * 1_000_000, station, random.randint(0, 5)))
    data = {"S": (["ts", "st", "state", "a"], rows["S"]), "T": (["ts", "st", "b"], rows["T"])}
    return Case(CATALOG, parse(texts[0]), data, 14), texts


def parse(sql: str) -> SpjUnion:
    """A query."""
    return parse_sql(sql, CATALOG, name="q", file="q.sql")


def test_texts_together(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    together: Counter[str] = Counter()
    for seed in range(2000 if pytestconfig.getoption("--long") else 12):
        case, texts = _make(seed)
        queries = []
        for number, text in enumerate(texts):
            verdict = check_query(parse(text), CATALOG, disprove=False)
            if verdict.plans:
                queries.append(replace(make_query(case, verdict), name=f"q{number}"))
        if len(queries) < 2:
            continue
        alone = [make_live_job([q], CATALOG, {}, {}) for q in queries]
        whole = make_live_job(queries, CATALOG, {}, {})
        together += compare(case, (alone, whole), seed, monkeypatch)
        together["cases"] += 1
    for what in ("rows", "texts kept", "groups by texts"):
        assert together[what] > 8, together
