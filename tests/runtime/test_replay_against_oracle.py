"""Replays of random queries over random files, in any chunks, equal DuckDB's plain join.

The tasks run in this process: what Spark adds is tested in test_replay.py.
"""

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.checker.make_plan import make_plan
from ontoweir.checker.normalise_query import normalise_query
from ontoweir.checker.plan import SynopsisPlan
from ontoweir.mappings.catalog import Catalog, DataSource
from ontoweir.runtime import scan_ranges as module
from ontoweir.runtime.check_domain import arrow_type
from ontoweir.runtime.replay import ReplayJob, replay_history
from ontoweir.runtime.replay_range import (
    RangeOutcome,
    RangeTask,
    replay_range,
    unpack_outcome,
)
from tests.oracle.random_queries import Case, make_case
from tests.oracle.relational import answer, load

EPOCH = datetime(1970, 1, 1)


class _Broadcast:
    def __init__(self, content: bytes) -> None:
        self.value = content

    def destroy(self) -> None:
        """Nothing to free."""


class _NoSpark:
    """Stands for session and context: replays that need no reader of Spark's."""

    @property
    def sparkContext(self) -> "_NoSpark":
        return self

    def broadcast(self, content: bytes) -> _Broadcast:
        return _Broadcast(content)


def _run_here(
    spark: object,
    key: str,
    packed: object,
    tasks: Sequence[RangeTask],
    look: Callable[[], None],
) -> list[RangeOutcome]:
    outcomes = []
    for task in tasks:
        outcomes.append(unpack_outcome(replay_range(key, packed, pickle.dumps(task))))
        look()
    return outcomes


def _store(case: Case, random: Random, folder: Path) -> tuple[Catalog, dict[str, pa.Table]]:
    """Files of all streams, cut at random; the catalog that names them, and the static data."""
    streams, statics = {}, {}
    for name, (columns, rows) in case.data.items():
        declared = case.catalog.table(name)
        fields = []
        for c in columns:
            column = declared.column(c)
            fields.append(pa.field(c, pa.int64() if column is None else arrow_type(column.type)))
        cells = {f.name: [r[i] for r in rows] for i, f in enumerate(fields)}
        table = pa.table(
            {f.name: pa.array(cells[f.name], f.type, from_pandas=False) for f in fields}
        )
        if name in case.catalog.relations:
            statics[name] = table
            continue
        (folder / name).mkdir()
        cut = random.randint(0, table.num_rows)
        for number, part in enumerate([table.slice(0, cut), table.slice(cut)]):
            size = random.randint(1, 6)
            pq.write_table(part, folder / name / f"{number}.parquet", row_group_size=size)
        source = DataSource("parquet", str(folder / name))
        streams[name] = replace(case.catalog.streams[name], data=source)
    return replace(case.catalog, streams=streams), statics


@pytest.mark.parametrize("seed", range(150))
def test_replay_equals_oracle(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    case = make_case(random)
    query = case.query.disjuncts[0]
    catalog, statics = _store(case, random, tmp_path)
    form = normalise_query(query, distinct=case.query.distinct, catalog=catalog)
    plan = make_plan(form) if form.satisfiable else None
    if not isinstance(plan, SynopsisPlan):
        return
    monkeypatch.setattr(module, "run_ranges", _run_here)
    # the same disjunct twice: a set stays as it is, a bag doubles
    plans = (plan, plan) if random.random() < 0.3 else (plan,)
    job = ReplayJob("q", case.query, plans, catalog, None)
    base = load(case.data, case.types)
    stamps = dict.fromkeys(catalog.streams, "ts")
    for size, ranges in ((1, 1), (random.randint(2, 9), 1), (1000, 1), (2, 2), (3, 3), (99, 7)):
        output = tmp_path / f"{size}.parquet"
        summary = replay_history(
            job,
            output=output,
            format="parquet",
            spark=cast(SparkSession, _NoSpark()),
            statics=statics,
            rows_per_chunk=size,
            rows_per_range=1,
            ranges=ranges,
        )
        assert summary.tuples == sum(len(case.data[s][1]) for s in {m.stream for m in form.members})
        rows = pq.read_table(output).to_pylist()
        for marker in range(case.markers):
            found: Counter[tuple[Any, ...]] = Counter()
            for row in rows:
                at = (row["at"] - EPOCH).microseconds
                if at <= marker:
                    values = tuple(row[v] for v in case.query.variables)
                    found[values] += row.get("multiplicity", 1)
            right = answer(base, query, stamps, distinct=form.distinct, upto=marker)
            times = 1 if form.distinct else len(plans)
            assert found == Counter({r: n * times for r, n in right.items()})
