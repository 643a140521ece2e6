"""SELECTs around sessions in SPARQL, and sessions of rows beside which others are not, replayed in
ranges, against DuckDB over the same rows."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_jobs import make_job
from tests.oracle.database import open_database
from tests.runtime.in_process import replay_here

MINUTES = 200
START = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = """
[project]
mappings = ["m.ttl"]
queries = ["*.rq"]
[streams.page]
source = { format = "parquet", path = "page" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 3
keys = [["k", "ts"]]
columns = { k = "string", cost = "int" }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <urn:x:> .
<#Page> rr:logicalTable [ rr:tableName "page" ] ;
  rr:subjectMap [ rr:template "urn:page/{k}/{ts}" ; rr:class :Page ] ;
  rr:predicateObjectMap [ rr:predicate :of ; rr:objectMap [ rr:template "urn:user/{k}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :cost ; rr:objectMap [ rr:column "cost" ] ] .
"""
HEAD = """PREFIX : <urn:x:> PREFIX ow: <urn:ontoweir:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
INNER = """{ SELECT ?u ?begin (MAX(?t) AS ?last) (COUNT(*) AS ?n) (SUM(?c) AS ?s)
  WHERE { GRAPH ?t { ?p :of ?u ; :cost ?c } }
  GROUP BY ?u (ow:session(?t, "PT3M"^^xsd:dayTimeDuration) AS ?begin) }"""
NEW = "CASE WHEN ts - LAG(ts) OVER (PARTITION BY k ORDER BY ts) <= {0} THEN 0 ELSE 1 END"
RUNS = "SELECT *, SUM(new) OVER (PARTITION BY k ORDER BY ts) AS run FROM ({0})"
SESSIONS = (
    "SELECT 'urn:user/' || k AS u, MIN(ts) AS begin, MAX(ts) AS last, COUNT(*) AS n, SUM(cost) AS "
    f"s FROM ({RUNS.format('SELECT *, ' + NEW.format(3) + ' AS new FROM page')}) GROUP BY k, run "
    f"HAVING MAX(ts) + 3 <= (SELECT MAX(ts) FROM page)"
)
ALONE = (
    "SELECT * FROM page AS p WHERE ts + 2 <= (SELECT MAX(ts) FROM page) AND NOT EXISTS (SELECT 1 "
    "FROM page AS q WHERE q.k = p.k AND q.ts > p.ts AND q.ts <= p.ts + 2)"
)
ASKED = {
    "filter": (
        f"SELECT ?u ?begin ?last ?n WHERE {{ {INNER} FILTER(?n > 2) }}",
        f"SELECT u, begin, last, n FROM ({SESSIONS}) WHERE n > 2",
    ),
    "days": (
        (
            "SELECT ?hour (COUNT(*) AS ?visits) (SUM(?n) AS ?pages) WHERE { "
            f"{INNER} }} GROUP BY (ow:tumble(?last, 'PT1H'^^xsd:dayTimeDuration) AS ?hour)"
        ),
        (
            f"SELECT last // 60 * 60 AS hour, COUNT(*), SUM(n) FROM ({SESSIONS}) GROUP BY hour "
            "HAVING hour + 60 + 3 <= (SELECT MAX(ts) + 1 FROM page)"
        ),
    ),
    "after": (
        (
            f"SELECT ?u ?last ?c2 WHERE {{ {INNER} GRAPH ?t2 {{ ?p2 :of ?u ; :cost ?c2 }} "
            "FILTER(?t2 > ?last && ?t2 <= ?last + 'PT6M'^^xsd:dayTimeDuration) }"
        ),
        (
            f"SELECT u, last, cost FROM ({SESSIONS}) JOIN page ON 'urn:user/' || k = u AND "
            "ts > last AND ts <= last + 6"
        ),
    ),
    "alone": (
        (
            "SELECT ?u (COUNT(*) AS ?n) WHERE { GRAPH ?t { ?p :of ?u ; :cost ?c } FILTER NOT "
            "EXISTS { GRAPH ?t2 { ?q :of ?u } FILTER(?t2 > ?t && ?t2 <= ?t + "
            "'PT2M'^^xsd:dayTimeDuration) } } "
            "GROUP BY ?u (ow:session(?t, 'PT6M'^^xsd:dayTimeDuration) AS ?begin)"
        ),
        (
            "SELECT 'urn:user/' || k, COUNT(*) FROM ("
            f"{RUNS.format('SELECT *, ' + NEW.format(6) + f' AS new FROM ({ALONE})')}"
            ") GROUP BY k, run HAVING MAX(ts) + 2 + 6 <= (SELECT MAX(ts) FROM page)"
        ),
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_sessions_in_sparql_equal_duckdb(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(name)
    text, plain = ASKED[name]
    (tmp_path / "ontoweir.toml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "m.ttl").write_text(MAPPING, encoding="utf-8")
    (tmp_path / "q.rq").write_text(HEAD + text, encoding="utf-8")
    rows = [
        (k, random.randint(-3, 3), minute)
        for minute in range(MINUTES)
        for k in "abc"
        if random.random() < 0.25
    ]
    _write(rows, tmp_path / "page")
    workspace = Workspace(load_project(tmp_path, environ={}))
    compiled = workspace.compile("q")
    verdict = check_query(compiled.union, workspace.project.catalog)
    assert verdict.plans is not None, verdict
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    expected = _ask(rows, plain)
    assert len(expected) > 2
    for ranges in (1, 3):
        output = tmp_path / f"{ranges}.parquet"
        options: dict[str, Any] = {"ranges": ranges, "rows_per_range": 1, "rows_per_chunk": 7}
        found, _ = replay_here(monkeypatch, job, output, **options)
        assert Counter(_show(found)).items() == expected.items()


def _write(rows: list[tuple[str, int, int]], folder: Path) -> None:
    folder.mkdir()
    times = [START + timedelta(minutes=minute) for _, _, minute in rows]
    table = {"k": [r[0] for r in rows], "cost": [r[1] for r in rows], "ts": times}
    pq.write_table(pa.table(table), folder / "0.parquet", row_group_size=9)


def _ask(rows: list[tuple[str, int, int]], text: str) -> Counter[Any]:
    base = open_database()
    base.execute("CREATE TEMP TABLE page (k VARCHAR, cost BIGINT, ts BIGINT)")
    base.executemany("INSERT INTO page VALUES (?, ?, ?)", rows)
    return Counter(base.execute(text).fetchall())


def _show(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows of answers, with times in minutes, each as often as it counts."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return int((value.replace(tzinfo=UTC) - START).total_seconds()) // 60
        return value

    return [
        tuple(plain(v) for name, v in row.items() if name not in ("at", "multiplicity"))
        for row in rows
        for _ in range(row.get("multiplicity", 1))
    ]
