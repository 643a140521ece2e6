"""Counterexamples of queries of what holds until something ends it: DuckDB answers the same text
over every subset of the optional rows, before and after each suffix, and the changes tell all
subsets apart."""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.confirm.confirm_witness import confirm_witness
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget, count_tuples
from tests.oracle.database import open_database
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_standing import make_groups, make_query
from tests.oracle.test_witness_beside import FREE, LATER, answer_rows


def check_changes(query: Stacked, witness: Witness) -> None:
    """Assert that the changes after the suffixes tell all subsets of the optional tuples apart."""
    seen: dict[tuple[Any, ...], tuple[bool, ...]] = {}
    with open_database() as base:
        for chosen in product((False, True), repeat=witness.size):
            rows = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
            before = answer_rows(base, query, [*witness.fixed, *rows], LATER)
            told = []
            for suffix in witness.suffixes:
                after = answer_rows(base, query, [*witness.fixed, *rows, *suffix], LATER)
                change = Counter(after)
                change.subtract(before)
                told.append(frozenset((row, n) for row, n in change.items() if n))
            assert tuple(told) not in seen, (query.ours, chosen, seen[tuple(told)])
            seen[tuple(told)] = chosen


def check(seed: int) -> str:
    random = Random(seed)
    query = make_groups(random) if random.random() < 0.3 else make_query(random)[0]
    union = parse_sql(query.ours, FREE, name="q", file="q.sql")
    verdict = check_query(union, FREE, size=count_tuples())
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        check_changes(query, verdict.witness)
    return str(verdict.tier)


@budget(0.1)
@given(seed=SEEDS)
def test_counterexamples_convince_duckdb(seed: int) -> None:
    event(check(seed))


def test_many_are_found() -> None:
    """Of rows that are shown, where others than they themselves end them, most."""
    found = Counter(check(seed) for seed in range(14))
    assert found["unbounded"] > 4, found


OPEN = "FROM s AS x WHERE NOT EXISTS (SELECT 1 FROM t AS y WHERE y.g = x.g AND y.ts > x.ts)"


@pytest.mark.parametrize("shown", ["x.a", "DISTINCT x.a"])
def test_what_proves_nothing_is_no_witness(shown: str) -> None:
    """Suffixes that end nothing; rows that were ended before; and values that others show."""
    union = parse_sql(f"SELECT {shown} {OPEN}", FREE, name="q", file="q.sql")
    witness = check_query(union, FREE, size=count_tuples()).witness
    assert witness is not None
    assert confirm_witness(union, FREE, witness)
    other = [[_with(row, g="another") for row in suffix] for suffix in witness.suffixes]
    assert not confirm_witness(union, FREE, replace(witness, suffixes=tuple(map(tuple, other))))
    last = max(row.step or 0 for row in witness.optional)
    ender = replace(witness.suffixes[0][0], step=last)
    later = tuple(tuple(replace(r, step=(r.step or 0) + 1) for r in s) for s in witness.suffixes)
    ended = replace(witness, fixed=(*witness.fixed, ender), suffixes=later)
    assert not confirm_witness(union, FREE, ended)
    same = tuple(_with(row, a=1) for row in witness.optional)
    assert not confirm_witness(union, FREE, replace(witness, optional=same))


def _with(row: WitnessRow, **values: Any) -> WitnessRow:
    return replace(row, values=tuple({**dict(row.values), **values}.items()))


def _make_latest(random: Random) -> Stacked:
    """The latest rows of each key, which may have any number of values."""
    keys = random.sample("agh", k=random.choice([1, 1, 2]))
    shown = random.sample("abgh", k=random.randint(1, 3))
    shown = list(dict.fromkeys((*keys, *shown)) if random.random() < 0.6 else shown)
    also = random.choice(["", "", "{}.h = 1", "{}.a > 0"])
    conditions = [f"y.{k} = x.{k}" for k in keys] + ["y.ts > x.ts"]
    conditions += [also.format("y")] if also else []
    mine = f"{also.format('x')} AND " if also else ""
    items = ", ".join(f"x.{c} AS c{n}" for n, c in enumerate(shown))
    once = random.choice(["", "DISTINCT "])
    if random.random() < 0.4:
        where = f" WHERE {also.format('x')}" if also else ""
        by = ", ".join(f"x.{k}" for k in keys)
        text = (
            f"SELECT {once}{items} FROM s AS x{where} "
            f"QUALIFY RANK() OVER (PARTITION BY {by} ORDER BY x.ts DESC) = 1"
        )
        return Stacked(text, text, tuple(f"c{n}" for n in range(len(shown))))
    text = (
        f"SELECT {once}{items} FROM s AS x WHERE {mine}NOT EXISTS (SELECT 1 FROM s AS y WHERE "
        f"{' AND '.join(conditions)})"
    )
    return Stacked(text, text, tuple(f"c{n}" for n in range(len(shown))))


def _check_latest(seed: int) -> str:
    query = _make_latest(Random(seed))
    verdict = check_query(
        parse_sql(query.ours, FREE, name="q", file="q.sql"), FREE, size=count_tuples()
    )
    if verdict.witness is not None:
        check_changes(query, verdict.witness)
    return str(verdict.tier)


@budget(0.1)
@given(seed=SEEDS)
def test_counterexamples_of_latest_rows_convince_duckdb(seed: int) -> None:
    event(_check_latest(seed))


def test_many_are_found_of_latest_rows() -> None:
    found = Counter(map(_check_latest, range(12)))
    assert found["unbounded"] > 5, found
