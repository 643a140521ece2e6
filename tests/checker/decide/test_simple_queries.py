"""Simple queries over streams of all units and types are decided: each is bounded, or a
counterexample is found. Nothing that is shown here is "undecided"."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget

KINDS = (
    '"string"',
    '"int"',
    '{ type = "int", min = 0, max = 9 }',
    '"double"',
    '"decimal(8,2)"',
    '"date"',
    '"timestamp"',
    '"boolean"',
    '{ type = "string", nullable = true }',
    '{ type = "int", nullable = true }',
    '{ type = "string", enum = ["a", "b", "c"] }',
    '{ type = "double", min = 0.0, max = 50.0, nullable = true }',
    '{ type = "decimal(6,1)", min = 0, max = 100, nullable = true }',
)
UNITS = ("microsecond", "millisecond", "second", "10 seconds", "minute", "5 minutes", "hour", "day")
_FREE = ('"string"', '"string"', '"int"', '{ type = "string", nullable = true }')
_ORDERS = (
    "",
    "",
    " AND a.ts < b.ts",
    " AND a.ts <= b.ts",
    " AND b.ts < a.ts",
    " AND a.ts = b.ts",
    " AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR",
)


def make_catalog(random: Random) -> str:
    """Three streams with a key that is not limited, and a register."""
    made, key = [], random.choice(_FREE)
    for name in "stu":
        unit = random.choice(UNITS)
        made += [f'[streams.{name}]\nsource = {{ format = "parquet", path = "{name}.parquet" }}']
        made += [f'timestamp = {{ column = "ts", unit = "{unit}" }}']
        made += ['keys = [["k", "ts"]]'] if random.random() < 0.25 else []
        if random.random() < 0.25:
            made.append(f"max_per_timestamp = {random.randint(1, 1000)}")
        made += [f"[streams.{name}.columns]\nk = {key}"]
        made += [f"{name}{n} = {random.choice(KINDS)}" for n in range(3)]
    kind = "string" if "string" in key else "int"
    made += ['[relations.r]\nsource = { format = "parquet", path = "r.parquet" }']
    made += [f'keys = [["id"]]\n[relations.r.columns]\nid = "{kind}"\ncity = "string"']
    return "\n".join([*made, "[project]", "queries = []"])


def make_text(random: Random) -> str:
    """A join, groups, a set, what is absent, or the latest rows."""
    one, two, three = random.sample("stu", 3)
    shown, other = f"a.{one}{random.randint(0, 2)}", f"b.{two}{random.randint(0, 2)}"
    order, distinct = random.choice(_ORDERS), random.choice(["", "", "DISTINCT "])
    pair = f"FROM {one} a JOIN {two} b ON a.k = b.k{order}"
    call = random.choice(["COUNT(*)", f"MAX({shown})", f"COUNT(DISTINCT {shown})", f"MIN({shown})"])
    columns = random.choice([shown, f"a.k, {shown}, {other}", f"a.ts, {other}", "a.k"])
    no = random.choice(["", "NOT "])
    chain = "a.k = b.k AND b.k = c.k AND a.ts < b.ts AND b.ts < c.ts"
    day = "b.ts BETWEEN a.ts - INTERVAL '1' DAY AND a.ts"
    column = shown[2:]
    return random.choice(
        [
            f"SELECT {distinct}{columns} {pair}",
            f"SELECT {distinct}{columns} {pair} WHERE a.k IS NOT NULL",
            f"SELECT {distinct}{shown} {pair} JOIN r ON r.id = a.k",
            f"SELECT a.k, {call} AS n FROM {one} a GROUP BY a.k",
            f"SELECT {call} AS n {pair}",
            f"SELECT DISTINCT {shown} FROM {one} a",
            f"SELECT {column}, COUNT(*) AS n FROM {one} GROUP BY {column}",
            (
                f"SELECT a.k FROM {one} a WHERE {no}EXISTS (SELECT 1 FROM {two} b WHERE b.k = a.k "
                "AND b.ts <= a.ts)"
            ),
            f"SELECT a.k, {other} FROM {one} a LEFT JOIN {two} b ON b.k = a.k AND {day}",
            (
                f"SELECT k, {column} FROM {one} QUALIFY RANK() OVER (PARTITION BY k "
                "ORDER BY ts DESC) = 1"
            ),
            f"SELECT a.k, x.k FROM {one} a, {one} x WHERE {shown} = x.{column} AND a.ts < x.ts",
            f"SELECT {distinct}a.k FROM {one} a, {two} b, {three} c WHERE {chain}",
            f"SELECT {distinct}a.k FROM {one} a, {two} b WHERE a.k <> b.k AND a.ts < b.ts",
        ]
    )


def check(seed: int) -> str:
    random = Random(seed)
    with TemporaryDirectory() as folder:
        Path(folder, "ontoweir.toml").write_text(make_catalog(random), encoding="utf-8")
        catalog = load_project(Path(folder)).catalog
    text = make_text(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError:
        return "refused"
    verdict = check_query(union, catalog)
    assert verdict.tier is not Tier.UNDECIDED, text
    assert (verdict.witness is not None) is (verdict.plans is None)
    return "unbounded" if verdict.plans is None else "bounded"


@budget(0.4)
@given(seed=SEEDS)
def test_simple_queries_are_decided(seed: int) -> None:
    event(check(seed))


def test_most_are_unbounded_and_many_are_not() -> None:
    told = Counter(check(seed) for seed in range(60))
    assert told["unbounded"] > 30, told
    assert told["bounded"] > 8, told


@pytest.mark.parametrize("units", [("second", "day"), ("millisecond", "hour"), ("day", "second")])
@pytest.mark.parametrize("order", ["", " AND s.ts < t.ts", " AND t.ts < s.ts"])
def test_units_that_are_far_apart_have_a_counterexample(
    tmp_path: Path, units: tuple[str, str], order: str
) -> None:
    made = [
        f'[streams.{name}]\nsource = {{ format = "parquet", path = "{name}.parquet" }}\n'
        f'timestamp = {{ column = "ts", unit = "{unit}" }}\n[streams.{name}.columns]\nk = "string"'
        for name, unit in zip("st", units, strict=True)
    ]
    text = "\n".join([*made, "[project]", "queries = []"])
    (tmp_path / "ontoweir.toml").write_text(text, encoding="utf-8")
    catalog = load_project(tmp_path).catalog
    query = f"SELECT s.k FROM s JOIN t ON s.k = t.k{order}"
    verdict = check_query(parse_sql(query, catalog, name="q", file="q.sql"), catalog)
    assert verdict.tier is Tier.UNBOUNDED
    steps = {
        (row.table, row.step)
        for rows in (verdict.witness.optional, *verdict.witness.suffixes)  # type: ignore[union-attr]
        for row in rows
    }
    assert len(steps) > 4
