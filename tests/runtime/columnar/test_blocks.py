"""Joins go through memory block by block: the answers do not depend on how large a block is."""

from random import Random
from typing import Any

import numpy as np
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.kernel import kernel
from ontoweir.runtime.kernel.apply_join_predicates import apply_join_predicates
from tests.oracle.random_queries import STYLES, make_case
from tests.oracle.run_kernel import run_plans


@pytest.mark.parametrize("seed", range(120))
def test_small_blocks_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    case = make_case(random, style=random.choice(sorted(STYLES)))
    plans = check_query(case.query, case.catalog, disprove=False).plans
    if not plans:
        return
    whole = [(0, case.markers - 1)]
    wanted = run_plans(plans, case.catalog, case.data, whole)
    monkeypatch.setattr("ontoweir.runtime.columnar.runs._PAIRS", random.randint(1, 9))
    monkeypatch.setattr("ontoweir.runtime.kernel.kernel._MAX_PAIRS", random.randint(1, 9))
    assert run_plans(plans, case.catalog, case.data, whole) == wanted


def test_pairs_of_a_chunk_are_never_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hundred rows that each meet up to a hundred synopsis rows, a thousand at a time."""
    columns = (Column("a", IntType(), 0, 99),)
    streams = {
        n: Stream(n, DataSource("parquet", None), "ts", 1, None, columns, (), ()) for n in "st"
    }
    catalog = Catalog(streams, {}, "ontoweir.toml")
    sql = "SELECT 1 AS one FROM s, t WHERE s.ts < t.ts AND s.a < t.a"
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    plans = check_query(union, catalog).plans
    assert plans
    random = np.random.default_rng(1)
    data: dict[str, Any] = {
        n: (["a", "ts"], [(int(v), m) for m, v in enumerate(random.integers(0, 100, 400))])
        for n in "st"
    }
    sizes: list[int] = []

    def measured(view: Any, frame: Frame, seen: Any, new: Any) -> Frame:
        sizes.append(frame.rows)
        return apply_join_predicates(view, frame, seen, new)

    monkeypatch.setattr(kernel, "apply_join_predicates", measured)
    monkeypatch.setattr("ontoweir.runtime.columnar.runs._PAIRS", 1000)
    found, _ = run_plans(plans, catalog, data, [(0, 399)])
    assert max(sizes) <= 1000 < sum(sizes)
    s, t = ([v for v, _ in data[n][1]] for n in "st")
    pairs = sum(a < b for i, b in enumerate(t) for a in s[:i])
    assert sum(sum(c.values()) for c in found.values()) == pairs
