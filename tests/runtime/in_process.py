"""Replays whose tasks run in this process, over random files."""

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
from duckdb import DuckDBPyConnection
from pyspark.sql import SparkSession

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.units import Units
from ontoweir.mappings.model.catalog import Catalog, DataSource
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.ingest.encode_statics import StaticData, encode_static, used_columns
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.replay import run_ranges as module
from ontoweir.runtime.replay.ranges.replay_range import (
    RangeOutcome,
    RangeTask,
    replay_range,
    unpack_outcome,
)
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.replay.replay_summary import ReplaySummary
from tests.oracle.random_queries import Case
from tests.oracle.relational import load

EPOCH = datetime(1970, 1, 1)


class _Broadcast:
    def __init__(self, content: bytes) -> None:
        self.value = content

    def destroy(self) -> None:
        """Nothing to free."""


class _NoSpark:
    """Stands for session and context: replays that need no reader of Spark's."""

    defaultParallelism = 2

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


def arrow_table(case: Case, name: str) -> pa.Table:
    """A table of a case, in its declared types."""
    columns, rows = case.data[name]
    declared = case.catalog.table(name)
    cells = {}
    for i, c in enumerate(columns):
        column = declared.column(c)
        kind = pa.int64() if column is None else arrow_type(column.type)
        cells[c] = pa.array([r[i] for r in rows], kind, from_pandas=False)
    return pa.table(cells)


def load_admitted(case: Case) -> DuckDBPyConnection:
    """The tuples that a run lets in, in DuckDB: NaN is not a value, whatever is asked."""
    data = {
        name: (columns, [row for row in rows if not any(v != v for v in row)])
        for name, (columns, rows) in case.data.items()
    }
    return load(data, case.types)


def encode_statics(case: Case, form: NormalForm, pool: StringPool) -> dict[str, StaticData]:
    """The static relations of a case that a disjunct looks at."""
    used = used_columns(form)
    for group in form.classes:
        for table, column in group.domain.within:
            used.setdefault(table, set()).add(column)
    return {
        name: encode_static(
            relation, arrow_table(case, name), used[name], Units(form.unit, {}, form.floats), pool
        )
        for name, relation in case.catalog.relations.items()
        if name in used
    }


def store(case: Case, random: Random, folder: Path) -> tuple[Catalog, dict[str, pa.Table]]:
    """Files of all streams, cut at random; the catalog that names them, and the static data."""
    streams, statics = {}, {}
    for name in case.data:
        table = arrow_table(case, name)
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


def replay_here(
    monkeypatch: pytest.MonkeyPatch, job: QueryJob, output: Path, **options: Any
) -> tuple[list[dict[str, Any]], ReplaySummary]:
    """Replay without Spark: the rows, and the summary."""
    monkeypatch.setattr(module, "run_ranges", _run_here)
    spark = cast(SparkSession, _NoSpark())
    statics = options.pop("statics", None)
    request = ReplayRequest(output, "parquet", **{"engine": "spark", **options})
    summary = replay_history(job, request, spark=spark, statics=statics)
    return pq.read_table(output).to_pylist(), summary


def answers_upto(rows: list[dict[str, Any]], variables: Sequence[str], marker: int) -> Counter[Any]:
    """The answers told at a marker (µs since 1970) or before."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        if (row["at"] - EPOCH).microseconds <= marker:
            found[tuple(row[v] for v in variables)] += row.get("multiplicity", 1)
    return found
