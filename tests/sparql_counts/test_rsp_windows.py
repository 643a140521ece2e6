"""RSP-QL and C-SPARQL against rdflib: at every time, each window is a named graph of the triples of
its rows, a set, and the rest of the query is evaluated as it is; RSTREAM, ISTREAM and DSTREAM are
made of the sequence of these answers."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import settings
from rdflib import RDF, Dataset, Graph, Literal, URIRef

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import OntoweirWarning, QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
PREFIX = "PREFIX : <http://x/>\n"
TOML = """
[project]
mappings = ["m.ttl"]
queries = ["*.rspql"]
[streams.reading]
iri = "http://x/stream"
source = { format = "csv", path = "reading.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 5
keys = [["id"]]
[streams.reading.columns]
id = "int"
sensor = { type = "int", min = 1, max = 3 }
v = { type = "int", min = 1, max = 3 }
[streams.door]
iri = "http://x/door{room}"
source = { format = "csv", path = "door.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 5
columns = { room = { type = "int", min = 1, max = 2 }, sensor = { type = "int", min = 1, max = 3 } }
[relations.place]
source = { format = "csv", path = "place.csv", options = { header = "true" } }
keys = [["sensor"]]
columns = { sensor = "int", town = "string" }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://x/> .
<#r> rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "http://x/r/{id}" ; rr:class :R ] ;
  rr:predicateObjectMap [ rr:predicate :from ; rr:objectMap [ rr:constant "a reading" ] ] ;
  rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://x/s/{sensor}" ] ] ;
  rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rr:column "v" ] ] .
<#s> rr:logicalTable [ rr:tableName "reading" ] ;
  rr:subjectMap [ rr:template "http://x/s/{sensor}" ] ;
  rr:predicateObjectMap [ rr:predicate :has ; rr:objectMap [ rr:column "v" ] ] .
<#d> rr:logicalTable [ rr:tableName "door" ] ;
  rr:subjectMap [ rr:template "http://x/s/{sensor}" ] ;
  rr:predicateObjectMap [ rr:predicate :from ; rr:objectMap [ rr:constant "a door" ] ] ;
  rr:predicateObjectMap [
    rr:predicate :opens ; rr:objectMap [ rr:template "http://x/room/{room}" ] ] .
<#e> rr:logicalTable [ rr:tableName "door" ] ;
  rr:subjectMap [ rr:template "http://x/s/{sensor}" ] ;
  rr:predicateObjectMap [ rr:predicate :has ; rr:objectMap [ rr:column "room" ] ] .
<#p> rr:logicalTable [ rr:tableName "place" ] ;
  rr:subjectMap [ rr:template "http://x/s/{sensor}" ] ;
  rr:predicateObjectMap [ rr:predicate :in ; rr:objectMap [ rr:column "town" ] ] .
"""
SEEDS = max(1, settings().max_examples // 60)
Row: TypeAlias = tuple[int, ...]
"""Its minute first."""
Bag: TypeAlias = Counter[tuple[str, ...]]
_BODIES = (
    ("?s ?v", "?s :in ?town . WINDOW :w { ?r a :R ; :by ?s ; :v ?v FILTER(?v > 1) }"),
    ("?s", "WINDOW :w { ?r :by ?s . ?r :v ?v }"),
    ("DISTINCT ?s ?v", "WINDOW :w { ?s :has ?v }"),
    ("DISTINCT ?v ?w", "WINDOW :w { ?s :has ?v , ?w FILTER(?v < ?w) }"),
    ("DISTINCT ?s ?o", "WINDOW :w { ?s :has ?v }\n WINDOW :d { ?s :opens ?o }"),
    ("DISTINCT ?s ?v", "WINDOW :d { ?s :has ?v }"),
    ("?r ?q", "WINDOW :w { ?r :by ?s ; :v ?v . ?q :by ?s ; :v ?u FILTER(?u > ?v) }"),
    ("DISTINCT ?s ?town", "WINDOW :w { [] :by ?s ; :v 2 } ?s :in ?town"),
    ("?r ?c", "WINDOW :w { ?r a ?c ; :v ?v }"),
    ("DISTINCT ?c ?o", "WINDOW :w { ?r a ?c ; :by ?s } WINDOW :d { ?s :opens ?o }"),
    ("?s (COUNT(*) AS ?n)", "WINDOW :w { ?r :by ?s ; :v ?v }", "GROUP BY ?s"),
    ("DISTINCT ?s", "WINDOW :w { { ?r :by ?s ; :v 2 } UNION { ?s :has 3 } }"),
    ("DISTINCT ?s ?v", "WINDOW :w { { ?r :by ?s ; :v ?v FILTER(?v > 1) } UNION { ?s :has ?v } }"),
    ("?s ?v", "WINDOW :w { { ?r :by ?s ; :v ?v } UNION { ?r a :R ; :by ?s ; :v ?v } }"),
    ("DISTINCT ?s", "{ WINDOW :w { ?s :has ?v } } UNION { WINDOW :d { ?s :opens ?o } }"),
    ("DISTINCT ?s ?v", "{ WINDOW :w { ?s :has ?v } } UNION { WINDOW :d { ?s :has ?v } }"),
    ("DISTINCT ?s ?town", "WINDOW :w { ?s :has ?v } OPTIONAL { ?s :in ?town }"),
    ("DISTINCT ?s ?o", "WINDOW :w { ?s :has ?v } OPTIONAL { WINDOW :d { ?s :opens ?o } }"),
    ("DISTINCT ?s", "WINDOW :w { ?s :has ?v } MINUS { WINDOW :d { ?s :opens ?o } }"),
    ("DISTINCT ?s", "WINDOW :w { ?s :has ?v } FILTER NOT EXISTS { WINDOW :d { ?s :opens ?o } }"),
    ("?s (MAX(?v) AS ?n)", "?s :in ?t WINDOW :w { ?r :by ?s ; :v ?v }", "GROUP BY ?s"),
    ("?s (COUNT(DISTINCT ?v) AS ?n) (MIN(?v) AS ?m)", "WINDOW :w { ?s :has ?v }", "GROUP BY ?s"),
)


def _shape(draw: random.Random) -> tuple[str, int, int, int | None]:
    """The brackets of a window; when it begins and ends before now, and its step, in seconds."""
    length, step = draw.choice((60, 90, 120, 240)), draw.choice((60, 120, 180, 240))
    match draw.randrange(5):
        case 0:
            return f"[RANGE PT{length}S]", length, 0, None
        case 1:
            return f"[FROM NOW-PT{length + 60}S TO NOW-PT60S STEP PT{step}S]", length + 60, 60, step
        case 2:
            return f"[RANGE {length}s TUMBLING]", length, 0, length
        case _:
            return f"[RANGE PT{length}S STEP PT{step}S]", length, 0, step


def _rows(draw: random.Random) -> tuple[list[Row], list[Row]]:
    reading = sorted(draw.sample(range(20), 6) + draw.sample(range(20), 4))
    door = sorted(draw.sample(range(20), 7))
    return (
        [(m, n, draw.randint(1, 3), draw.randint(1, 3)) for n, m in enumerate(reading)],
        [(m, draw.randint(1, 2), draw.randint(1, 3)) for m in door],
    )


def _write(folder: Path, reading: list[Row], door: list[Row]) -> None:
    def lines(head: str, rows: list[Row]) -> str:
        texts = (
            ",".join([f"{FIRST + timedelta(minutes=r[0]):%Y-%m-%dT%H:%M:%S}", *map(str, r[1:])])
            for r in rows
        )
        return "\n".join([head, *texts, ""])

    folder.mkdir()
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(MAPPING)
    (folder / "reading.csv").write_text(lines("ts,id,sensor,v", reading))
    (folder / "door.csv").write_text(lines("ts,room,sensor", door))
    (folder / "place.csv").write_text("sensor,town\n1,A\n2,B\n")


def _x(name: str) -> URIRef:
    return URIRef(f"http://x/{name}")


def _fill(graph: Graph, stream: str, row: Row) -> None:
    """The triples of a row."""
    if stream == "reading":
        _, number, sensor, value = row
        graph.add((_x(f"r/{number}"), RDF.type, _x("R")))
        graph.add((_x(f"r/{number}"), _x("by"), _x(f"s/{sensor}")))
        graph.add((_x(f"r/{number}"), _x("v"), Literal(value)))
        graph.add((_x(f"s/{sensor}"), _x("has"), Literal(value)))
    else:
        _, room, sensor = row
        graph.add((_x(f"s/{sensor}"), _x("opens"), _x(f"room/{room}")))
        graph.add((_x(f"s/{sensor}"), _x("has"), Literal(room)))


def _answers(
    text: str, shapes: dict[str, tuple[str, list[Row], int, int, int | None]], last: int
) -> Iterator[tuple[datetime, Bag]]:
    """What rdflib finds at each half minute."""
    for second in range(0, 60 * last + 1, 30):
        data = Dataset()
        for number, town in ((1, "A"), (2, "B")):
            data.add((_x(f"s/{number}"), _x("in"), Literal(town)))
        for name, (stream, rows, begin, end, step) in shapes.items():
            graph = data.graph(_x(name))
            seconds = int(FIRST.timestamp()) + second
            now = second if step is None else seconds // step * step - int(FIRST.timestamp())
            for row in rows:
                if now - begin < 60 * row[0] <= now - end:
                    _fill(graph, stream, row)
        found = data.query(text.replace("WINDOW", "GRAPH"))
        made: Bag = Counter(tuple(str(cell) for cell in row) for row in found)  # type: ignore[union-attr]
        yield FIRST + timedelta(seconds=second), made


def _streams(answers: list[tuple[datetime, Bag]]) -> dict[str, dict[datetime, Bag]]:
    told: dict[str, dict[datetime, Bag]] = {"RSTREAM": {}, "ISTREAM": {}, "DSTREAM": {}}
    before: Bag = Counter()
    for at, now in answers:
        if now != before:
            for name, bag in (
                ("RSTREAM", now),
                ("ISTREAM", now - before),
                ("DSTREAM", before - now),
            ):
                if bag:
                    told[name][at] = bag
        before = now
    return told


def _replay(project: OpenProject, text: str) -> dict[datetime, Bag]:
    made: dict[datetime, Bag] = {}
    table = project.replay(text).to_arrow()
    shown = [n for n in table.column_names if n not in ("at", "multiplicity")]
    for row in table.to_pylist():
        at = row["at"].replace(tzinfo=UTC)
        made.setdefault(at, Counter())[tuple(str(row[n]) for n in shown)] += row.get(
            "multiplicity", 1
        )
    return made


@pytest.mark.filterwarnings("ignore:query is not known to be bounded")
@pytest.mark.parametrize("number", range(len(_BODIES)))
def test_windows_are_sets_of_triples(number: int, tmp_path: Path) -> None:
    head, body, *end = _BODIES[number]
    answered = 0
    for seed in range(1, SEEDS + 1):
        draw = random.Random(100 * seed + number)
        reading, door = _rows(draw)
        room = draw.randint(1, 2)
        (first, *shape), (second, *other) = _shape(draw), _shape(draw)
        folder = tmp_path / str(seed)
        _write(folder, reading, door)
        project = ontoweir.open_project(folder)
        named = f"FROM NAMED WINDOW :w ON :stream {first}\n" * (":w " in body)
        named += f"FROM NAMED WINDOW :d ON :door{room} {second}\n" * (":d " in body)
        mine = [r for r in door if r[1] == room]
        windows = {"w": ("reading", reading, *shape), "d": ("door", mine, *other)}
        plain = f"{PREFIX}SELECT {head}\nWHERE {{ {body} }} {' '.join(end)}"
        read = [
            r for name, rows in (("w", reading), ("d", mine)) if f":{name} " in body for r in rows
        ]
        last = max((r[0] for r in read), default=0)
        wanted = _streams(list(_answers(plain, windows, last)))  # type: ignore[arg-type]
        start = min((r[0] for r in read), default=0)
        for kind in ("RSTREAM", "ISTREAM", "DSTREAM"):
            text = f"{PREFIX}REGISTER {kind} :q AS SELECT {head}\n{named}WHERE {{ {body} }} "
            text += " ".join(end)
            found = _replay(project, text)
            until = FIRST + timedelta(minutes=last)
            kept = {at: bag for at, bag in found.items() if at <= until}
            asked = _from(wanted[kind], FIRST + timedelta(minutes=start))
            assert kept == asked, (text, reading, door)
            answered += len(asked)
    assert answered


def _from(told: dict[datetime, Bag], start: datetime) -> dict[datetime, Bag]:
    """What static data alone makes hold begins with the first row."""
    made: dict[datetime, Bag] = {}
    for at, bag in told.items():
        made[max(at, start)] = bag
    return made


REFUSED = {
    "FROM NAMED WINDOW :w ON :streams [RANGE PT1M] WHERE { WINDOW :w { ?r :by ?s } }": (
        3,
        "no stream has the IRI <http://x/streams>; the nearest is http://x/stream",
    ),
    "FROM NAMED WINDOW :w ON :door [RANGE PT1M] WHERE { WINDOW :w { ?s :opens ?r } }": (
        3,
        "no stream has the IRI <http://x/door>",
    ),
    "FROM NAMED WINDOW :w ON :stream [ROWS 5] WHERE { WINDOW :w { ?r :by ?s } }": (
        3,
        "a window of a number of rows",
    ),
    "FROM NAMED WINDOW :w ON :stream [RANGE P1M] WHERE { WINDOW :w { ?r :by ?s } }": (
        3,
        "P1M as the length of a window",
    ),
    "FROM NAMED WINDOW :w ON :stream [RANGE PT1M]\nWHERE {\n WINDOW :v { ?r :by ?s } }": (
        5,
        "WINDOW http://x/v, which FROM NAMED WINDOW does not name",
    ),
    "FROM NAMED WINDOW :w ON :stream [RANGE PT1M] WHERE { WINDOW :w { ?r :by/:in ?s } }": (
        3,
        "a path, or a variable as a predicate, in a window",
    ),
    "FROM NAMED WINDOW :w ON :stream [RANGE PT1M] WHERE { WINDOW :w { ?s :has ?v } }": (
        3,
        "may come again later",
    ),
    "FROM NAMED WINDOW :w ON :stream [RANGE PT1M] WHERE { WINDOW :w { ?s a ?c ; :opens ?o } }": (
        3,
        "?c as a class",
    ),
    "FROM STREAM <http://x/stream> [RANGE 1m STEP 1m]\nFROM STREAM <http://x/door1> "
    "[RANGE 2m STEP 1m]\nWHERE {\n ?s :has ?v }": (
        6,
        "http://x/has of windows with different lengths or steps",
    ),
}


@pytest.mark.parametrize("rest", REFUSED)
def test_what_is_refused_by_name(rest: str, tmp_path: Path) -> None:
    line, what = REFUSED[rest]
    _write(tmp_path / "p", [(0, 1, 1, 1)], [])
    (tmp_path / "p" / "q.rspql").write_text(f"{PREFIX}REGISTER RSTREAM :q AS\nSELECT ?s\n{rest}")
    with pytest.raises(QueryError, match=re.escape(what)) as error:
        ontoweir.open_project(tmp_path / "p").check("q")
    assert error.value.source is not None
    assert error.value.source.line == line + rest.startswith("FROM")


def test_ask_tells_true_and_false(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(m, m, 1, 2) for m in (0, 1, 6, 9)], [])
    text = f"{PREFIX}REGISTER RSTREAM :q AS ASK FROM NAMED WINDOW :w ON :stream [RANGE PT2M] "
    found = _replay(
        ontoweir.open_project(tmp_path / "p"), text + "WHERE { WINDOW :w { ?s :has 2 } }"
    )
    told = {int((at - FIRST).total_seconds()) // 60: bag for at, bag in found.items()}
    assert {m: [*bag] for m, bag in told.items() if m <= 9} == {
        0: [("True",)],
        3: [("False",)],
        6: [("True",)],
        8: [("False",)],
        9: [("True",)],
    }


def test_a_window_without_patterns_is_warned_of(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)], [])
    text = "SELECT DISTINCT ?v FROM NAMED WINDOW :w ON :stream [RANGE PT1M] "
    text += "FROM NAMED WINDOW :d ON :door1 [RANGE PT1M] WHERE { WINDOW :w { ?s :has ?v } }"
    (tmp_path / "p" / "q.rspql").write_text(PREFIX + text)
    with pytest.warns(OntoweirWarning, match="q.rspql:2: the window http://x/d has no patterns"):
        ontoweir.open_project(tmp_path / "p").check("q")


def test_places_are_those_of_the_text(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)], [])
    lines = [
        "PREFIX : <http://x/> REGISTER RSTREAM :q AS SELECT ?r",
        "FROM NAMED WINDOW :w ON :stream [RANGE PT1M] WHERE {",
        "  WINDOW :w { ?r :by ?s . ?s :gone ?v }",
        "}",
    ]
    (tmp_path / "p" / "q.rspql").write_text("\n".join(lines))
    with pytest.raises(QueryError, match="unknown property http://x/gone") as error:
        ontoweir.open_project(tmp_path / "p").check("q")
    assert error.value.source is not None
    assert (error.value.source.line, error.value.source.column) == (
        3,
        lines[2].index("?s :gone") + 1,
    )


def test_compiled_again_each_window_sees_its_stream(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1)], [])
    text = "SELECT DISTINCT ?v FROM NAMED WINDOW :w ON :stream [RANGE PT1M] "
    text += "WHERE { WINDOW :w { ?s :has ?v } }"
    (tmp_path / "p" / "q.rspql").write_text(PREFIX + text)
    workspace = Workspace(load_project(tmp_path / "p", environ={}))
    compiled = workspace.compile("q")
    assert {o.table for d in compiled.union.disjuncts for o in d.occurrences} == {"reading"}
    catalog = replace(workspace.project.catalog, file="another")
    again = workspace.recompile(compiled, "", "", catalog)
    assert again.disjuncts == compiled.union.disjuncts


def test_one_graph_of_all_streams(tmp_path: Path) -> None:
    _write(tmp_path / "p", [(0, 1, 1, 1), (1, 2, 1, 2), (5, 3, 3, 1)], [(0, 1, 1), (1, 2, 1)])
    text = (
        "REGISTER QUERY q COMPUTED EVERY 2m AS PREFIX : <http://x/> SELECT ISTREAM DISTINCT ?v ?o\n"
        "FROM STREAM <http://x/stream> [RANGE 4m STEP 2m]\n"
        "FROM STREAM <http://x/door2> [RANGE 4m STEP 2m]\n"
        "FROM <http://x/places.rdf>\n"
        "WHERE { ?s :in 'A' . ?r :by ?s ; :v ?v . ?s :opens ?o }"
    )
    project = ontoweir.open_project(tmp_path / "p")
    found = _replay(project, text)
    assert {at.minute: sorted(bag) for at, bag in found.items()} == {
        2: [("1", "http://x/room/2"), ("2", "http://x/room/2")]
    }


@pytest.mark.parametrize(
    ("body", "named"),
    [
        # :from is of both streams, but ?r is what :by is of; a room is of doors alone
        ("?r :by ?s ; :from ?a . ?s :opens ?o", "W { ?r :by ?s ; :from ?a } D { ?s :opens ?o }"),
        (
            "?r :by ?s . ?s :opens ?o ; :from ?a . ?r :from 'a reading'",
            "W { ?r :by ?s ; :from 'a reading' } D { ?s :opens ?o ; :from ?a }",
        ),
        ("?s :opens <http://x/room/2> . ?r :by ?s", "W { ?r :by ?s } D { ?s :opens :room2 }"),
    ],
)
def test_each_pattern_is_of_the_stream_that_can_make_it(
    body: str, named: str, tmp_path: Path
) -> None:
    """Windows of different lengths: C-SPARQL's graph as RSP-QL, which names the window of each."""
    draw = random.Random(7)
    reading, door = _rows(draw)
    _write(tmp_path / "p", reading, door)
    project = ontoweir.open_project(tmp_path / "p")
    merged = (
        "REGISTER QUERY q COMPUTED EVERY 1m AS PREFIX : <http://x/> SELECT DISTINCT ?s\n"
        "FROM STREAM <http://x/stream> [RANGE 4m STEP 1m]\n"
        "FROM STREAM <http://x/door2> [RANGE 6m STEP 1m]\n"
        f"WHERE {{ {body} }}"
    )
    apart = (
        f"{PREFIX}REGISTER RSTREAM :q AS SELECT DISTINCT ?s\n"
        "FROM NAMED WINDOW :w ON :stream [RANGE PT4M STEP PT1M]\n"
        "FROM NAMED WINDOW :d ON :door2 [RANGE PT6M STEP PT1M]\n"
        f"WHERE {{ {named} }}"
    )
    apart = apart.replace("W {", "WINDOW :w {").replace("D {", "WINDOW :d {")
    found = _replay(project, merged)
    assert found
    assert found == _replay(project, apart.replace(":room2", "<http://x/room/2>"))
