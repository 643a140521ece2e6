"""The latest value of each sensor, of two, or many, streams under one class, with what a static
relation says of it: what holds at every time is what is found by hand, and it is bounded."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir

ONTOLOGY = """@prefix : <http://ex.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Reading a owl:Class . :sensor a owl:ObjectProperty .
:value a owl:DatatypeProperty . :room a owl:DatatypeProperty .
"""
STREAM = """[streams.s{n}]
source = {{ format = "parquet", path = "s{n}.parquet" }}
timestamp = {{ column = "ts", unit = "minute" }}
keys = [["sensor", "ts"]]
[streams.s{n}.columns]
sensor = {{ type = "int", min = 0, max = 3 }}
v = "int"
"""
PROJECT = """[relations.sensor]
source = { format = "parquet", path = "sensor.parquet" }
keys = [["id"]]
max_rows = 4
[relations.sensor.columns]
id = "int"
room = "string"
[project]
ontology = "o.ttl"
mappings = ["m.ttl"]
queries = []
"""
MAP = """<#s{n}> rr:logicalTable [ rr:tableName "s{n}" ] ;
  rr:subjectMap [ rr:template "http://ex.org/s{n}/{{sensor}}/{{ts}}" ; rr:class :C{n} ] ;
  rr:predicateObjectMap [ rr:predicate :sensor ;
    rr:objectMap [ rr:template "http://ex.org/{kind}/{{sensor}}" ] ] ,
    [ rr:predicate :value ; rr:objectMap [ rr:column "v" ] ] .
"""
SENSORS = """<#r> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "http://ex.org/sensor/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :room ; rr:objectMap [ rr:column "room" ] ] .
"""
ROOMS = {0: "hall", 1: "lab", 2: "hall"}
ROW, LATER = "?o a :Reading ; :sensor ?s ; :value ?v", "?p a :Reading ; :sensor ?s ; :value ?w"
BEGIN = datetime(2026, 3, 1)
Rows = list[tuple[datetime, str, int, int]]
"""When, of which kind of sensors, which one, and its value."""


def write_classes(folder: Path, streams: int, random: Random, *, apart: bool) -> Rows:
    """A project, and the rows of all streams; `apart`: each has sensors of its own."""
    rows: Rows = []
    for n in range(streams):
        own = [
            (BEGIN + timedelta(minutes=place // 4), place % 4, random.randrange(5))
            for place in random.sample(range(48), random.randint(1, 16 if streams < 4 else 4))
        ]
        own.sort()
        rows += [(at, _kind(n, apart), sensor, value) for at, sensor, value in own]
        columns = [list(c) for c in zip(*own, strict=True)]
        kinds = (pa.timestamp("us", "UTC"), pa.int64(), pa.int64())
        made = {
            k: pa.array(c, t) for k, c, t in zip(("ts", "sensor", "v"), columns, kinds, strict=True)
        }
        pq.write_table(pa.table(made), folder / f"s{n}.parquet")
    table = {"id": list(ROOMS), "room": list(ROOMS.values())}
    pq.write_table(pa.table(table), folder / "sensor.parquet")
    classes = "\n".join(f":C{n} rdfs:subClassOf :Reading ." for n in range(streams))
    (folder / "o.ttl").write_text(ONTOLOGY + classes, encoding="utf-8")
    prefixes = "@prefix : <http://ex.org/> .\n@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
    maps = "".join(MAP.format(n=n, kind=_kind(n, apart)) for n in range(streams))
    (folder / "m.ttl").write_text(prefixes + maps + ("" if apart else SENSORS), encoding="utf-8")
    declared = "".join(STREAM.format(n=n) for n in range(streams))
    (folder / "ontoweir.toml").write_text(declared + PROJECT, encoding="utf-8")
    return rows


def _kind(n: int, apart: bool) -> str:
    return f"sensor{n}" if apart else "sensor"


def _latest(
    rows: Rows, now: datetime, *, least: int, ends_all: bool, rooms: bool
) -> Counter[object]:
    """What holds: of each sensor the rows of its latest time; `least`: of values that are so great,
    which any row ends, or (not `ends_all`) one such."""
    found: Counter[object] = Counter()
    for at, kind, sensor, value in rows:
        if at > now or value < least or (rooms and sensor not in ROOMS):
            continue
        later = [r for r in rows if at < r[0] <= now and r[1:3] == (kind, sensor)]
        if not any(ends_all or v >= least for *_, v in later):
            name = f"http://ex.org/{kind}/{sensor}"
            found[(name, ROOMS[sensor], value) if rooms else (name, value)] += 1
    return found


@pytest.mark.parametrize("streams", [1, 2, 3, 9])
@pytest.mark.parametrize("shape", ["plain", "filtered", "ended by all", "rooms", "apart"])
def test_the_latest_of_all_streams_of_a_class(tmp_path: Path, streams: int, shape: str) -> None:
    random = Random(f"{streams} {shape}")
    rows = write_classes(tmp_path, streams, random, apart=shape == "apart")
    least = 2 if shape in ("filtered", "ended by all") else 0
    kept = f"FILTER(?v >= {least})" if least else ""
    ended = kept.replace("?v", "?w") if shape == "filtered" else ""
    beside = "?s :room ?r ." if shape == "rooms" else ""
    text = f"""PREFIX : <http://ex.org/>
SELECT ?s {"?r " if beside else ""}?v {{ GRAPH ?t {{ {ROW} }} {beside} {kept}
  FILTER NOT EXISTS {{ GRAPH ?u {{ {LATER} }} FILTER(?u > ?t) {ended} }} }}"""
    project = ontoweir.open_project(tmp_path)
    checked = project.check(text)
    assert checked.bound is not None, checked.tier
    names = ("s", "r", "v") if beside else ("s", "v")
    answers = project.replay(text, emit="changes")
    told = answers.to_arrow().to_pylist()
    assert answers.summary["state_rows_max"] <= answers.summary["bound_rows"]
    holding: Counter[object] = Counter()
    ends_all = shape == "ended by all"
    last = max(at for at, *_ in rows)
    for minute in range(13):
        now = BEGIN + timedelta(minutes=minute)
        if now > last:
            break
        for row in told:
            if row["at"].replace(tzinfo=None) == now:
                sign = 1 if row["op"] == "+" else -1
                holding[tuple(row[n] for n in names)] += sign
        wanted = _latest(rows, now, least=least, ends_all=ends_all, rooms=bool(beside))
        assert +holding == wanted, (minute, text)
        assert sum(holding.values()) <= (checked.bound.rows or 0)
