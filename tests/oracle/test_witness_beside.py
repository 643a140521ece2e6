"""Counterexamples of queries with NOT EXISTS, EXISTS, NOT IN, IN, ANTI, SEMI and LEFT joins: DuckDB
answers the same text over every subset of the optional rows and each suffix, and what it tells
after the suffix tells all subsets apart."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import duckdb
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget, count_tuples
from tests.oracle.database import open_database
from tests.oracle.test_absence import make_query
from tests.oracle.test_sql_nulls import _TYPES, CATALOG
from tests.oracle.test_stacked_queries import Stacked

LATER = 1_000
"""So many steps after the last row everything is final."""

FREE = replace(
    CATALOG,
    streams={
        name: replace(
            stream,
            columns=tuple(
                replace(c, minimum=None, maximum=None, enum=None) for c in stream.columns[:4]
            ),
        )
        for name, stream in CATALOG.streams.items()
    },
)
"""The streams, of which no column has a domain."""


def decide(text: str) -> Verdict:
    union = parse_sql(text, FREE, name="q", file="q.sql")
    return check_query(union, FREE, size=count_tuples())


def check_witness(query: Stacked, witness: Witness) -> None:
    """Assert that any algorithm must tell all subsets of the optional tuples apart."""
    prefix = [*witness.fixed, *witness.optional]
    known = max((r.step for r in prefix if r.step is not None), default=0)
    seen: dict[tuple[Any, ...], tuple[bool, ...]] = {}
    with open_database() as base:
        for chosen in product((False, True), repeat=witness.size):
            rows = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
            told = []
            for suffix in witness.suffixes:
                first = min(r.step for r in suffix if r.step is not None)
                assert first > known
                last = max(r.step for r in suffix if r.step is not None)
                before = answer_rows(base, query, [*witness.fixed, *rows], first - 1)
                after = answer_rows(base, query, [*witness.fixed, *rows, *suffix], last + LATER)
                assert not before - after, "an answer was taken back"
                told.append(frozenset((after - before).items()))
            assert tuple(told) not in seen, (query.ours, chosen, seen[tuple(told)])
            seen[tuple(told)] = chosen


def answer_rows(
    base: duckdb.DuckDBPyConnection, query: Stacked, rows: Sequence[WitnessRow], now: int
) -> Counter[Any]:
    tables: list[Stream | Relation] = [*FREE.streams.values(), *FREE.relations.values()]
    for table in tables:
        names = [c.name for c in table.columns]
        spec = ", ".join(f"{n} {_TYPES[n]}" for n in names)
        stamp = ", ts TIMESTAMP" if table.name in FREE.streams else ""
        base.execute(f"CREATE OR REPLACE TEMP TABLE {table.name} ({spec}{stamp})")
        for row in (r for r in rows if r.table == table.name):
            content = [dict(row.values)[n] for n in names]
            marks = ", ".join("?" * len(names)) + (", make_timestamp(?)" if stamp else "")
            given_ = [*content, row.step] if stamp else content
            base.execute(f"INSERT INTO {table.name} VALUES ({marks})", given_)
    base.execute(f"CREATE OR REPLACE TEMP VIEW clock AS SELECT make_timestamp({now}) AS now")
    return Counter(base.execute(query.duck).fetchall())


def check(seed: int) -> str:
    """The verdict on a random query, whose counterexample convinces."""
    query, _ = make_query(Random(seed))
    verdict = decide(query.ours)
    assert (verdict.witness is not None) == (verdict.tier is Tier.UNBOUNDED)
    if verdict.witness is not None:
        check_witness(query, verdict.witness)
    return str(verdict.tier)


@budget(0.2)
@given(seed=SEEDS)
def test_counterexamples_convince_duckdb(seed: int) -> None:
    event(check(seed))
