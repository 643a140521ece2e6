"""Disjuncts that differ in filters, printed as one SELECT: the rows of each apart, as often."""

from collections import Counter
from itertools import product
from random import Random

import duckdb
import pytest

from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Relation, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    IsNull,
    LiteralOutput,
    NotNull,
    Occurrence,
    OneOf,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.sql.unite_filters import unite_filters

FILES = DataSource("parquet", "x")
CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            FILES,
            "ts",
            1_000_000,
            1,
            (Column("x", IntType()), Column("y", IntType(), 0, 3), Column("z", IntType())),
        )
    },
    {"r": Relation("r", FILES, (Column("x", IntType()), Column("y", IntType())))},
)
BOTH = (Occurrence("a", "s"), Occurrence("b", "r"))
X, Y, Z, BX = (Attribute(*p) for p in (("a", "x"), ("a", "y"), ("a", "z"), ("b", "x")))
JOIN = Compare(X, Op.EQ, BX)


def made(*conditions: Condition) -> SpjQuery:
    return SpjQuery(BOTH, (JOIN, *conditions), (("v", LiteralOutput(X)),))


def count(*disjuncts: SpjQuery, distinct: bool = False) -> int:
    return len(unite_filters(disjuncts, CATALOG, distinct=distinct))


def limit(attribute: Attribute, op: Op, value: int) -> Compare:
    return Compare(attribute, op, Constant(value))


def test_filters_that_exclude_each_other_are_one() -> None:
    low, high = limit(Y, Op.LT, 1), limit(Y, Op.GE, 2)
    assert count(made(low), made(high)) == 1
    assert count(made(limit(Y, Op.EQ, 1)), made(limit(Y, Op.EQ, 2))) == 1


def test_a_product_of_filters_is_a_conjunction_of_alternatives() -> None:
    own = (limit(Y, Op.LT, 1), limit(Y, Op.GE, 2), limit(Y, Op.EQ, 1))
    others = (limit(BX, Op.LT, 1), limit(BX, Op.GE, 5))
    pairs = [made(a, b) for a, b in product(own, others)]
    assert count(*pairs) == 1
    assert count(*pairs[:-1]) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((limit(Y, Op.LT, 2),), (limit(Y, Op.GE, 1),)),  # overlap: a row counts twice
        ((limit(Y, Op.LT, 2),), (limit(Y, Op.LT, 2),)),  # the user's own branches
        ((limit(Y, Op.LT, 1),), (limit(Y, Op.GE, 2), NotNull(Z))),  # Z has a value in one
        ((limit(Y, Op.LT, 1), IsNull(Z)), (limit(Y, Op.GE, 2), NotNull(Z))),
        ((limit(Y, Op.LT, 1),), (limit(Y, Op.GE, 2), Compare(Y, Op.LT, Z))),  # no constant
        ((limit(Y, Op.LT, 1),), (limit(Attribute("b", "y"), Op.GE, 2),)),  # two occurrences
        (
            (limit(Attribute("a", "ts"), Op.LT, 1),),
            (limit(Attribute("a", "ts"), Op.GE, 2),),
        ),
    ],
)
def test_what_stays_apart(first: tuple[Condition, ...], second: tuple[Condition, ...]) -> None:
    assert count(made(*first), made(*second)) == 2


def test_other_outputs_or_tables_stay_apart() -> None:
    one, other = made(limit(Y, Op.LT, 1)), made(limit(Y, Op.GE, 2))
    shown = SpjQuery(BOTH, other.conditions, (("v", LiteralOutput(Y)),))
    assert count(one, shown) == 2
    assert count(one, SpjQuery((*BOTH, Occurrence("c", "r")), other.conditions, other.outputs)) == 2


def test_of_a_set_filters_may_overlap() -> None:
    queries = made(limit(Y, Op.LT, 2)), made(limit(Y, Op.GE, 1))
    assert count(*queries, distinct=True) == 1


@pytest.mark.parametrize("distinct", [False, True])
def test_printed_together_as_apart(distinct: bool) -> None:
    united = 0
    with duckdb.connect() as base:
        base.execute("CREATE TABLE s (ts TIMESTAMP, x INT, y INT, z INT)")
        base.execute("CREATE TABLE r (x INT, y INT)")
        for seed in range(100):
            random = Random(seed)
            used = random.sample([Y, Z, BX], random.randint(1, 3))
            queries = [made(*_conditions(used, random)) for _ in range(random.randint(2, 6))]
            united += len(unite_filters(queries, CATALOG, distinct=distinct)) < len(queries)
            base.execute("DELETE FROM s; DELETE FROM r")
            rows = (
                ", ".join(random.choice(["NULL", *"01234"]) for _ in range(3)) for _ in range(25)
            )
            own = ", ".join(f"('1970-01-01', {row})" for row in rows)
            base.execute(f"INSERT INTO s VALUES {own}")
            base.execute("INSERT INTO r SELECT range, 1 FROM range(5)")
            apart: Counter[object] = Counter()
            for query in queries:
                apart.update(base.execute(_print(query, distinct=distinct)).fetchall())
            found = Counter(base.execute(_print(*queries, distinct=distinct)).fetchall())
            assert found == (Counter(set(apart)) if distinct else apart), seed
    assert united > 30


def _print(*queries: SpjQuery, distinct: bool) -> str:
    union = SpjUnion("q", ("v",), queries, distinct)
    return print_sql(union, CATALOG, dialect="duckdb", comments=False)


def _conditions(used: list[Attribute], random: Random) -> list[Condition]:
    conditions: list[Condition] = []
    for attribute in used:
        kind = random.randrange(12)
        if kind == 0:
            conditions.append(OneOf(attribute, tuple(random.sample(range(5), 2))))
        elif kind == 1:
            conditions.append(NotNull(attribute))
        elif kind > 2:  # else nothing is said, and NULL passes
            op = random.choice([Op.LT, Op.GE, Op.EQ, Op.EQ, Op.NE])
            conditions.append(limit(attribute, op, random.randint(0, 4)))
    return conditions
