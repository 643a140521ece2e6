"""Aggregates over several ranges of history: those of one range, and of DuckDB's matches."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.check_query import check_query
from ontoweir.checker.verdict import Tier
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.check_aggregates import check_aggregates
from ontoweir.rewriter.spj import Attribute, Compare, Constant, Op, SpjUnion
from ontoweir.runtime.replay import ReplayJob, ReplaySummary
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.relational import answer, load
from tests.oracle.test_aggregates_against_oracle import (
    aggregate_naively,
    make_aggregates,
)
from tests.runtime.in_process import EPOCH, replay_here, store


def _make_case(random: Random, style: str) -> Case:
    """Without rows that a run rejects, because they have NaN where the query may use it."""
    case = make_case(random, style=style, markers=random.choice([8, 14]))
    data = {
        name: (columns, [row for row in rows if all(cell == cell for cell in row)])
        for name, (columns, rows) in case.data.items()
    }
    return replace(case, data=data)


def _split(random: Random, union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query as two branches, which overlap in time or not."""
    (query,) = union.disjuncts
    alias = next(o.alias for o in query.occurrences if o.table in catalog.streams)
    stamp = Attribute(alias, "ts")
    until, since = Constant(random.randint(2, 6)), Constant(random.randint(0, 6))
    pieces = (Compare(stamp, Op.LE, until), Compare(stamp, Op.GE, since))
    return replace(
        union,
        disjuncts=tuple(replace(query, conditions=(*query.conditions, p)) for p in pieces),
    )


def _job(union: SpjUnion, case: Case) -> ReplayJob | None:
    verdict = check_query(union, case.catalog, disprove=False)
    if verdict.plans is None or verdict.bound is None or verdict.tier is Tier.UNSATISFIABLE:
        return None
    parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
    return ReplayJob("q", union, verdict.plans, case.catalog, verdict.bound.rows, parts=parts)


def _compare(one: ReplaySummary, many: ReplaySummary) -> None:
    for name in ("markers", "tuples", "results", "rejected", "bound_rows"):
        assert getattr(many, name) == getattr(one, name)


def _current(rows: list[dict[str, Any]], union: SpjUnion, marker: int) -> dict[Any, Any]:
    """The groups after a marker, by the updates told until then."""
    assert union.aggregation is not None
    found: dict[Any, Any] = {}
    for row in rows:
        if (row["at"] - EPOCH).microseconds <= marker:
            group = tuple(row[g] for g in union.aggregation.group)
            found[group] = tuple(row[a.name] for a in union.aggregation.aggregates)
    return found


def _expect(case: Case, union: SpjUnion, upto: int) -> dict[Any, Any]:
    """The groups after a marker, by DuckDB's matches."""
    base = load(case.data, case.types)
    stamps = dict.fromkeys(case.catalog.streams, "ts")
    matches: Counter[Any] = Counter()
    for query in union.disjuncts:
        matches += answer(base, query, stamps, distinct=False, upto=upto)
    return aggregate_naively(union, matches)


@pytest.mark.parametrize("style", sorted(STYLES))
@budget(0.1)
@given(seed=SEEDS)
def test_ranges_equal_one_range_and_the_oracle(style: str, seed: int) -> None:
    random = Random(seed)
    case = _make_case(random, style)
    union = make_aggregates(random, case)
    if random.random() < 0.4:
        union = _split(random, union, case.catalog)
    check_aggregates(union, case.catalog)
    job = _job(union, case)
    event("bounded" if job else "not bounded")
    if job is None:
        return
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = replace(job, catalog=catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, one = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        for marker in range(case.markers):
            assert _current(whole, union, marker) == _expect(case, union, marker)
        for ranges in (2, random.randint(3, 5)):
            rows, many = replay_here(
                patch, job, Path(folder, "n.parquet"), **options,
                ranges=ranges, rows_per_chunk=random.choice([1, 3, 1000]),
            )  # fmt: skip
            event(f"{many.ranges} ranges, {'some' if rows else 'no'} rows")
            assert rows == whole
            _compare(one, many)
