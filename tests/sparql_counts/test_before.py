"""Each row with the latest one before it, as SPARQL says it: no other one is between. What is
answered is what rdflib answers at every time; where rows of one time may be the latest, or a key
is of other rows than the later one, it is no such thing, and is decided as before."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given

import ontoweir
from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_ward import ask

LATER = (
    "?o1 a :Pulse ; :of ?p ; :val ?v",
    "?o1 a :Heat ; :of ?p ; :val ?v",
    "?o1 :of ?p ; :mg ?v",
    "?o1 a :Event ; :of ?p ; :amount ?v",
)
EARLIER = (
    ("?o2 a :Pulse ; :of ?p ; :val ?b", "?o3 a :Pulse ; :of ?p ; :val ?x"),
    ("?o2 a :Pulse ; :of ?p ; :val ?b", "?o3 a :Pulse ; :of ?p"),
    ("?o2 a :Heat ; :of ?p ; :val ?b", "?o3 a :Heat ; :of ?p ; :val ?x FILTER(?x > 1)"),
    (
        "?o2 a :Heat ; :of ?p ; :val ?b FILTER(?b > 1)",
        "?o3 a :Heat ; :of ?p ; :val ?x FILTER(?x > 1)",
    ),
    ("?o2 a :Heat ; :of ?p ; :val ?b ; :by ?k", "?o3 a :Heat ; :of ?p ; :by ?y"),
    ("?o2 a :Heat ; :of ?p ; :val ?b", "?o3 a :Heat ; :of ?p . ?p :age ?z FILTER(?z > 2)"),
    ("?o2 :of ?p ; :mg ?b", "?o3 :of ?p ; :mg ?x"),
    ("?p :bed ?b", "?p :bed ?x"),
    ("?p :inWard ?w ; :bed ?b", "?p :inWard ?x"),
)


def draw_question(random: Random) -> str:
    """A question of rows and those before them, or of something that looks like it."""
    earlier, between = random.choice(EARLIER)
    before, until = random.choice([("<", "<"), ("<=", "<="), ("<", "<="), ("<=", "<")])
    later = random.choice(LATER)
    text = f"GRAPH ?t {{ {later} }} GRAPH ?s {{ {earlier} }} FILTER(?s {before} ?t) "
    text += f"FILTER NOT EXISTS {{ GRAPH ?u {{ {between} }} "
    text += f"FILTER(?u > ?s && ?u {until} ?t) }} "
    text += random.choice(
        ["", "", "FILTER(?v > 1) ", "FILTER(?t - ?s <= D(20)) ", "FILTER(?t > ?s + D(10)) "]
    )
    if ":bed" not in earlier:
        text += random.choice(["", "FILTER(?b < ?v) ", "FILTER(?b != ?v) "])
    text += random.choice(["", "?p :age ?a "])
    if random.random() < 0.25:  # the latest of them
        latest = later.replace("?o1", "?o4").replace("?v", "?y")
        latest = random.choice([latest, latest, latest.replace(" ; :val ?y", ""), "?o4 :of ?p"])
        latest += random.choice(["", "", " . ?p :age ?z FILTER(?z > 2)"])
        text += f"FILTER NOT EXISTS {{ GRAPH ?z1 {{ {latest} }} FILTER(?z1 > ?t) }} "
    return random.choice(
        [
            f"SELECT ?p ?v ?b {{ {text}}}",
            f"SELECT DISTINCT ?p ?b {{ {text}}}",
            f"SELECT ?p (COUNT(*) AS ?n) {{ {text}}} GROUP BY ?p",
            f"SELECT ?p (MAX(?v) AS ?n) {{ {text}}} GROUP BY ?p",
        ]
    )


def run(seed: int, folder: Path) -> str:
    """What came of the question of a seed."""
    return ask(draw_question(Random(seed)), seed, folder)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(16):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder).partition(": ")[2]] += 1
    assert told["with answers"] > 2, told


@given(seed=SEEDS)
@budget(0.5)
def test_random_questions_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)).partition(": ")[0])


PROJECT = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = []
[streams.alarm]
source = { format = "parquet", path = "alarm.parquet" }
timestamp = { column = "ts", unit = "minute" }
keys = [["id"]]
[streams.alarm.columns]
id = "int"
device = "int"
[streams.visit]
source = { format = "parquet", path = "visit.parquet" }
timestamp = { column = "ts", unit = "minute" }
keys = [["room", "ts"]]
[streams.visit.columns]
room = { type = "string", enum = ["a", "b"] }
people = "int"
[relations.device]
source = { format = "parquet", path = "device.parquet" }
keys = [["id", "room"]]
max_rows = 5
[relations.device.columns]
id = "int"
room = { type = "string", enum = ["a", "b"] }
"""
MAPS = """@prefix : <http://e/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .
<#A> rr:logicalTable [ rr:tableName "alarm" ] ;
  rr:subjectMap [ rr:template "http://e/alarm/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :of ; rr:objectMap [ rr:template "http://e/d/{device}" ] ] .
<#V> rr:logicalTable [ rr:tableName "visit" ] ;
  rr:subjectMap [ rr:template "http://e/visit/{room}/{ts}" ] ;
  rr:predicateObjectMap [ rr:predicate :at ; rr:objectMap [ rr:template "http://e/r/{room}" ] ] ,
    [ rr:predicate :people ; rr:objectMap [ rr:column "people" ] ] .
<#D> rr:logicalTable [ rr:tableName "device" ] ;
  rr:subjectMap [ rr:template "http://e/d/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate :in ; rr:objectMap [ rr:template "http://e/r/{room}" ] ] .
"""
ONTOLOGY = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:of a owl:ObjectProperty . :at a owl:ObjectProperty . :in a owl:ObjectProperty .
:people a owl:DatatypeProperty .
"""
BEGIN = datetime(2026, 3, 1)


@pytest.mark.parametrize("until", ["<", "<="])
@pytest.mark.parametrize("far", ["", "FILTER(?t - ?s <= 'PT4M'^^xsd:dayTimeDuration)"])
def test_the_key_may_be_what_static_relations_say(until: str, far: str, tmp_path: Path) -> None:
    random = Random(len(far) + len(until))
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "m.ttl").write_text(MAPS)
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    devices = [(1, "a"), (2, "b"), (3, "a"), (3, "b")]  # the last one is in two rooms
    alarms = [
        (m, n, random.randint(1, 4)) for n, m in enumerate(sorted(random.choices(range(40), k=30)))
    ]
    visits = [
        (m, r, random.randint(0, 9)) for m in range(40) for r in "ab" if random.random() < 0.3
    ]
    for name, columns, rows in (
        ("alarm", ("ts", "id", "device"), alarms),
        ("visit", ("ts", "room", "people"), visits),
    ):
        dated = [(BEGIN + timedelta(minutes=row[0]), *row[1:]) for row in rows]
        table = pa.table(dict(zip(columns, map(list, zip(*dated, strict=True)), strict=True)))
        pq.write_table(table, tmp_path / f"{name}.parquet")
    pq.write_table(
        pa.table({"id": [d for d, _ in devices], "room": [r for _, r in devices]}),
        tmp_path / "device.parquet",
    )
    query = f"""PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
      SELECT ?x ?r ?n {{ GRAPH ?t {{ ?x :of ?d }} ?d :in ?r
        GRAPH ?s {{ ?v :at ?r ; :people ?n }} FILTER(?s {until} ?t) {far}
        FILTER NOT EXISTS {{ GRAPH ?u {{ ?w :at ?r }} FILTER(?u > ?s && ?u {until} ?t) }} }}"""
    project = ontoweir.open_project(tmp_path)
    verdict = project.check(query)
    assert verdict.bound is not None
    assert verdict.bound.rows == 2
    answers = Counter[tuple[str, str, int]]()
    for minute, alarm, device in alarms:
        for room in (r for d, r in devices if d == device):
            there = [(m, n) for m, r, n in visits if r == room and m < minute + (until == "<=")]
            if there and (not far or minute - max(there)[0] <= 4):
                answers[f"http://e/alarm/{alarm}", f"http://e/r/{room}", max(there)[1]] += 1
    told = project.replay(query).to_arrow().to_pylist()
    assert Counter((row["x"], row["r"], row["n"]) for row in told) == answers
