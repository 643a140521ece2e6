"""What is computed of two rows, in buckets of the time of the earlier one; rows with the latest one
before them within some time, of a key without a domain; those with the latest one before them, if
there is one, in buckets, and those with the next one: in SPARQL, as DuckDB answers it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given

import ontoweir
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.rewriter.optional.open_optional import open_optional
from tests.oracle.budget import SEEDS, budget

BEGIN = datetime(2026, 3, 31, 21)
PROJECT = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = []
[streams.arrival]
source = { format = "parquet", path = "arrival.parquet" }
timestamp = { column = "ts", unit = "1 minute" }
keys = [["trip", "ts"]]
max_per_timestamp = 9
columns = { trip = "string", stop = { type = "string", enum = ["a", "b"] }, delay = "int" }
[streams.departure]
source = { format = "parquet", path = "departure.parquet" }
timestamp = { column = "ts", unit = "2 minutes" }
keys = [["trip", "ts"]]
max_per_timestamp = 9
columns = { trip = "string", stop = { type = "string", enum = ["a", "b"] }, delay = "int" }
"""
_MAP = """<#{name}> rr:logicalTable [ rr:tableName "{name}" ] ;
  rr:subjectMap [ rr:template "http://e/{name}/{{trip}}/{{ts}}" ; rr:class :{cls} ] ;
  rr:predicateObjectMap [ rr:predicate :of ; rr:objectMap [ rr:template "http://e/t/{{trip}}" ] ] ,
    [ rr:predicate :at ; rr:objectMap [ rr:column "stop" ] ] ,
    [ rr:predicate :delay ; rr:objectMap [ rr:column "delay" ] ] .
"""
MAPS = "@prefix : <http://e/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .\n" + "".join(
    _MAP.format(name=name, cls=name.title()) for name in ("arrival", "departure")
)
ONTOLOGY = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Arrival a owl:Class ; rdfs:subClassOf :Event . :Departure a owl:Class ; rdfs:subClassOf :Event .
:of a owl:ObjectProperty . :at a owl:DatatypeProperty . :delay a owl:DatatypeProperty .
"""
PREFIXES = """PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX ow: <urn:ontoweir:>
"""
NAMES = ("arrival", "departure")
WIDTHS = (
    ('"PT1H"^^xsd:dayTimeDuration', "time_bucket(INTERVAL 1 HOUR, {}, TIMESTAMP '2026-01-01')"),
    ('"PT7M"^^xsd:dayTimeDuration', "time_bucket(INTERVAL 7 MINUTE, {}, TIMESTAMP '1970-01-01')"),
    (
        '"PT1H"^^xsd:dayTimeDuration, "2026-05-01T00:20:00"^^xsd:dateTime',
        "time_bucket(INTERVAL 1 HOUR, {}, TIMESTAMP '2026-05-01 00:20:00')",
    ),
    ('"P1D"^^xsd:dayTimeDuration', "date_trunc('day', {})"),
    ('"P1M"^^xsd:yearMonthDuration', "date_trunc('month', {})"),
    (None, "{}"),
)
AGGREGATES = (
    ("AVG(ow:seconds(?u - ?t))", "avg(epoch(y.ts - x.ts))"),
    ("MAX(?e - ?d)", "max(y.delay - x.delay)"),
    ("SUM(?d * 2 + ?e)", "sum(x.delay * 2 + y.delay)"),
    ("COUNT(DISTINCT ?e - ?d)", "count(DISTINCT y.delay - x.delay)"),
)


@dataclass(frozen=True)
class Question:
    """A query, and the same of DuckDB; `grouped`: it has buckets."""

    sparql: str
    sql: str
    grouped: bool


def draw_beside(random: Random) -> Question:
    """Rows with the latest one before them at the same stop, if there is one, in buckets."""
    later, before = (random.choice(["arrival", "departure"]) for _ in range(2))
    until = random.choice(["<", "<="] if later != before else ["<"])
    width, cut = random.choice([w for w in WIDTHS if w[0] is not None])
    more = random.choice(["", "?c :delay ?z FILTER(?z > 2)"])
    sparql = f"GRAPH ?u {{ ?b a :{later.title()} ; :at ?s }} OPTIONAL {{ "
    sparql += f"GRAPH ?t {{ ?a a :{before.title()} ; :at ?s ; :delay ?d }} FILTER(?t {until} ?u) "
    sparql += f"{'FILTER(?d > 2) ' if more else ''}FILTER NOT EXISTS {{ "
    sparql += f"GRAPH ?w {{ ?c a :{before.title()} ; :at ?s . {more} }} "
    sparql += f"FILTER(?w > ?t && ?w {until} ?u) }} }}"
    rows = f"(SELECT * FROM {before} WHERE delay > 2)" if more else before
    sql = "SELECT y.stop, {}, count(x.delay), count(*), max(coalesce(x.delay, -9)) FROM ("
    sql += (
        f"SELECT y.*, (SELECT max(z.ts) FROM {rows} z WHERE z.stop = y.stop AND z.ts {until} y.ts"
    )
    sql += f") AS m FROM {later} y WHERE y.trip NOT LIKE 'end %') y LEFT JOIN {rows} x "
    sql += "ON x.stop = y.stop AND x.ts = y.m GROUP BY ALL"
    asked = "(COUNT(?d) AS ?n) (COUNT(*) AS ?m) (MAX(COALESCE(?d, -9)) AS ?top)"
    return Question(
        f"SELECT ?s ?h {asked} {{ {sparql} }} GROUP BY ?s (ow:tumble(?u, {width}) AS ?h)",
        sql.format(cut.format("y.ts")),
        grouped=True,
    )


def draw_next(random: Random) -> Question:
    """Rows with the next one of their trip within some minutes, if there is one."""
    one, other, far = random.choice(NAMES), random.choice(NAMES), random.randint(2, 40)
    low = ">" if one == other else random.choice([">", ">="])
    late = random.choice(
        ['?u - ?t <= "PT{}M"^^xsd:dayTimeDuration', '?u <= ?t + "PT{}M"^^xsd:dayTimeDuration']
    ).format(far)
    after, start = random.choice([f"?u {low} ?t", f"?t {low.replace('>', '<')} ?u"]), f"?w {low} ?t"
    sparql = f"GRAPH ?t {{ ?a a :{one.title()} ; :of ?k ; :at ?s ; :delay ?d }} OPTIONAL {{ "
    sparql += f"GRAPH ?u {{ ?b a :{other.title()} ; :of ?k ; :delay ?e }} FILTER({after} && {late})"
    sparql += f" FILTER NOT EXISTS {{ GRAPH ?w {{ ?c a :{other.title()} ; :of ?k ; :delay ?f }} "
    sparql += f"FILTER({start} && {random.choice(['?w < ?u', '?u > ?w'])}) }} }}"
    sql = f"FROM (SELECT x.*, (SELECT min(z.ts) FROM {other} z WHERE z.trip = x.trip "
    sql += f"AND z.ts {low} x.ts AND z.ts <= x.ts + INTERVAL {far} MINUTE) AS m FROM {one} x "
    sql += f"WHERE x.trip NOT LIKE 'end %') x LEFT JOIN {other} y ON y.trip = x.trip AND y.ts = x.m"
    return Question(
        f"SELECT ?k ?d ?e {{ {sparql} }}",
        f"SELECT 'http://e/t/' || x.trip, x.delay, y.delay {sql}",
        grouped=False,
    )


def draw_question(random: Random) -> Question:
    """A question of two rows of a trip, some minutes apart at most; or of a stop."""
    kind = random.random()
    if kind < 0.4:
        return draw_beside(random) if kind < 0.2 else draw_next(random)
    one, other = random.choice([("arrival", "departure"), ("arrival", "arrival")])
    far = random.randint(2, 40)
    sparql = f"GRAPH ?t {{ ?a a :{one.title()} ; :of ?k ; :at ?s ; :delay ?d }} "
    sparql += f"GRAPH ?u {{ ?b a :{other.title()} ; :of ?k ; :delay ?e }} "
    sparql += f'FILTER(?u > ?t && ?u - ?t <= "PT{far}M"^^xsd:dayTimeDuration) '
    sql = f"FROM {one} x JOIN {other} y ON y.trip = x.trip AND y.ts > x.ts "
    sql += f"AND y.ts <= x.ts + INTERVAL {far} MINUTE "
    if random.random() < 0.6:  # the latest before, or the first after
        between = random.choice([one, other])
        sparql += f"FILTER NOT EXISTS {{ GRAPH ?w {{ ?c a :{between.title()} ; :of ?k }} "
        sparql += "FILTER(?w > ?t && ?w < ?u) } "
        sql += f"WHERE NOT EXISTS (SELECT 1 FROM {between} z WHERE z.trip = x.trip "
        sql += "AND z.ts > x.ts AND z.ts < y.ts) "
    if random.random() < 0.3:
        return Question(
            f"SELECT ?k ?s ?d (?e - ?d AS ?h) {{ {sparql} }}",
            f"SELECT 'http://e/t/' || x.trip, x.stop, x.delay, y.delay - x.delay {sql}",
            grouped=False,
        )
    (width, cut), (asked, sum_) = random.choice(WIDTHS), random.choice(AGGREGATES)
    of, time = random.choice([("?t", "x.ts"), ("?t", "x.ts"), ("?u", "y.ts")])
    bucket = of if width is None else f"(ow:tumble({of}, {width}) AS ?h)"
    shown = of if width is None else "?h"
    return Question(
        f"SELECT ?s {shown} ({asked} AS ?n) {{ {sparql} }} GROUP BY ?s {bucket}",
        f"SELECT x.stop, {cut.format(time)}, {sum_} {sql} GROUP BY ALL",
        grouped=True,
    )


def draw_rows(random: Random, minutes: Sequence[int]) -> list[tuple[datetime, str, str, int]]:
    """Rows of some trips, each of one at a time at most."""
    rows = {(random.choice(minutes), random.choice("pqrst")): None for _ in range(40)}
    return [
        (BEGIN + timedelta(minutes=m), trip, random.choice("ab"), random.randint(-3, 9))
        for m, trip in sorted(rows)
    ]


def write_project(folder: Path, random: Random) -> duckdb.DuckDBPyConnection:
    """The files of a project, and its rows in DuckDB. The last rows are long after the others, so
    that all groups of these are final, and are of no trip."""
    database = duckdb.connect()
    end = BEGIN + timedelta(days=70)
    for name, step in (("arrival", 1), ("departure", 2)):
        rows = [*draw_rows(random, range(0, 360, step)), (end, f"end of {name}", "a", 0)]
        names = ("ts", "trip", "stop", "delay")
        table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        pq.write_table(table, folder / f"{name}.parquet")
        database.register(f"{name}_rows", table)
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")
    (folder / "ontoweir.toml").write_text(PROJECT)
    (folder / "m.ttl").write_text(MAPS)
    (folder / "o.ttl").write_text(ONTOLOGY)
    return database


def plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return round(float(value), 9) if isinstance(value, int | float) else value


def compare(folder: Path, database: duckdb.DuckDBPyConnection, sparql: str, sql: str) -> str | None:
    """Compare the answers of a query with DuckDB's; why it has none (None: it has)."""
    project = ontoweir.open_project(folder)
    try:
        verdict = project.check(PREFIXES + sparql)
    except QueryError as error:
        return f"refused: {error}"
    if verdict.bound is None:
        return f"not bounded: {sparql}"
    told = Counter[tuple[object, ...]]()
    for row in project.replay(PREFIXES + sparql).to_arrow().to_pylist():
        count = row.pop("multiplicity", 1)
        row.pop("at")
        told[tuple(map(plain, row.values()))] += count
    rows = database.execute(sql).fetchall()
    answers = Counter(tuple(plain(value) for value in row) for row in rows)
    assert told == answers, (sparql, told - answers, answers - told)
    return None


def run(seed: int, folder: Path) -> str:
    """Compare the question of a seed with DuckDB."""
    random = Random(seed)
    database, asked = write_project(folder, random), draw_question(random)
    none = compare(folder, database, asked.sparql, asked.sql)
    return none or ("groups" if asked.grouped else "solutions")


def test_all_are_bounded_and_answered(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        told[run(seed, folder)] += 1
    assert set(told) == {"groups", "solutions"}, told


@given(seed=SEEDS)
@budget(0.3)
def test_random_questions_are_duckdbs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder)))


PAIR = """GRAPH ?t { ?a a :Arrival ; :of ?k ; :at ?s ; :delay ?d }
  GRAPH ?u { ?b a :Departure ; :of ?k ; :delay ?e }"""


@pytest.mark.parametrize(
    ("pattern", "bucket", "said"),
    [
        (f"{PAIR} FILTER(?u > ?t)", '"PT1H"', "limit how long after ?t the others are"),
        (
            f'{PAIR} FILTER(?u > ?t && ?u - ?t <= "PT9M"^^xsd:dayTimeDuration)',
            '"P1D"^^xsd:dayTimeDuration, "Europe/Berlin"',
            "take buckets of UTC that do not overlap",
        ),
        (
            """GRAPH ?z { ?a a :Arrival ; :of ?k ; :at ?s ; :delay ?d } OPTIONAL {
            GRAPH ?t { ?b a :Departure ; :of ?k ; :delay ?e }
            FILTER(?t > ?z && ?t - ?z <= "PT9M"^^xsd:dayTimeDuration) }""",
            '"PT1H"',
            "a bucket of ?t, a time that OPTIONAL may leave without a value",
        ),
    ],
)
def test_other_buckets_are_refused(pattern: str, bucket: str, said: str, tmp_path: Path) -> None:
    write_project(tmp_path, Random(0)).close()
    width = bucket if "^^" in bucket else f"{bucket}^^xsd:dayTimeDuration"
    query = f"SELECT ?s ?h (COUNT(*) AS ?n) (MAX(COALESCE(?e, 0) - ?d) AS ?m) {{ {pattern} }} "
    query += f"GROUP BY ?s (ow:tumble(?t, {width}) AS ?h)"
    with pytest.raises(QueryError, match=re.escape(said)):
        ontoweir.open_project(tmp_path).check(PREFIXES + query)


def test_a_key_with_a_domain_keeps_a_row_each(tmp_path: Path) -> None:
    """Twin: there a row of each key is less than all rows of some time."""
    write_project(tmp_path, Random(0)).close()
    catalog = (tmp_path / "ontoweir.toml").read_text()
    query = f"""SELECT ?k ?e {{ {PAIR.replace("Departure", "Arrival")}
      FILTER(?u > ?t && ?u - ?t <= "PT9M"^^xsd:dayTimeDuration) FILTER NOT EXISTS {{
      GRAPH ?w {{ ?c a :Arrival ; :of ?k }} FILTER(?w > ?t && ?w < ?u) }} }}"""
    by_time = ontoweir.open_project(tmp_path).check(PREFIXES + query)
    assert by_time.tier is Tier.WINDOW_BOUNDED
    few = catalog.replace('trip = "string"', 'trip = { type = "string", enum = ["p", "q"] }')
    (tmp_path / "ontoweir.toml").write_text(few)
    by_key = ontoweir.open_project(tmp_path).check(PREFIXES + query)
    assert by_key.bound is not None
    assert by_key.bound.rows == 2


NEXT = """GRAPH ?t {{ ?a a :Arrival ; :of ?k }} OPTIONAL {{
  GRAPH ?u {{ ?b a :Departure ; :of ?k {said} }} FILTER(?u {low} ?t && {late})
  FILTER NOT EXISTS {{ GRAPH ?w {{ ?c a :Departure ; :of {whose} }} FILTER(?w > ?t && ?w {op} ?u) }}
}}"""
LATE = '?u <= ?t + "PT9M"^^xsd:dayTimeDuration'


@pytest.mark.parametrize(
    "changes",
    [
        {"said": "; :delay ?e"},  # the row between may have none
        {"whose": "?j"},
        {"op": "<="},
        {"low": "<"},
        {"late": f"{LATE} && ?u != ?t"},
        {"late": f'{LATE} && ?u > ?t + "PT2M"^^xsd:dayTimeDuration'},
    ],
)
def test_it_matters_what_is_between(changes: dict[str, str], tmp_path: Path) -> None:
    """Twins: of these the pattern alone says something else, or is not known to say the same."""
    plain = {"said": "", "whose": "?k", "op": "<", "low": ">", "late": LATE}
    write_project(tmp_path, Random(0)).close()
    query = f"{PREFIXES}SELECT ?a ?b {{ {NEXT.format(**plain)} }}"
    opened = open_optional(query)
    assert opened is not None
    assert opened.count("NOT EXISTS") == 2
    assert ontoweir.open_project(tmp_path).check(query).bound is not None
    other = open_optional(f"{PREFIXES}SELECT ?a ?b {{ {NEXT.format(**plain | changes)} }}")
    assert other is not None
    assert other.count("NOT EXISTS") == 3
