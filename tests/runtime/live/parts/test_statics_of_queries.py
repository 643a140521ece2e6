"""Queries whose states are divided have static relations of their own: views of one name differ."""

import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.runtime.division import store_statics
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.parts.divide_queries import PartsWanted, divide_queries
from ontoweir.runtime.live.parts.spark_parts import SparkParts
from tests.runtime.harness import make_catalog, make_sql_job

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
[streams.s.columns]
k = { type = "int", min = 0, max = 99 }
"""


def test_each_query_gets_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_statics, "LARGEST_PICKLED", 0)
    catalog = make_catalog(tmp_path, TOML)
    one = replace(make_sql_job("SELECT DISTINCT s.k FROM s", catalog), name="one")
    jobs = [one, replace(one, name="two")]
    job = make_live_job(jobs, catalog, {}, {})
    tables = {"one": {"v": pa.table({"x": [1]})}, "two": {"w": pa.table({"y": ["a", "b"]})}}
    works = {q.name: replace(q.work, statics=tables[q.name]) for q in job.queries}
    job = replace(job, queries=tuple(replace(q, work=works[q.name]) for q in job.queries))
    folder = tmp_path / "parts"
    divided = divide_queries(job, jobs, PartsWanted("spark", 2, 2, {}, 1 << 33, folder)).job
    broadcast: Any = SimpleNamespace(broadcast=lambda content: SimpleNamespace(value=content))
    for _ in range(2):  # as after a start, and after another one
        sent = SparkParts(SimpleNamespace(sparkContext=broadcast), divided, folder)  # type: ignore[arg-type]
        found = {
            name: store_statics.open_statics(pickle.loads(packed.value)).statics
            for name, packed in sent.packed.items()
        }
        assert found == tables
