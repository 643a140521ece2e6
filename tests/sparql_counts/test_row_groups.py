"""Groups of rows by a node that a key gives one row, of which not all is shown: what came before
each row is final at its time, and so is what is asked of it."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.checker.verdict.verdict import Tier

PROJECT = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = []
[streams.login]
source = { format = "parquet", path = "login.parquet" }
timestamp = { column = "ts", unit = "minute" }
max_per_timestamp = 3
keys = [KEY]
[streams.login.columns]
id = "int"
usr = { type = "string", enum = ["u", "v", "w"] }
src = "string"
[streams.failure]
source = { format = "parquet", path = "failure.parquet" }
timestamp = { column = "ts", unit = "minute" }
max_per_timestamp = 3
[streams.failure.columns]
src = "string"
"""
MAPS = """@prefix : <http://e/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .
<#L> rr:logicalTable [ rr:tableName "login" ] ;
  rr:subjectMap [ rr:template "http://e/login/{id}" ; rr:class :Login ] ;
  rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://e/u/{usr}" ] ] ,
    [ rr:predicate :from ; rr:objectMap [ rr:template "http://e/ip/{src}" ] ] .
<#F> rr:logicalTable [ rr:tableName "failure" ] ;
  rr:subjectMap [ rr:template "http://e/failure/{src}" ; rr:class :Failure ] ;
  rr:predicateObjectMap [ rr:predicate :at ; rr:objectMap [ rr:template "http://e/ip/{src}" ] ] .
"""
ONTOLOGY = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:by a owl:ObjectProperty . :from a owl:ObjectProperty . :at a owl:ObjectProperty .
:Login a owl:Class . :Failure a owl:Class .
"""
BEGIN = datetime(2026, 3, 1)
BEFORE = """GRAPH ?s { ?l a :Login ; :by ?u ; :from ?ip } GRAPH ?t { ?f :at ?ip }
  FILTER(?t < ?s && ?t >= ?s - "PT9M"^^xsd:dayTimeDuration)"""
PREFIX = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
Events = list[tuple[int, str, str, int]]


@pytest.fixture
def events(tmp_path: Path) -> Events:
    """A project; and its logins: the minute, who, from where, and how many failures before."""
    random = Random(5)
    (tmp_path / "ontoweir.toml").write_text(PROJECT.replace("KEY", '["id"]'))
    (tmp_path / "m.ttl").write_text(MAPS)
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    logins = [
        (m, random.choice("uvw"), random.choice("abc")) for m in range(60) for _ in range(m % 3)
    ]
    failures = [(m, random.choice("abc")) for m in range(60) for _ in range(random.randint(0, 2))]
    dates = [BEGIN + timedelta(minutes=m) for m, _, _ in logins]
    users, places = [u for _, u, _ in logins], [s for _, _, s in logins]
    table = {"ts": dates, "id": list(range(len(logins))), "usr": users, "src": places}
    pq.write_table(pa.table(table), tmp_path / "login.parquet")
    times = [BEGIN + timedelta(minutes=m) for m, _ in failures]
    pq.write_table(
        pa.table({"ts": times, "src": [s for _, s in failures]}), tmp_path / "failure.parquet"
    )
    return [
        (m, u, s, len({n for n, of in failures if s == of and m - 9 <= n < m}))
        for m, u, s in logins
    ]


GROUPS = f"SELECT ?l ?u (COUNT(?f) AS ?n) {{ {BEFORE} }} GROUP BY ?l ?u"


@pytest.mark.parametrize(
    ("query", "least"),
    [
        (GROUPS.replace("?l ", "", 1), 1),
        (GROUPS.replace("?l ", "", 1) + " HAVING (COUNT(?f) > 2)", 3),
        (f"SELECT ?u ?n {{ {{ {GROUPS} }} }}", 1),
        (f"SELECT ?u ?n {{ {{ {GROUPS} HAVING (COUNT(?f) > 1) }} }}", 2),
    ],
)
def test_each_is_told_once_at_its_time(
    query: str, least: int, events: Events, tmp_path: Path
) -> None:
    project = ontoweir.open_project(tmp_path)
    verdict = project.check(PREFIX + query)
    assert verdict.bound is not None
    told = project.replay(PREFIX + query).to_arrow().to_pylist()
    wanted = Counter((m, f"http://e/u/{u}", n) for m, u, _, n in events if n >= least)
    assert len(wanted) > 5
    found = ((row["at"].replace(tzinfo=None), row["u"], row["n"]) for row in told)
    assert Counter(((at - BEGIN) // timedelta(minutes=1), u, n) for at, u, n in found) == wanted


def test_what_is_made_of_them(events: Events, tmp_path: Path) -> None:
    query = f"{PREFIX} SELECT ?u (MAX(?n) AS ?m) {{ {{ {GROUPS} }} }} GROUP BY ?u"
    project = ontoweir.open_project(tmp_path)
    verdict = project.check(query)
    assert verdict.bound is not None
    last = {row["u"]: row["m"] for row in project.replay(query).to_arrow().to_pylist()}
    wanted = {u: max(n for _, of, _, n in events if of == u) for _, u, _, _ in events}
    assert last == {f"http://e/u/{u}": n for u, n in wanted.items()}


def test_a_node_of_several_times_is_another(events: Events, tmp_path: Path) -> None:
    text = PROJECT.replace("KEY", '["id", "ts"]')
    (tmp_path / "ontoweir.toml").write_text(text)
    query = PREFIX + GROUPS.replace("?l ", "", 1)
    assert ontoweir.open_project(tmp_path).check(query).tier is Tier.UNDECIDED


def test_what_comes_between_is_of_the_same_table_as_one_row(events: Events, tmp_path: Path) -> None:
    """There the table has another alias than where it is read once."""
    query = f"""{PREFIX} SELECT ?f ?l {{ GRAPH ?t {{ ?f :at ?ip }} GRAPH ?s {{ ?l a :Login }}
      FILTER(?s < ?t)
      FILTER NOT EXISTS {{ GRAPH ?m {{ ?k a :Login }} FILTER(?m > ?s && ?m < ?t) }} }}"""
    project = ontoweir.open_project(tmp_path)
    verdict = project.check(query)
    assert verdict.bound is not None
    assert verdict.bound.rows == 3  # those of one time
    failures = pq.read_table(tmp_path / "failure.parquet").to_pylist()
    told = project.replay(query).to_arrow().to_pylist()
    minutes = {((f["ts"] - BEGIN) // timedelta(minutes=1), f["src"]) for f in failures}
    wanted = 0
    for minute, _ in minutes:
        before = [m for m, _, _, _ in events if m < minute]
        wanted += before.count(max(before)) if before else 0
    assert len(told) == wanted
