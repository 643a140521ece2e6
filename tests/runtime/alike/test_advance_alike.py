"""Queries that differ in constants give together what each gives alone: answers and state."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import DecimalType, IntType, Scalar, StringType
from ontoweir.rewriter.model.spj import (
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    OneOf,
    Op,
    SpjUnion,
)
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from tests.oracle.random_queries import NAMES, STYLES, Case, make_case
from tests.oracle.test_aggregates_against_oracle import make_aggregates
from tests.runtime.alike.run_together import compare
from tests.runtime.live_cases import make_query, make_table

TEXTS = (*NAMES, "none")


def _choose(value: Scalar, random: Random) -> tuple[Scalar, ...]:
    """Values of the type of one."""
    if isinstance(value, str):
        return tuple(sorted(random.sample(TEXTS, random.randint(2, 4))))
    return tuple(sorted(random.sample(range(7), random.randint(2, 5))))


def _vary(union: SpjUnion, random: Random) -> SpjUnion:
    """The query with other constants."""

    def other(c: Condition) -> Condition:
        if isinstance(c, OneOf):
            return replace(c, values=_choose(c.values[0], random))
        if not isinstance(c, Compare) or not isinstance(c.right, Constant):
            return c
        number = c.right.value
        if number in TEXTS and c.op in (Op.EQ, Op.NE):
            return replace(c, right=Constant(random.choice(TEXTS)))
        if isinstance(number, bool | str | float) or c.left.column == "ts":
            return c
        step = random.choice([-1, 0, 1, 2])
        return replace(
            c, right=Constant(number + (Decimal(step) / 10 if random.random() < 0.2 else step))
        )

    return replace(
        union,
        disjuncts=tuple(
            replace(q, conditions=tuple(map(other, q.conditions))) for q in union.disjuncts
        ),
    )


def _limit(union: SpjUnion, case: Case, random: Random) -> SpjUnion:
    """The query with limits of some columns."""
    disjuncts = []
    for query in union.disjuncts:
        conditions = list(query.conditions)
        listed = {c.attribute for c in conditions if isinstance(c, OneOf)}
        mentioned = [c.left for c in query.conditions if isinstance(c, Compare)]
        mentioned += [o.value for _, o in query.outputs if isinstance(o, LiteralOutput)]
        for attribute in list(dict.fromkeys(mentioned))[:3]:
            occurrence = next(o for o in query.occurrences if o.alias == attribute.alias)
            column = case.catalog.table(occurrence.table).column(attribute.column)
            kind = None if column is None else type(column.type)
            value: Scalar = "" if kind is StringType else 0
            if kind is None or kind not in (IntType, DecimalType, StringType):
                continue
            if random.random() < 0.3 and attribute not in listed:
                conditions.append(OneOf(attribute, _choose(value, random)))
            elif kind is StringType:
                op = random.choice([Op.EQ, Op.NE, Op.NE])
                conditions.append(Compare(attribute, op, Constant(random.choice(TEXTS))))
            else:
                op = random.choice([Op.LT, Op.LE, Op.GT, Op.GE, Op.NE])
                conditions.append(Compare(attribute, op, Constant(random.randint(0, 6))))
        disjuncts.append(replace(query, conditions=tuple(conditions)))
    return replace(union, disjuncts=tuple(disjuncts))


def _find(style: str, seed: int, *, grouped: bool) -> tuple[Case, list[LiveJob], LiveJob]:
    """A random case, jobs of single queries with different constants, and one of all of them."""
    while True:
        case = make_case(Random(seed), style=style)
        random = Random(seed)
        seed += 1000
        first = _limit(case.query, case, random) if random.random() < 0.7 else case.query
        if grouped:
            first = make_aggregates(random, replace(case, query=first))
        queries = []
        for number in range(4):
            union = _vary(first, random) if number else first
            verdict = check_query(union, case.catalog, disprove=False)
            if verdict.plans:
                queries.append(replace(make_query(case, verdict), name=f"q{number}"))
        if len(queries) < 2:
            continue
        statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
        alone = [make_live_job([q], case.catalog, statics, {}) for q in queries]
        return case, alone, make_live_job(queries, case.catalog, statics, {})


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("style", sorted(STYLES))
def test_together_is_alone(
    style: str, grouped: bool, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    together: Counter[str] = Counter()
    for seed in range(300 if pytestconfig.getoption("--long") else 8):
        case, alone, whole = _find(style, seed, grouped=grouped)
        together += compare(case, (alone, whole), seed, monkeypatch)
    assert together["queries"] if style == "keyed" else together["rows"], together
