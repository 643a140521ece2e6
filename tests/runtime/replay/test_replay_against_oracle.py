"""Replays of random queries over random files, in any chunks, equal DuckDB's plain join.

The tasks run in this process: what Spark adds is tested in test_replay.py.
"""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.runtime.engine.query_job import QueryJob
from tests.oracle.random_queries import make_case
from tests.oracle.relational import answers, load
from tests.runtime.in_process import answers_upto, replay_here, store


@pytest.mark.parametrize("seed", range(150))
def test_replay_equals_oracle(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    case = make_case(random)
    query = case.query.disjuncts[0]
    catalog, statics = store(case, random, tmp_path)
    form = normalise_query(query, distinct=case.query.distinct, catalog=catalog)
    plan = make_plan(form) if form.satisfiable else None
    if not isinstance(plan, SynopsisPlan):
        return
    # the same disjunct twice: a set stays as it is, a bag doubles
    plans = (plan, plan) if random.random() < 0.3 else (plan,)
    job = QueryJob("q", case.query, plans, catalog, None)
    base = load(case.data, case.types)
    stamps = dict.fromkeys(catalog.streams, "ts")
    expected = answers(base, query, stamps, distinct=form.distinct, markers=case.markers)
    for size in (1, random.randint(2, 9), 1000):
        # by the code for short histories, or by that of Spark's workers
        where: dict[str, Any] = random.choice([{"engine": "driver"}, {"ranges": 1}])
        output = tmp_path / f"{size}.parquet"
        rows, summary = replay_here(
            monkeypatch, job, output, statics=statics, rows_per_chunk=size, **where
        )
        assert summary.tuples == sum(len(case.data[s][1]) for s in {m.stream for m in form.members})
        for marker, right in enumerate(expected):
            found = answers_upto(rows, case.query.variables, marker)
            times = 1 if form.distinct else len(plans)
            assert found == Counter({r: n * times for r, n in right.items()})
