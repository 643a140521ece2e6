"""The greatest time of each key, as updates: each follows from the rows of its own time alone, so
that no counterexample can show that anything must be kept for them (theory, section 7)."""

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.mappings.model.catalog import IntType
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data
from tests.oracle.test_stacked_queries import make_job
from tests.runtime.in_process import replay_here, store

LAST = "SELECT h, MAX(ts) AS m FROM s WHERE h IS NOT NULL GROUP BY h"
TIMES = "SELECT DISTINCT h, ts AS m FROM s WHERE h IS NOT NULL"


def replay(text: str, seed: int) -> list[tuple[Any, ...]]:
    random = Random(seed)
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    case = Case(CATALOG, union, make_data(random), MARKERS)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=Emit.ANSWERS)
        file = Path(folder, "1.parquet")
        rows, _ = replay_here(patch, job, file, statics=statics, rows_per_range=1, ranges=1)
    return sorted((row["h"], row["m"], row["at"]) for row in rows)


def test_updates_are_the_times_that_come() -> None:
    found = [replay(LAST, seed) for seed in range(12)]
    assert found == [replay(TIMES, seed) for seed in range(12)]
    assert sum(map(len, found)) > 20


def test_without_a_domain_the_times_need_nothing_and_the_groups_are_not_decided() -> None:
    stream = CATALOG.streams["s"]
    columns = tuple(replace(c, type=IntType()) if c.name == "f" else c for c in stream.columns)
    catalog = replace(CATALOG, streams={**CATALOG.streams, "s": replace(stream, columns=columns)})

    def decide(text: str) -> Tier:
        text = text.replace(" h", " f")
        return check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog).tier

    assert decide(TIMES) is Tier.STATELESS
    assert decide(LAST) is Tier.UNDECIDED
    assert decide(LAST.replace("MAX(ts)", "MIN(ts)")) is Tier.UNBOUNDED
