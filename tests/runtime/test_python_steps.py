"""Nothing is done row by row, or value by value, in Python: twice the rows take as many steps."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import AskedFor, make_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.sources.read_source import BAD
from tests.runtime.count_steps import count_steps

ROWS = 2_000
"""So many rows, and twice as many: more than the steps of a few more rounds of doubling."""
SPARE = ROWS // 10
"""So many steps more are none for each row: tables of hashes are doubled, and probed again."""

Make = Callable[[np.ndarray[Any, np.dtype[np.int64]]], "pa.Array"]


def _times(unit: str, zone: str | None = None) -> Make:
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    return lambda n: pa.array(n * factor).cast(pa.timestamp(unit, zone))


KINDS: Mapping[str, tuple[str, Make]] = {
    "int": ('"int"', lambda n: pa.array(n)),
    "int32": ('"int"', lambda n: pa.array(n.astype(np.int32))),
    "decimal": ('"decimal(12, 2)"', lambda n: pa.array(n / 4).cast(pa.decimal128(12, 2))),
    "double": ('"double"', lambda n: pa.array(n / 3)),
    "boolean": ('"boolean"', lambda n: pa.array(n % 2 == 0)),
    "text": ('"string"', lambda n: pa.array(n).cast(pa.string())),
    "long text": (
        '"string"',
        lambda n: pc.binary_join_element_wise("x" * 70, pa.array(n).cast(pa.string()), "é"),
    ),
    "dictionary": ('"string"', lambda n: pa.array(n).cast(pa.string()).dictionary_encode()),
    "date": ('"date"', lambda n: pa.array(n.astype(np.int32)).cast(pa.date32())),
    "timestamp[s]": ('"timestamp"', _times("s")),
    "timestamp[ms]": ('"timestamp"', _times("ms")),
    "timestamp[us]": ('"timestamp"', _times("us")),
    "timestamp[ns]": ('"timestamp"', _times("ns")),
    "timestamp[us, UTC]": ('"timestamp"', _times("us", "UTC")),
    "timestamp[us, +05:30]": ('"timestamp"', _times("us", "+05:30")),
}
ADDED = {"int", "int32", "decimal"}
FEW = {"int32", "long text", "dictionary", *(k for k in KINDS if k.startswith("timestamp["))} - {
    "timestamp[us, UTC]"
}
"""Kinds that are like others once they are read."""
ORDERED = {*ADDED, "double", "date", *(k for k in KINDS if k.startswith("timestamp"))}

NEAR = "a.ts < b.ts AND b.ts - a.ts <= INTERVAL '3' SECOND"
COUNTED = "COUNT(*) AS n, COUNT(s.v) AS m, COUNT(DISTINCT s.v) AS d"
SQL = {
    "filter": "SELECT s.k, s.v FROM s WHERE s.v IS NOT NULL",
    "join": f"SELECT a.v AS x, b.v AS y FROM s a, s b WHERE a.k = b.k AND {NEAR}",
    "distinct": "SELECT DISTINCT s.k, s.v FROM s",
    "count": f"SELECT s.k, {COUNTED} FROM s GROUP BY s.k",
    "register": "SELECT s.v, r.w FROM s, r WHERE s.k = r.k",
}
ORDERED_SQL = {"extremes": "SELECT s.k, MIN(s.v) AS x, MAX(s.v) AS y FROM s GROUP BY s.k"}
ADDED_SQL = {
    "sums": "SELECT s.k, SUM(s.v) AS x, AVG(s.v) AS y FROM s GROUP BY s.k",
    "median": "SELECT s.k, MEDIAN(s.v) AS x FROM s GROUP BY s.k",
}
APART_SQL = {
    "unequal": "SELECT DISTINCT a.g FROM s a, s b WHERE a.g = b.g AND a.v <> b.v AND a.ts < b.ts",
    "least": "SELECT DISTINCT a.g FROM s a, s b WHERE a.g = b.g AND a.v < b.v AND a.ts < b.ts",
    "apart": """SELECT DISTINCT a.g FROM s a, s b WHERE a.g = b.g AND a.v <> b.v AND a.k < b.k
        AND a.ts < b.ts""",
    "front": """SELECT DISTINCT a.g FROM s a, s b WHERE a.g = b.g AND a.v < b.v AND b.k < a.k
        AND a.ts < b.ts""",
}
"""What is kept of rows that are only compared with later ones."""
SECOND = "date_trunc('second', s.ts)"
BUCKET_SQL = {
    "seconds": f"SELECT {SECOND} AS t, s.k, {COUNTED} FROM s GROUP BY {SECOND}, s.k",
}
COMPUTED_SQL = {
    "int": "SELECT s.v * 2 + 1 AS x FROM s WHERE s.v % 3 = 1",
    "decimal": "SELECT FLOOR(s.v) AS x FROM s WHERE s.v + s.k > 7.5",
    "double": "SELECT CASE WHEN s.v > 9 THEN s.v * 1.8 + 32 ELSE 0.5 END AS x FROM s",
    "text": "SELECT UPPER(s.v) AS x FROM s WHERE LENGTH(s.k) > 1 AND s.v LIKE '%1%'",
    "date": "SELECT YEAR(s.v) AS x FROM s WHERE s.v IS NOT NULL",
}
TEXTS = SQL | ORDERED_SQL | ADDED_SQL | APART_SQL | BUCKET_SQL
MAPPED = {
    "iris": "SELECT ?x ?y { GRAPH ?t { ?x :value ?y } }",
    "iri count": "SELECT ?x (COUNT(*) AS ?n) { GRAPH ?t { ?x :value ?y } } GROUP BY ?x",
}
MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://example.org/> .
[] rr:logicalTable [ rr:tableName "s" ] ; rr:subjectMap [ rr:template "http://example.org/{k}" ] ;
   rr:predicateObjectMap [ rr:predicate :value ; rr:objectMap [ rr:column "v" ] ] .
"""
CASES = [
    (kind, name)
    for kind in KINDS
    for name in (
        *(("filter", "join", "count", "register") if kind not in FEW else ("count",)),
        *(("distinct",) if kind in ("int", "text", "double") else ()),
        *(BUCKET_SQL if kind in ("int", "text") else ()),
        *(ORDERED_SQL if kind in ORDERED - FEW else ()),
        *(ADDED_SQL if kind in ADDED - FEW else ()),
        *(APART_SQL if kind in ("int", "double") else ()),
        *(("unequal",) if kind == "text" else ()),
    )
]


def write(folder: Path, kind: str, rows: int) -> None:
    """A project whose stream has so many rows, with half as many values, and NULL among them."""
    declared, make = KINDS[kind]
    random = np.random.default_rng(rows)
    key, value = (random.integers(0, rows // 2, rows) for _ in range(2))
    times = pa.array(np.arange(rows) // 50 * 1_000_000).cast(pa.timestamp("us"))
    values = make(value)
    if not pa.types.is_dictionary(values.type):
        absent = pa.array(random.random(rows) < 0.1)
        values = pc.if_else(absent, pa.scalar(None, values.type), values)
    columns = {"ts": times, "g": pa.array(key % 10), "k": make(key), "v": values}
    pq.write_table(pa.table(columns), folder / "s.parquet")
    known = np.arange(2 if kind == "boolean" else rows // 2)
    register = make(known)
    if kind == "timestamp[ns]":  # Spark reads no such relation
        register = register.cast(pa.timestamp("us"))
    pq.write_table(pa.table({"k": register, "w": known}), folder / "r.parquet")
    (folder / "ontoweir.toml").write_text(
        f"""
        [project]
        [streams.s]
        source = {{ format = "parquet", path = "s.parquet" }}
        timestamp = {{ column = "ts", unit = "1 second" }}
        references = [{{ columns = ["k"], relation = "r", to = ["k"] }}]
        [streams.s.columns]
        g = {{ type = "int", min = 0, max = 9 }}
        k = {declared}
        v = {declared}
        [relations.r]
        source = {{ format = "parquet", path = "r.parquet" }}
        keys = [["k"]]
        [relations.r.columns]
        k = {declared}
        w = "int"
        """
    )


def compile_job(folder: Path, sql: str) -> QueryJob:
    """A query over a project, bounded or not."""
    workspace = Workspace(load_project(folder, environ={}))
    (folder / "q.sql").write_text(sql)
    compiled = workspace.compile_sql(folder / "q.sql")
    verdict = workspace.check(compiled)
    job, _ = make_job(workspace, compiled, verdict, Statistics(), AskedFor(allow_unbounded=True))
    return job


def count_more(run: Callable[[int], Callable[[], object]]) -> dict[str, int]:
    """By place, how many steps more twice the rows take, where these are many."""
    works = [run(ROWS), run(2 * ROWS)]
    for work in works:
        work()  # imports, and what is kept for the process
    few, many = (count_steps(work) for work in works)
    more = {place: many[place] - few[place] for place in many}
    return {place: count for place, count in more.items() if count > SPARE}


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_replay(kind: str, name: str, tmp_path: Path) -> None:
    def run(rows: int) -> Callable[[], object]:
        folder = tmp_path / str(rows)
        folder.mkdir()
        write(folder, kind, rows)
        job = compile_job(folder, TEXTS[name])
        request = ReplayRequest(folder / "out.parquet", "parquet", rows_per_chunk=10 * ROWS)
        return lambda: replay_history(job, request)

    assert count_more(run) == {}


@pytest.mark.parametrize("kind", COMPUTED_SQL)
def test_expressions(kind: str, tmp_path: Path) -> None:
    def run(rows: int) -> Callable[[], object]:
        folder = tmp_path / str(rows)
        folder.mkdir()
        write(folder, kind, rows)
        job = compile_job(folder, COMPUTED_SQL[kind])
        request = ReplayRequest(folder / "out.parquet", "parquet", rows_per_chunk=10 * ROWS)
        return lambda: replay_history(job, request)

    assert count_more(run) == {}


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in {*FEW, "double"}])
@pytest.mark.parametrize("name", MAPPED)
def test_through_a_mapping(kind: str, name: str, tmp_path: Path) -> None:
    """Values become literals, and keys IRIs (of doubles there are none)."""

    def run(rows: int) -> Callable[[], object]:
        folder = tmp_path / str(rows)
        folder.mkdir()
        write(folder, kind, rows)
        file = folder / "ontoweir.toml"
        file.write_text(
            file.read_text().replace(
                "[project]", '[project]\nmappings = ["mapping.ttl"]\nqueries = ["q.rq"]'
            )
        )
        (folder / "mapping.ttl").write_text(MAPPING)
        (folder / "q.rq").write_text(f"PREFIX : <http://example.org/> {MAPPED[name]}")
        workspace = Workspace(load_project(folder, environ={}))
        compiled = workspace.compile("q")
        verdict = workspace.check(compiled)
        job, _ = make_job(
            workspace, compiled, verdict, Statistics(), AskedFor(allow_unbounded=True)
        )
        request = ReplayRequest(folder / "out.parquet", "parquet", rows_per_chunk=10 * ROWS)
        return lambda: replay_history(job, request)

    assert count_more(run) == {}


@pytest.mark.parametrize("kind", ["int", "text", "double", "decimal", "timestamp[us, UTC]"])
@pytest.mark.parametrize("form", ["all", "distinct", "count"])
def test_live_micro_batch(kind: str, form: str, tmp_path: Path) -> None:
    sql = {"all": "filter", "distinct": "join", "count": "count"}[form]

    def run(rows: int) -> Callable[[], object]:
        folder = tmp_path / str(rows)
        folder.mkdir()
        write(folder, kind, rows)
        job = compile_job(folder, TEXTS[sql])
        table = pq.read_table(folder / "s.parquet")
        statics = {"r": pq.read_table(folder / "r.parquet")}
        live = make_live_job([job], job.catalog, statics, {})
        arrived = pa.table(
            {
                "ts": table.column("ts").cast(pa.int64()),
                **{n: table.column(n) for n in ("g", "k", "v")},
                BAD: pa.nulls(rows, pa.string()),
            }
        )
        begun = advance_live(live, begin_live(live), {"s": arrived.slice(0, 500)}, 0.0).state
        return lambda: advance_live(live, begun, {"s": arrived.slice(500)}, 1.0)

    assert count_more(run) == {}
