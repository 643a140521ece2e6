"""Static data beside which patterns of streams match, or do not, in SPARQL: the changes of a
replay, as DuckDB answers the same question over the tables at every time from the first row on."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import make_job
from tests.oracle.database import open_database
from tests.runtime.in_process import replay_here

MINUTES = 40
START = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = """
[project]
mappings = ["m.ttl"]
queries = ["*.rq"]
[streams.reading]
source = { format = "parquet", path = "reading" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 6
keys = [["sensor", "ts"]]
columns = { sensor = "int", v = "int" }
references = [{ columns = ["sensor"], relation = "sensor", to = ["id"] }]
[streams.repair]
source = { format = "parquet", path = "repair" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 6
columns = { sensor = { type = "int", min = 0, max = 9 } }
[relations.sensor]
source = { format = "csv", path = "sensor.csv", options = { header = "true" } }
keys = [["id"]]
max_rows = 6
columns = { id = "int", room = { type = "string", enum = ["a", "b"] } }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <urn:x:> .
<#Sensor> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "urn:sensor/{id}" ; rr:class :Sensor ] ;
  rr:predicateObjectMap [ rr:predicate :in ; rr:objectMap [ rr:template "urn:room/{room}" ] ] .
<#Reading> rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "urn:reading/{sensor}/{ts}" ; rr:class :Reading ] ;
  rr:predicateObjectMap [ rr:predicate :of ; rr:objectMap [ rr:template "urn:sensor/{sensor}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] .
<#Repair> rr:logicalTable [ rr:tableName "repair" ] ;
  rr:subjectMap [ rr:template "urn:sensor/{sensor}" ; rr:class :Repaired ] .
"""
HEAD = "PREFIX : <urn:x:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
LATE = "GRAPH ?t { ?r :of ?s } FILTER(?t > NOW() - 'PT7M'^^xsd:dayTimeDuration)"
FAST = f"{LATE[:-1]} && ?v > 0)".replace(":of ?s", ":of ?s ; :v ?v")
RECENT = "SELECT 1 FROM reading AS r WHERE r.sensor = s.id AND r.ts > {now} - 7"
SENSOR = "SELECT 'urn:sensor/' || id FROM sensor AS s WHERE "
ASKED = {
    "absent": (
        f"SELECT ?s WHERE {{ ?s a :Sensor FILTER NOT EXISTS {{ {LATE} }} }}",
        f"{SENSOR}NOT EXISTS ({RECENT})",
    ),
    "minus": (
        f"SELECT DISTINCT ?s WHERE {{ ?s a :Sensor MINUS {{ {FAST} }} }}",
        f"{SENSOR}NOT EXISTS ({RECENT} AND r.v > 0)",
    ),
    "optional": (
        f"SELECT ?s ?room WHERE {{ ?s :in ?room OPTIONAL {{ {LATE} }} FILTER(!BOUND(?r)) }}",
        (
            f"{SENSOR.replace(' FROM', ', ' + chr(39) + 'urn:room/' + chr(39) + ' || room FROM')}"
            f"NOT EXISTS ({RECENT})"
        ),
    ),
    "present": (
        f"SELECT ?s WHERE {{ ?s a :Sensor FILTER EXISTS {{ {FAST} }} }}",
        f"{SENSOR}EXISTS ({RECENT} AND r.v > 0)",
    ),
    "never": (
        "SELECT DISTINCT ?s WHERE { ?s a :Sensor FILTER NOT EXISTS { GRAPH ?t { ?r :of ?s } } }",
        f"{SENSOR}NOT EXISTS (SELECT 1 FROM reading AS r WHERE r.sensor = s.id)",
    ),
    "rooms": (
        f"SELECT ?room WHERE {{ ?s :in ?room FILTER NOT EXISTS {{ {LATE} }} }}",
        "SELECT 'urn:room/' || room FROM sensor AS s WHERE NOT EXISTS (" + RECENT + ")",
    ),
    "both": (
        (
            f"SELECT ?s WHERE {{ ?s a :Sensor FILTER NOT EXISTS {{ {LATE} }} FILTER NOT EXISTS "
            "{ GRAPH ?u { ?s a :Repaired } FILTER(?u > NOW() - 'PT5M'^^xsd:dayTimeDuration) } }"
        ),
        (
            f"{SENSOR}NOT EXISTS ({RECENT}) AND NOT EXISTS (SELECT 1 FROM repair AS p WHERE "
            "p.sensor = s.id AND p.ts > {now} - 5)"
        ),
    ),
    "together": (
        (
            "SELECT DISTINCT ?room WHERE { ?s :in ?room FILTER(?room != <urn:room/c>) FILTER NOT "
            f"EXISTS {{ ?o :in ?room . {LATE.replace('?s', '?o')} }} }}"
        ),
        (
            "SELECT DISTINCT 'urn:room/' || room FROM sensor AS s WHERE NOT EXISTS (SELECT 1 FROM "
            "sensor AS o JOIN reading AS r ON r.sensor = o.id WHERE o.room = s.room AND r.ts > "
            "{now} - 7)"
        ),
    ),
}

READ = "GRAPH ?t { ?r :of ?s ; :v ?v }"
LATER = "FILTER NOT EXISTS { GRAPH ?u { ?o :of ?s ; :v ?w } FILTER(?u > ?t"
LAST = "QUALIFY ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY ts DESC) = 1) AS l"
BESIDE = f"FROM sensor AS s LEFT JOIN (SELECT * FROM reading {LAST} ON l.sensor = s.id"
ASKED |= {
    "latest": (
        f"SELECT ?s ?v WHERE {{ ?s a :Sensor OPTIONAL {{ {READ} {LATER}) }} }} }}",
        f"SELECT 'urn:sensor/' || s.id, l.v {BESIDE}",
    ),
    "latest of all": (
        (
            f"SELECT * WHERE {{ ?s a :Sensor OPTIONAL {{ {READ} {LATER}) }} }} ?s :in ?room "
            "FILTER(?room != <urn:room/a>) }"
        ),
        (
            "SELECT 'urn:sensor/' || s.id, 'urn:reading/' || l.sensor || '/' || strftime(TIMESTAMP "
            "'2026-01-01' + to_minutes(l.ts), '%Y-%m-%dT%H%%3A%M%%3A%S'), l.v, "
            f"'urn:room/' || s.room {BESIDE} WHERE s.room <> 'a'"
        ),
    ),
    "latest of some": (
        (
            f"SELECT ?room ?v WHERE {{ ?s :in ?room OPTIONAL {{ {READ} FILTER(?v > 0) {LATER} && "
            "?w > 0) } } }"
        ),
        "SELECT 'urn:room/' || s.room, l.v "
        + BESIDE.replace("FROM reading", "FROM reading WHERE v > 0"),
    ),
    "greatest time": (
        (
            "SELECT DISTINCT ?v WHERE { ?s a :Sensor OPTIONAL { { SELECT ?s (MAX(?u) AS ?t) { "
            f"GRAPH ?u {{ ?o :of ?s ; :v ?w }} }} GROUP BY ?s }} {READ} }} }}"
        ),
        f"SELECT DISTINCT l.v {BESIDE}",
    ),
}

WEEK = "NOW() - 'PT7M'^^xsd:dayTimeDuration"
ASKED |= {
    "silent": (
        f"SELECT ?s WHERE {{ GRAPH ?t {{ ?r :of ?s }} }} GROUP BY ?s HAVING (MAX(?t) < {WEEK})",
        "SELECT 'urn:sensor/' || sensor FROM reading GROUP BY sensor HAVING MAX(ts) < {now} - 7",
    ),
    "silent, counted": (
        (
            "SELECT ?s (COUNT(*) AS ?n) (MAX(?t) AS ?last) (SUM(?v) AS ?sum) WHERE { GRAPH ?t { "
            f"?r :of ?s ; :v ?v }} }} GROUP BY ?s HAVING (?last <= {WEEK} && COUNT(?r) > 1)"
        ),
        (
            "SELECT 'urn:sensor/' || sensor, COUNT(*), TIMESTAMP '2026-01-01' + to_minutes("
            "CAST(MAX(ts) AS INTEGER)), CAST(SUM(v) AS BIGINT) FROM reading GROUP BY sensor HAVING "
            "MAX(ts) <= {now} - 7 AND COUNT(*) > 1"
        ),
    ),
    "seen": (
        (
            "SELECT ?room (SUM(?v) AS ?sum) WHERE { ?s :in ?room GRAPH ?t { ?r :of ?s ; :v ?v } } "
            f"GROUP BY ?room HAVING (COUNT(*) > 0) ({WEEK} < MAX(?t))"
        ),
        (
            "SELECT 'urn:room/' || room, CAST(SUM(v) AS BIGINT) FROM sensor AS s JOIN "
            "reading AS r ON r.sensor = s.id GROUP BY room HAVING MAX(ts) > "
            "{now} - 7"
        ),
    ),
}
ASKED |= {
    "rooms, once": (
        f"SELECT DISTINCT ?room WHERE {{ ?s :in ?room FILTER NOT EXISTS {{ {LATE} }} }}",
        "SELECT DISTINCT 'urn:room/' || room FROM sensor AS s WHERE NOT EXISTS (" + RECENT + ")",
    ),
    "the latest, where it is": (
        f"SELECT ?s WHERE {{ ?s a :Sensor OPTIONAL {{ {READ} {LATER}) }} }} FILTER(?v > 0) }}",
        f"SELECT 'urn:sensor/' || s.id {BESIDE} WHERE l.v > 0",
    ),
    "until a later one is": (
        f"SELECT ?s WHERE {{ ?s a :Sensor OPTIONAL {{ {READ} {LATER} && ?w > 0) }} }} }}",
        (
            "SELECT 'urn:sensor/' || s.id FROM sensor AS s LEFT JOIN reading AS r ON r.sensor = "
            "s.id AND NOT EXISTS (SELECT 1 FROM reading AS o WHERE o.sensor = r.sensor AND o.ts > "
            "r.ts AND o.v > 0)"
        ),
    ),
}
GRID = "<urn:ontoweir:floor>(NOW(), 'PT4M'^^xsd:dayTimeDuration)"
STEPS = (
    f"GRAPH ?t {{ ?r :of ?s ; :v ?v }} FILTER(?t > {GRID} - 'PT7M'^^xsd:dayTimeDuration && "
    f"?t <= {GRID} && ?v > 0)"
)
STEPPED = "SELECT 1 FROM reading AS r WHERE r.sensor = s.id AND r.ts > {now} // 4 * 4 - 7 AND r.ts "
STEPPED += "<= {now} // 4 * 4 AND r.v > 0"
ASKED |= {
    "absent on a grid": (
        f"SELECT DISTINCT ?s WHERE {{ ?s a :Sensor FILTER NOT EXISTS {{ {STEPS} }} }}",
        f"{SENSOR}NOT EXISTS ({STEPPED})",
    ),
    "present on a grid": (
        f"SELECT ?s WHERE {{ ?s a :Sensor FILTER EXISTS {{ {STEPS} }} }}",
        f"{SENSOR}EXISTS ({STEPPED})",
    ),
    "on a grid, and not": (
        (
            f"SELECT ?s WHERE {{ ?s a :Sensor FILTER NOT EXISTS {{ {STEPS} }} FILTER NOT EXISTS "
            "{ GRAPH ?u { ?s a :Repaired } FILTER(?u > NOW() - 'PT5M'^^xsd:dayTimeDuration) } }"
        ),
        (
            f"{SENSOR}NOT EXISTS ({STEPPED}) AND NOT EXISTS (SELECT 1 FROM repair AS p WHERE "
            "p.sensor = s.id AND p.ts > {now} - 5)"
        ),
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_registers_in_sparql_equal_duckdb(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(name)
    text, plain = ASKED[name]
    workspace = _write_project(text, tmp_path)
    data = _make_data(random, tmp_path)
    compiled = workspace.compile("q")
    verdict = check_query(compiled.union, workspace.project.catalog)
    assert verdict.plans is not None, verdict
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    job = replace(job, emit=Emit.CHANGES)
    options: dict[str, Any] = {"ranges": 1, "rows_per_range": 1, "rows_per_chunk": 7}
    found, summary = replay_here(monkeypatch, job, tmp_path / "a.parquet", **options)
    assert len(found) > 3
    bound = bound_changes(verdict, workspace.project.catalog).rows
    assert bound is None or summary.state_rows_max <= bound
    base = open_database()
    base.execute("CREATE TEMP TABLE all_reading (sensor BIGINT, v BIGINT, ts BIGINT)")
    base.execute("CREATE TEMP TABLE all_repair (sensor BIGINT, ts BIGINT)")
    base.execute("CREATE TEMP TABLE sensor (id BIGINT, room VARCHAR)")
    base.executemany("INSERT INTO sensor VALUES (?, ?)", data["sensor"])
    base.executemany("INSERT INTO all_reading VALUES (?, ?, ?)", data["reading"])
    base.executemany("INSERT INTO all_repair VALUES (?, ?)", data["repair"])
    read = ["reading", "repair"] if "repair" in plain else ["reading"]
    times = [row[-1] for n in read for row in data[n]]
    for minute in range(max(times) + 1):
        for table in ("reading", "repair"):
            base.execute(
                f"CREATE OR REPLACE TEMP VIEW {table} AS FROM all_{table} WHERE ts <= {minute}"
            )
        asked = plain.replace("{now}", str(minute))
        expected = Counter(base.execute(asked).fetchall()) if minute >= min(times) else Counter()
        assert _hold(found, minute) == expected, (minute, text)


@pytest.mark.parametrize(
    "having",
    [
        f"(MAX(?t) < {WEEK} || COUNT(*) > 1)",
        f"(MIN(?t) < {WEEK})",
        f"(!(MAX(?t) < {WEEK}))",
        f"(MAX(?t) < {WEEK}) (MAX(?t) > {WEEK})",
        f"(MAX(?t) = {WEEK})",
    ],
)
def test_other_comparisons_with_now_are_refused(having: str, tmp_path: Path) -> None:
    text = f"SELECT ?s WHERE {{ GRAPH ?t {{ ?r :of ?s }} }} GROUP BY ?s HAVING {having}"
    with pytest.raises(QueryError, match=r"NOW\(\)"):
        _write_project(text, tmp_path).compile("q")


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?s ?v WHERE {{ OPTIONAL {{ {READ} {LATER}) }} }} ?s :in ?room }}",
        f"SELECT ?s ?v WHERE {{ ?s :in ?v OPTIONAL {{ {READ} {LATER}) }} FILTER(?s != ?v) }} }}",
        f"SELECT ?s WHERE {{ ?s :in ?x OPTIONAL {{ {READ} {LATER} && ?x != <urn:room/a>) }} }} }}",
    ],
)
def test_what_is_no_latest_one_of_the_key_is_refused(text: str, tmp_path: Path) -> None:
    """What is behind OPTIONAL is joined with what it found; and a later row of other patterns takes
    no place."""
    with pytest.raises(QueryError):
        _write_project(text, tmp_path).compile("q")


def test_windows_beside_rows_are_refused(tmp_path: Path) -> None:
    text = f"SELECT ?p WHERE {{ GRAPH ?u {{ ?p :of ?s }} FILTER NOT EXISTS {{ {LATE} }} }}"
    with pytest.raises(QueryError, match="read beside patterns of static data"):
        _write_project(text, tmp_path).compile("q")


def _write_project(text: str, folder: Path) -> Workspace:
    (folder / "ontoweir.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "m.ttl").write_text(MAPPING, encoding="utf-8")
    (folder / "q.rq").write_text(HEAD + text, encoding="utf-8")
    return Workspace(load_project(folder, environ={}))


def _make_data(random: Random, folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    sensors = [(n, random.choice("ab")) for n in range(6)]
    readings = [
        (n, random.randint(-3, 3), minute)
        for minute in range(2, MINUTES)
        for n in range(5)
        if random.random() < 0.08
    ]
    repairs = [(random.randrange(6), minute) for minute in range(5, MINUTES, 4)]
    lines = ["id,room", *(f"{n},{room}" for n, room in sensors)]
    (folder / "sensor.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, columns, rows in (
        ("reading", ["sensor", "v"], readings),
        ("repair", ["sensor"], repairs),
    ):
        (folder / name).mkdir()
        table: dict[str, list[Any]] = {c: [r[n] for r in rows] for n, c in enumerate(columns)}
        table["ts"] = [START + timedelta(minutes=r[-1]) for r in rows]
        pq.write_table(pa.table(table), folder / name / "0.parquet", row_group_size=9)
    return {"sensor": list(sensors), "reading": list(readings), "repair": list(repairs)}


def _hold(rows: list[dict[str, Any]], minute: int) -> Counter[Any]:
    """What holds at a minute."""
    held: Counter[Any] = Counter()
    for row in rows:
        at = row["at"].replace(tzinfo=UTC) - START
        if at <= timedelta(minutes=minute):
            cells = [v for n, v in row.items() if n not in ("op", "at", "multiplicity")]
            shown = tuple(v.replace(tzinfo=None) if isinstance(v, datetime) else v for v in cells)
            held[shown] += {"+": 1, "-": -1}[row["op"]] * row.get("multiplicity", 1)
    return +held
