"""Queries that are alike, advanced together and each by itself: CPU, without files and Spark.

    .venv/bin/python benchmarks/live/alike_speed.py [--queries 1 10 100] [--markers 60] [--rows 333]

The queries of `serving.py`, over numbers and over texts, with different constants, each kind by
itself and all kinds in one job; `rows` rows of each stream for every timestamp, a micro-batch each.
Prints for each the CPU of a marker in milliseconds, of both ways, as medians. Answers are compared.
"""

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from live_latency import STREAM, STREAMS
from serving import KINDS, TEXT_KINDS, TEXTS, column_types

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live import advance_live as live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.sources.read_source import BAD

NAMES = ("filter", "join", "join of three", "count by key", "distinct")


def make_job(catalog: Catalog, texts: list[str]) -> LiveJob:
    """The live job of some queries."""
    queries = []
    for number, sql in enumerate(texts):
        union = parse_sql(sql, catalog, name=f"q{number}", file="q.sql")
        verdict = check_query(union, catalog, disprove=False)
        assert verdict.plans is not None, sql
        assert verdict.bound is not None, sql
        parts = tuple((p.part, len(p.plans)) for p in verdict.parts)
        job = QueryJob("q", verdict.union, verdict.plans, catalog, verdict.bound.rows, parts=parts)
        queries.append(replace(job, name=f"q{number}"))
    return make_live_job(queries, catalog, {}, {})


def make_batches(markers: int, rows: int, *, texts: bool) -> list[dict[str, pa.Table]]:
    """Micro-batches of a timestamp each."""
    random = np.random.default_rng(7)
    batches = []
    for marker in range(markers):
        batch = {}
        for name, columns in STREAMS.items():
            cells: dict[str, Any] = {"ts": pa.array(np.full(rows, marker * 1_000_000))}
            for column in columns:
                held = pa.array(random.integers(0, 200, rows))
                if texts and column in TEXTS:
                    held = pa.array([f"k{number}" for number in held.to_pylist()])
                cells[column] = held
            batch[name] = pa.table({**cells, BAD: pa.nulls(rows, pa.string())})
        batches.append(batch)
    return batches


def run(job: LiveJob, batches: list[dict[str, pa.Table]]) -> tuple[float, list[Any]]:
    """Milliseconds of CPU of a marker, the median, and all answers."""
    state, taken, answers = live.begin_live(job), [], []
    streams = {h.stream.name for h in job.histories}
    for batch in batches:
        mine = {name: table for name, table in batch.items() if name in streams}
        begun = time.process_time()
        outcome = live.advance_live(job, state, mine, 0.0)
        taken.append(1000 * (time.process_time() - begun))
        state = outcome.state
        answers.append([table.to_pylist() for table in outcome.answers])
    return statistics.median(taken[len(taken) // 4 :]), answers


def measure(folder: Path, count: int, given: argparse.Namespace, *, texts: bool) -> dict[str, Any]:
    """So many queries of each kind, and as many of all kinds."""
    declared = "".join(
        STREAM.format(name, folder, "") + column_types(columns, texts=texts)
        for name, columns in STREAMS.items()
    )
    (folder / "ontoweir.toml").write_text(declared)
    catalog = load_project(folder, environ={}).catalog
    kinds = TEXT_KINDS if texts else KINDS
    jobs = {
        name: [kind.format(n % 100, n % 100 + 20) for n in range(count)]
        for name, kind in zip(NAMES, kinds, strict=True)
    }
    lows = [3 * (n // len(kinds)) % 100 for n in range(count)]
    jobs["all"] = [kinds[n % len(kinds)].format(low, low + 20) for n, low in enumerate(lows)]
    batches = make_batches(given.markers, given.rows, texts=texts)
    together = live.advance_alike
    shown: dict[str, Any] = {"queries": count, "values": "texts" if texts else "numbers"}
    for name, sqls in jobs.items():
        job = make_job(catalog, sqls)
        ms, answers = run(job, batches)
        live.advance_alike = lambda *_: {}
        alone, same = run(job, batches)
        live.advance_alike = together
        assert answers == same, name
        shown[name] = {"together": round(ms, 2), "alone": round(alone, 2)}
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--markers", type=int, default=60)
    parser.add_argument("--rows", type=int, default=333)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ontoweir-alike-") as name:
        for count in given.queries:
            for texts in (False, True):
                print(json.dumps(measure(Path(name), count, given, texts=texts)), flush=True)


if __name__ == "__main__":
    main()
