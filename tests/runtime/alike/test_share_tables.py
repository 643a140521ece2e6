"""Queries share the rows of equal synopses, and none of them notices."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_live_run import check_live, prepare_run
from ontoweir.run.run_options import RunOptions
from ontoweir.runtime.alike.query_shape import AlikeQuery, shape_query
from ontoweir.runtime.alike.share_tables import count_shared, share_tables
from ontoweir.runtime.engine.execution import ExecutionState
from ontoweir.runtime.kept.kept_rows import KeptRows
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.sources.read_source import BAD
from tests.oracle.random_queries import STYLES, make_case
from tests.oracle.run_kernel import few_touched
from tests.runtime.alike.run_together import list_kept, restart
from tests.runtime.alike.test_advance_alike import _vary
from tests.runtime.live_cases import cut_arrivals, make_query, make_table

STREAM = """
[streams.{0}]
source = {{ format = "parquet", path = "{0}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.{0}.columns]
k = {{ type = "int", min = 0, max = 9 }}
a = {{ type = "int", min = 0, max = 9 }}
name = {{ type = "string", enum = ["x", "y", "z"] }}
"""
JOIN = "SELECT s.k, u.a FROM s, u WHERE s.ts < u.ts AND s.k = u.k"
WINDOW = " AND u.ts <= s.ts + INTERVAL '9' SECOND"


def _find_jobs(style: str, seed: int) -> tuple[Any, list[LiveJob]]:
    """A random case, and jobs of queries of which some keep the same."""
    while True:
        case, random = make_case(Random(seed), style=style), Random(seed)
        statics = {n: make_table(case, n, case.data[n][1]) for n in case.catalog.relations}
        jobs = []
        for number in range(4):
            union = _vary(case.query, random) if number > 2 else case.query
            if number == 1:  # the same, in another order
                disjuncts = tuple(
                    replace(q, conditions=q.conditions[::-1]) for q in union.disjuncts
                )
                union = replace(union, disjuncts=disjuncts)
            verdict = check_query(union, case.catalog, disprove=False)
            if verdict.plans:
                query = replace(make_query(case, verdict), name=f"q{number}")
                jobs.append(make_live_job([query], case.catalog, statics, {}))
        if len(jobs) > 2:
            return case, jobs
        seed += 1000


def _share(jobs: list[LiveJob], states: list[LiveState]) -> tuple[list[LiveState], list[int]]:
    queries = [q for state in states for q in state.queries if isinstance(q, ExecutionState)]
    shared = share_tables(queries, [job.queries[0].plans for job in jobs])
    counts = count_shared(shared)
    return [replace(s, queries=(q,)) for s, q in zip(states, shared, strict=True)], counts


def _run(jobs: list[LiveJob], batches: list[dict[str, pa.Table]], random: Random) -> Counter[str]:
    """Each alone, and with what they keep shared, while some are restarted, stand still for a
    batch, or go on again from before: the same answers and states. How many rows were shared."""
    alone, shared = [begin_live(j) for j in jobs], [begin_live(j) for j in jobs]
    counted: Counter[str] = Counter()
    for batch in batches:
        for place, job in enumerate(jobs):
            mine = {h.stream.name: batch[h.stream.name] for h in job.histories}
            one = advance_live(job, alone[place], mine, 0.0)
            before = shared[place]
            if random.random() < 0.1:
                before = restart(job, before)
            other = advance_live(job, before, mine, 0.0)
            if random.random() < 0.1:  # it failed when all had gone on
                other = advance_live(job, before, mine, 0.0)
            assert one.answers == other.answers
            alone[place], shared[place] = one.state, other.state
        held = [list_kept(j.queries[0], s.queries[0]) for j, s in zip(jobs, shared, strict=True)]
        shared, counts = _share(jobs, shared)
        for place, job in enumerate(jobs):
            query = job.queries[0]
            assert list_kept(query, shared[place].queries[0]) == held[place]
            assert held[place] == list_kept(query, alone[place].queries[0])
            assert shared[place].queries[0].rows == alone[place].queries[0].rows
        counted["shared"] += sum(counts)
        queries = [s.queries[0] for s in shared]
        tables = [t for q in queries if isinstance(q, ExecutionState) for k in q.kernels
                  for t in k.stored.values()]  # fmt: skip
        counted["large"] += sum(isinstance(t, KeptRows) and t.shared for t in tables)
    return counted


@pytest.mark.parametrize("style", sorted(STYLES))
def test_shared_is_alone(style: str, pytestconfig: pytest.Config) -> None:
    counted: Counter[str] = Counter()
    for seed in range(200 if pytestconfig.getoption("--long") else 4):
        case, jobs = _find_jobs(style, seed)
        streams = {h.stream.name for job in jobs for h in job.histories}
        batches = cut_arrivals(case, Random(seed), streams)
        counted += _run(jobs, batches, Random(seed))
        with few_touched():
            counted += _run(jobs, batches, Random(seed))
    assert counted["shared"]
    if style == "keyed":
        assert counted["large"]


def _prepare(folder: Path, queries: list[str]) -> list[LiveJob]:
    """Queries over two streams, each prepared by itself as it is registered."""
    (folder / "ontoweir.toml").write_text(STREAM.format("s") + STREAM.format("u"))
    for name in ("s", "u"):
        (folder / name).mkdir()
    workspace = Workspace(load_project(folder, environ={}))
    jobs = []
    for number, sql in enumerate(queries):
        file = folder / f"q{number}.sql"
        file.write_text(sql)
        compiled = workspace.compile_sql(file)
        verdict = check_live(workspace, compiled)
        spark: Any = object()  # reads nothing here
        options = RunOptions(None, folder / "out")
        jobs.append(prepare_run(workspace, [compiled], [verdict], spark, options).job)
    return jobs


def test_queries_that_were_prepared_alone_are_alike(tmp_path: Path) -> None:
    """What names a start of a run is not looked at where no keys are watched."""
    jobs = _prepare(tmp_path, [JOIN + f" AND u.a > {n}" for n in range(3)])
    alike = [AlikeQuery(job.queries[0].work, job.queries[0].plans) for job in jobs]
    shapes = [shape_query(query) for query in alike]
    assert shapes[0] is not None
    assert all(shape is not None and shape.same == shapes[0].same for shape in shapes)


def _count(jobs: list[LiveJob]) -> list[int]:
    """How many rows each query shares with those before it."""
    random = Random(1)
    states = [begin_live(job) for job in jobs]
    counts: list[int] = []
    for start in (0, 20, 40):
        arrived = {
            name: pa.table(
                {
                    "ts": pa.array([t * 1_000_000 for t in range(start, start + 20)], pa.int64()),
                    "k": pa.array([random.randrange(10) for _ in range(20)], pa.int64()),
                    "a": pa.array([random.randrange(10) for _ in range(20)], pa.int64()),
                    "name": pa.array([random.choice("xyz") for _ in range(20)]),
                    BAD: pa.nulls(20, pa.string()),
                }
            )
            for name in ("s", "u")
        }
        for place, job in enumerate(jobs):
            mine = {
                h.stream.name: arrived[h.stream.name].select(
                    list(dict.fromkeys(["ts", *h.columns, BAD]))
                )
                for h in job.histories
            }
            states[place] = advance_live(job, states[place], mine, 0.0).state
        states, counts = _share(jobs, states)
    return counts


def test_what_differs_elsewhere_is_shared(tmp_path: Path) -> None:
    queries = [
        JOIN,
        "SELECT y.a AS other FROM u AS y, s AS x WHERE x.k = y.k AND x.ts < y.ts",  # renamed
        JOIN + " AND u.a > 5",  # another constant of another member
        JOIN.replace("s.k, u.a", "s.k, u.name"),  # another output
        "SELECT s.k, COUNT(*) AS n FROM s, u WHERE s.ts < u.ts AND s.k = u.k GROUP BY s.k",
    ]
    assert _count(_prepare(tmp_path, queries)) == [0, 10, 10, 10, 10]


def test_twin_what_keeps_other_rows_is_not_shared(tmp_path: Path) -> None:
    queries = [JOIN, JOIN + " AND s.a > 5", JOIN + WINDOW, JOIN + WINDOW.replace("9", "8")]
    assert _count(_prepare(tmp_path, queries)) == [0, 0, 0, 0]
