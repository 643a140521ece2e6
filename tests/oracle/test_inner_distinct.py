"""SELECT DISTINCT and UNION in subqueries whose rows are counted: replayed and live, as DuckDB
answers the same text over every prefix."""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import make_job, run_live
from tests.oracle.test_subqueries import Block, Maker, Rows, catalog_of, count_rows, write_with
from tests.runtime.in_process import replay_here, store


@dataclass
class SetMaker(Maker):
    """Makes blocks of which some remove duplicates."""

    sets: int = 0

    def select(self, depth: int, streams: int, kinds: tuple[str, ...] | None = None) -> Block:
        made = super().select(depth, streams, kinds)
        plain = not made.text.startswith("SELECT DISTINCT")
        if plain and self.random.random() < 0.4:
            self.sets += 1
            return Block(f"SELECT DISTINCT{made.text.removeprefix('SELECT')}", made.columns)
        return made

    def block(self, depth: int, streams: int) -> Block:
        made = super().block(depth, streams)
        if " UNION ALL " in made.text and self.random.random() < 0.4:
            self.sets += 1
            return Block(made.text.replace(" UNION ALL ", " UNION "), made.columns)
        return made


def make_nested(random: Random) -> tuple[Maker, Block]:
    """A random nested query without aggregates, in which duplicates are removed."""
    while True:
        maker = SetMaker(random, {}, {})
        block = maker.block(random.choice([1, 2, 2, 3]), random.choice([1, 2, 2]))
        shown = tuple((name, kind) for name, kind in block.columns if kind != "ts")
        if shown and maker.sets and len(block.text) < 1500:
            return maker, Block(block.text, shown)


def check(seed: int) -> None:
    random = Random(seed)
    maker, block = make_nested(random)
    names = [name for name, _ in block.columns]
    grouped = random.random() < 0.3
    shown = ["COUNT(*) AS n"] if grouped else names
    inner = f"SELECT {', '.join(shown)} FROM ({block.text}) AS q"
    catalog, data = catalog_of(maker), make_data(random)
    text = write_with(maker) + inner
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        if "static relations" not in error.what and "always holds" not in error.what:
            raise
        event("refused")
        return
    verdict = check_query(union, catalog, disprove=False)
    event(f"{verdict.tier}{' over sets' if union.blocks else ''}")
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(catalog, union, data, MARKERS)
    oracle = Rows(case, maker)
    asked = text
    if not grouped:
        known = " AND ".join(f"{name} IS NOT NULL" for name in names)
        asked = f"{write_with(maker)}SELECT * FROM ({inner}) AS whole WHERE {known}"
    expected = [oracle.rows(asked, m) for m in range(MARKERS)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, stored)
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), statics=statics, ranges=1)
        live, done = run_live(case, verdict, random, Path(folder))
        for rows, last in ((whole, MARKERS - 1), (live, done)):
            for marker in range(last + 1):
                found = upto(rows, marker)
                if grouped:  # the last row of the one group; without one there is nothing
                    latest = found[-1]["n"] if found else 0
                    assert {(latest,): 1} == expected[marker], (text, marker)
                    continue
                assert count_rows(found, names) == expected[marker], (text, marker)


@budget(0.08)
@given(seed=SEEDS)
def test_sets_in_queries_that_count_equal_duckdb(seed: int) -> None:
    check(seed)
