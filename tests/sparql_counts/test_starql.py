"""STARQL against its definition: at every time of the pulse, the states of the window are evaluated
by brute force, in code that shares nothing with the pipeline."""

import random
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import settings

import ontoweir
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import make_job
from tests.oracle import random_queries
from tests.oracle.test_windows_beside import run_live

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TOML = """
[project]
mappings = ["m.ttl"]
queries = ["*.starql"]
[streams.m]
iri = "http://x/measurements"
source = { format = "csv", path = "m.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 5
keys = [["k", "ts"]]
columns = { k = { type = "int", min = 1, max = 4 }, v = "int" }
[streams.alarm]
source = { format = "csv", path = "alarm.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 5
keys = [["k", "ts"]]
columns = { k = { type = "int", min = 1, max = 4 }, code = "int" }
[relations.sensor]
source = { format = "csv", path = "sensor.csv", options = { header = "true" } }
keys = [["k"]]
columns = { k = "int", kind = "string" }
"""
MAPPING = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix : <http://x/> .
<#m> rr:logicalTable [ rr:tableName "m" ] ; rr:subjectMap [ rr:template "http://x/s/{k}" ] ;
  rr:predicateObjectMap [ rr:predicate :val ; rr:objectMap [ rr:column "v" ] ] .
<#a> rr:logicalTable [ rr:tableName "alarm" ] ; rr:subjectMap [ rr:template "http://x/s/{k}" ] ;
  rr:predicateObjectMap [ rr:predicate :alarm ; rr:objectMap [ rr:column "code" ] ] .
<#s> rr:logicalTable [ rr:tableName "sensor" ] ;
  rr:subjectMap [ rr:template "http://x/s/{k}" ; rr:class :Sensor ] ;
  rr:predicateObjectMap [ rr:predicate :kind ; rr:objectMap [ rr:column "kind" ] ] .
"""
Row: TypeAlias = tuple[int, int, int]
"""A minute, a sensor, a value."""
SENSORS = {1: "a", 2: "b", 3: "a"}
SEEDS = max(2, settings().max_examples // 30)


class Case(NamedTuple):
    """What is shown; WHERE; HAVING; and what holds of the values of a sensor, by minute, and of its
    alarms."""

    shown: str
    where: str
    having: str
    holds: Callable[[list[tuple[int, int]], list[tuple[int, int]]], Iterable[tuple[str, ...]]]


def _if(condition: bool) -> list[tuple[str, ...]]:
    return [()] if condition else []


_ALL = "{ ?k a :Sensor }"
_PAIR = "GRAPH i { ?k :val ?x } AND GRAPH j { ?k :val ?y }"
CASES = {
    "rising": Case(
        "?k",
        _ALL,
        f"FORALL i, j IN SEQ1 ?x, ?y ( IF (({_PAIR}) AND i < j) THEN ?x <= ?y )",
        lambda m, a: _if(all(x <= y for s, x in m for t, y in m if s < t)),
    ),
    "above": Case(
        "?k",
        _ALL,
        "EXISTS i IN SEQ1 ?z ( GRAPH i { ?k :val ?z . } AND ?z + 1 > 3 )",
        lambda m, a: _if(any(z > 2 for _, z in m)),
    ),
    "a fall": Case(
        "?k",
        "",
        f"exists i, j in SEQ1 ?x, ?y ( {_PAIR} AND i < j AND ?x > ?y )",
        lambda m, a: _if(any(x > y for s, x in m for t, y in m if s < t)),
    ),
    "all within": Case(
        "?k",
        "{ ?k a :Sensor ; :kind 'a' }",
        "FORALL i IN SEQ1 ?x ( IF GRAPH i { ?k :val ?x } THEN (?x > 1 AND (?x < 4)) )",
        lambda m, a: _if(all(1 < x < 4 for _, x in m)),
    ),
    "none above": Case(
        "?k",
        _ALL,
        "NOT EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND NOT ?x <= 3 )",
        lambda m, a: _if(not any(x > 3 for _, x in m)),
    ),
    "no value is forbidden": Case(
        "?k",
        _ALL,
        "FORALL i IN SEQ1 ?x ( NOT (GRAPH i { ?k :val ?x } AND (?x = 2 OR ?x = 4)) )",
        lambda m, a: _if(not any(x in (2, 4) for _, x in m)),
    ),
    "one or the other": Case(
        "?k",
        _ALL,
        "EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND ?x = 1 ) "
        "OR EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND ?x = 4 )",
        lambda m, a: _if(any(x in (1, 4) for _, x in m)),
    ),
    "two rules": Case(
        "?k",
        _ALL,
        f"FORALL i, j IN SEQ1 ?x, ?y ( IF ({_PAIR} AND i < j) THEN ?y - ?x < 3 ) AND "
        "FORALL i IN SEQ1 ?x ( IF (GRAPH i { ?k :val ?x }) THEN ?x != 2 )",
        lambda m, a: _if(
            all(y - x < 3 for s, x in m for t, y in m if s < t) and all(x != 2 for _, x in m)
        ),
    ),
    "values are their own": Case(
        "?k",
        "",
        "EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND ?x > 3 ) AND "
        "EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND ?x < 2 )",
        lambda m, a: _if(any(x > 3 for _, x in m) and any(x < 2 for _, x in m)),
    ),
    "what is free is shown": Case(
        "?k ?x",
        "",
        "EXISTS i IN SEQ1 ( GRAPH i { ?k :val ?x } AND ?x >= 3 )",
        lambda m, a: {(str(x),) for _, x in m if x >= 3},
    ),
    "aggregates": Case(
        "?k SUM(?x) AS ?all",
        _ALL,
        "EXISTS i IN SEQ1 ( GRAPH i { ?k :val ?x } )\n"
        "GROUP BY ?k HAVING AGGREGATE (MAX(?x) - 1) > MIN(?x) AND NOT COUNT(?x) > 4",
        lambda m, a: (
            [(str(sum(x for _, x in m)),)]
            if m and max(x for _, x in m) - 1 > min(x for _, x in m) and len(m) <= 4
            else []
        ),
    ),
    "an alarm after it": Case(
        "?k",
        _ALL,
        "EXISTS i, j IN SEQ1 ?x, ?y ( GRAPH i { ?k :val ?x } AND GRAPH j { ?k :alarm ?y } "
        "AND i < j AND ?x = ?y )",
        lambda m, a: _if(any(s < t and x == y for s, x in m for t, y in a)),
    ),
    "no alarm at one time": Case(
        "?k",
        _ALL,
        "FORALL i IN SEQ1 ?x, ?y ( IF (GRAPH i { ?k :val ?x } AND GRAPH i { ?k :alarm ?y }) "
        "THEN ?x < ?y )",
        lambda m, a: _if(all(x < y for s, x in m for t, y in a if s == t)),
    ),
}


def write_project(folder: Path, m: list[Row], alarms: list[Row]) -> None:
    folder.mkdir()
    (folder / "ontoweir.toml").write_text(TOML)
    (folder / "m.ttl").write_text(MAPPING)
    for name, column, rows in (("m", "v", m), ("alarm", "code", alarms)):
        lines = [f"{FIRST + timedelta(minutes=t):%Y-%m-%dT%H:%M:%S},{k},{v}" for t, k, v in rows]
        (folder / f"{name}.csv").write_text("\n".join([f"ts,k,{column}", *lines, ""]))
    kinds = [f"{k},{kind}" for k, kind in SENSORS.items()]
    (folder / "sensor.csv").write_text("\n".join(["k,kind", *kinds, ""]))


def draw_rows(draw: random.Random) -> list[Row]:
    places = sorted(draw.sample([(t, k) for t in range(14) for k in (1, 2, 3, 4)], 11))
    return [(t, k, draw.randint(1, 4)) for t, k in places]


def write_text(case: Case, length: int, slide: int, every: int, start: int) -> str:
    streams = [
        f'm [NOW - "PT{length}M"^^xsd:duration, NOW] -> "PT{slide}M"^^xsd:duration',
        f"STREAM alarm [ NOW - PT{length}M, NOW ]->PT{slide}M",
    ]
    more = f", {streams[1]}" * (":alarm" in case.having)
    where = f"WHERE {case.where}" * bool(case.where)
    return f"""PREFIX : <http://x/>
CREATE PULSE p WITH START = "2026-01-01T00:0{start}:00Z"^^XSD:DATETIME,
  FREQUENCY = "PT{every}M"^^XSD:DURATION
CREATE STREAM out AS
SELECT {{ {case.shown} }}
FROM STREAM {streams[0]}{more}, STATIC ABOX <http://x/abox>, STATIC TBOX <http://x/tbox>
USING PULSE p
{where}
SEQUENCE BY StdSeq AS SEQ1
HAVING {case.having}"""


def _wanted(
    case: Case, m: list[Row], alarms: list[Row], shape: tuple[int, int, int, int]
) -> dict[datetime, set[tuple[str, ...]]]:
    """The answers of each minute at which they are others than before."""
    length, slide, every, start = shape
    read = [*m, *(alarms if ":alarm" in case.having else [])]
    first, last = min(t for t, _, _ in read), max(t for t, _, _ in read)
    made: dict[datetime, set[tuple[str, ...]]] = {}
    before: set[tuple[str, ...]] = set()
    for minute in range(first, last + 1):
        pulse = (minute - start) // every * every
        end = pulse // slide * slide + start
        now: set[tuple[str, ...]] = set()
        for k in SENSORS if "Sensor" in case.where else (1, 2, 3, 4):
            if "'a'" in case.where and SENSORS[k] != "a":
                continue
            mine, others = (
                [(t, v) for t, key, v in rows if key == k and end - length <= t <= end]
                for rows in (m, alarms)
            )
            now |= {(f"http://x/s/{k}", *more) for more in case.holds(mine, others)}
        if now != before and now:
            made[FIRST + timedelta(minutes=minute)] = now
        before = now
    return made


def _replay(folder: Path, text: str) -> dict[datetime, set[tuple[str, ...]]]:
    made: dict[datetime, set[tuple[str, ...]]] = {}
    (folder / "q.starql").write_text(text)
    table = ontoweir.open_project(folder).replay("q").to_arrow()
    shown = [n for n in table.column_names if n not in ("at", "multiplicity")]
    for row in table.to_pylist():
        answer = tuple(str(row[n]) for n in shown)
        answers = made.setdefault(row["at"].replace(tzinfo=UTC), set())
        assert answer not in answers
        assert row.get("multiplicity", 1) == 1
        answers.add(answer)
    return made


@pytest.mark.filterwarnings("ignore::ontoweir.errors.OntoweirWarning")
@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_the_definition(name: str, tmp_path: Path) -> None:
    answered = 0
    for seed in range(SEEDS):
        draw = random.Random(f"{name} {seed}")
        m, alarms = draw_rows(draw), draw_rows(draw)
        slide, every, start = draw.choice(
            [(1, 1, 0), (2, 2, 0), (2, 1, 0), (1, 2, 0), (3, 3, 1), (4, 2, 1), (2, 4, 3)]
        )
        shape = draw.choice((2, 3, 5)), slide, every, start
        write_project(tmp_path / str(seed), m, alarms)
        text = write_text(CASES[name], *shape)
        found = _replay(tmp_path / str(seed), text)
        last = FIRST + timedelta(minutes=max(t for t, _, _ in m))
        if ":alarm" in text:
            last = max(last, FIRST + timedelta(minutes=max(t for t, _, _ in alarms)))
        kept = {at: rows for at, rows in found.items() if at <= last}
        wanted = _wanted(CASES[name], m, alarms, shape)
        assert kept == wanted, (text, m, alarms)
        answered += len(wanted)
    assert answered


@pytest.mark.filterwarnings("ignore::ontoweir.errors.OntoweirWarning")
@pytest.mark.parametrize(
    "name", ["rising", "above", "two rules", "aggregates", "an alarm after it"]
)
def test_live_is_as_replayed(name: str, tmp_path: Path) -> None:
    draw = random.Random(name)
    m, alarms = draw_rows(draw), draw_rows(draw)
    write_project(tmp_path / "p", m, alarms)
    (tmp_path / "p" / "q.starql").write_text(write_text(CASES[name], 3, 2, 1, 1))
    workspace = Workspace(load_project(tmp_path / "p", environ={}))
    compiled = workspace.compile("q")
    verdict = check_query(compiled.union, workspace.project.catalog)
    job = make_job(workspace, compiled, verdict, Statistics())[0]
    assert job.emit is Emit.SNAPSHOTS
    first = int(FIRST.timestamp()) * 1_000_000
    data: Any = {
        stream: ([*columns, "ts"], [(k, v, first + 60_000_000 * t) for t, k, v in rows])
        for stream, columns, rows in (("m", ["k", "v"], m), ("alarm", ["k", "code"], alarms))
    }
    data["sensor"] = (["k", "kind"], list(SENSORS.items()))
    case = random_queries.Case(job.catalog, job.union, data, 14, {"sensor.kind": "VARCHAR"})
    live, done = run_live(job, case, draw, tmp_path / "check")
    found: dict[datetime, set[tuple[str, ...]]] = {}
    for row in live:
        at = row.pop("at").replace(tzinfo=UTC)
        row.pop("multiplicity", None)
        found.setdefault(at, set()).add(tuple(str(cell) for cell in row.values()))
    wanted = _replay(tmp_path / "p", write_text(CASES[name], 3, 2, 1, 1))
    until = datetime.fromtimestamp(done / 1_000_000, UTC)
    assert found
    assert found == {at: rows for at, rows in wanted.items() if at <= until}


def check_text(folder: Path, text: str) -> None:
    (folder / "q.starql").write_text(text)
    ontoweir.open_project(folder).check("q")


REFUSED = {
    "EXISTS i IN SEQ1 ( GRAPH j { ?k :val ?x } )": (9, "the index i without GRAPH i"),
    "EXISTS i IN SEQ1 ( GRAPH i { ?k :val ?x } AND GRAPH j { ?k :val ?x } )": (9, "GRAPH j"),
    "FORALL i IN SEQ1 ?x ( IF GRAPH i { ?s :val ?x } THEN ?x > 1 )": (9, "s is not safe here"),
    "FORALL i IN SEQ1 ?x ( IF GRAPH i { ?k :val ?x } THEN ?y > 1 )": (9, "y is not safe here"),
    "FORALL i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } )": (9, "FORALL without IF"),
    "EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND ?z > ?x )": (9, "z is not safe here"),
    "EXISTS i, j IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND GRAPH j { ?k :val ?x } AND i = j + 1 )": (
        9,
        "i = j + 1: arithmetic with indices",
    ),
    "GRAPH NOW { ?k :val ?x }": (9, "GRAPH NOW"),
    "IF ?x > 1 THEN ?x > 2": (9, "IF … THEN outside of FORALL"),
    "EXISTS i IN SEQ1 ( GRAPH i { ?k :val ?x } AND )": (9, "')' where a comparison"),
    "EXISTS i IN SEQ1 ( GRAPH i { ?k :val ?x }": (9, "the query ends too early"),
}


@pytest.mark.filterwarnings("ignore::ontoweir.errors.OntoweirWarning")
@pytest.mark.parametrize("having", REFUSED)
def test_what_is_refused_by_name(having: str, tmp_path: Path) -> None:
    line, said = REFUSED[having]
    write_project(tmp_path / "p", [(0, 1, 1)], [])
    text = write_text(CASES["rising"]._replace(having=having), 2, 1, 1, 0)
    with pytest.raises(QueryError, match=re.escape(said)) as error:
        check_text(tmp_path / "p", text)
    assert error.value.source is not None
    assert error.value.source.line == line + 1


HEADS = {
    ("SEQ1\n", "SEQ1 SEQ2\n"): "'SEQ2' where the end is expected",
    ("StdSeq", "XSeq"): "SEQUENCE BY XSeq",
    ("PULSE p\n", "PULSE q\n"): "USING PULSE q; CREATE PULSE makes p",
    ("STREAM m", "STREAM gone"): "no stream is called gone",
    ("NOW]", "NOW + 1]"): "a window [NOW",
    ("PT2M", "P1M"): "as a length of time",
    ("FREQUENCY", "OFTEN"): "'OFTEN' where START or END or FREQUENCY is expected",
    ("00:00Z", "00:00XYZ"): "as a time",
    ("CREATE STREAM out AS", "CREATE AGGREGATE OPERATOR x AS"): "CREATE AGGREGATE OPERATOR",
    ("SELECT { ?k }", "SELECT { ?z }"): "?z is shown, and has no value",
    ("?k a :Sensor", "GRAPH ?i { ?k a :Sensor }"): "GRAPH in WHERE",
    ("SELECT", "ASK"): "'ASK' where SELECT or CONSTRUCT is expected",
}


@pytest.mark.filterwarnings("ignore::ontoweir.errors.OntoweirWarning")
@pytest.mark.parametrize("change", HEADS)
def test_what_is_wrong_around_conditions(change: tuple[str, str], tmp_path: Path) -> None:
    write_project(tmp_path / "p", [(0, 1, 1)], [])
    text = write_text(CASES["rising"], 2, 1, 1, 0)
    assert change[0] in text
    with pytest.raises(QueryError, match=re.escape(HEADS[change])):
        check_text(tmp_path / "p", text.replace(*change, 1))


def test_the_best_known_query_keeps_two_rows_of_each_state(tmp_path: Path) -> None:
    """`change.md`, case 25: decided, and bounded by R · 60."""
    write_project(tmp_path / "p", [(0, 1, 1)], [])
    toml = TOML.replace("1 minute", "1 second")
    (tmp_path / "p" / "ontoweir.toml").write_text(toml)
    text = write_text(CASES["rising"], 1, 1, 1, 0).replace('START = "2026-01-01T00:00:00Z"^^', "")
    text = text.replace("XSD:DATETIME,\n", "").replace('-> "PT1M"', '-> "PT1S"')
    text = text.replace('FREQUENCY = "PT1M"', 'FREQUENCY = "PT1S"')
    (tmp_path / "p" / "q.starql").write_text(text)
    verdict = ontoweir.open_project(tmp_path / "p").check("q")
    assert verdict.bound is not None
    assert "2 · R(m_1) · 60 steps" in verdict.bound.formula
    assert "R(m_2)" not in verdict.bound.formula
