"""Linear Road's cars, and what rules on how their rows come save: state and time of a replay, with
the rule and without it (Babu, Srivastava and Widom 2004, section 9, Table III).

    python benchmarks/arrival/linear_road.py [--trips 40000] [--repeat 3] [--only NAME]
        [--json FILE]

Cars report their position every 30 seconds while they are on the road, which is of 100 segments;
some stop for a while; a segment that a car enters may cost a toll, which is noted within 5 seconds.
The input is made here, from a seed, in the shape of the benchmark's (Arasu et al., VLDB 2004).
Each query is asked in SQL and, but for one, in SPARQL. Every replay is in a process of its own,
and its answers are compared with DuckDB's; without the rule the query is not bounded, and keeps all
that may be needed (`--allow-unbounded`). Reported are the most rows of state and the CPU seconds of
the replay, the least of several.
"""

import argparse
import io
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir import cli

SECOND = 1_000_000
REPORTS = 30
"""Seconds from one report of a car to the next."""
MILE = 5_280
HOUR = 3_600

REPORT = """
[streams.report]
source = {{ format = "parquet", path = "../report.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = {reports}
keys = [["trip", "ts"]]
{report}
[streams.report.columns]
trip = "int"
speed = {{ type = "int", min = 0, max = 100 }}
seg = {{ type = "int", min = 0, max = 99 }}
xpos = "int"

[streams.toll]
source = {{ format = "parquet", path = "../toll.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = {tolls}
keys = [["trip", "seg", "ts"]]
{toll}
columns = {{ trip = "int", seg = "int", cents = "int" }}

[project]
ontology = ["road.ttl"]
mappings = ["road.r2rml.ttl"]
"""
ONTOLOGY = """@prefix : <http://road.example/ns#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:onTrip a owl:DatatypeProperty . :inSegment a owl:DatatypeProperty . :at a owl:DatatypeProperty .
:forTrip a owl:DatatypeProperty . :forSegment a owl:DatatypeProperty .
:cents a owl:DatatypeProperty .
"""
MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://road.example/ns#> .
@base <http://road.example/mapping/> .
<Report> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "report" ] ;
  rr:subjectMap [ rr:template "http://road.example/report/{trip}" ] ;
  rr:predicateObjectMap [ rr:predicate :onTrip ; rr:objectMap [ rr:column "trip" ] ] ,
    [ rr:predicate :inSegment ; rr:objectMap [ rr:column "seg" ] ] ,
    [ rr:predicate :at ; rr:objectMap [ rr:column "xpos" ] ] .
<Toll> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "toll" ] ;
  rr:subjectMap [ rr:template "http://road.example/toll/{trip}/{seg}" ] ;
  rr:predicateObjectMap [ rr:predicate :forTrip ; rr:objectMap [ rr:column "trip" ] ] ,
    [ rr:predicate :forSegment ; rr:objectMap [ rr:column "seg" ] ] ,
    [ rr:predicate :cents ; rr:objectMap [ rr:column "cents" ] ] .
"""
GAP = 'clustered = [{ columns = ["trip"], gap = "30 seconds" }]'
FEW = GAP.replace(" }]", ", max_rows_per_value = 1000 }]")
"""A trip has a report every 30 seconds: of more than eight hours there is none."""
WITHIN = 'clustered = [{ columns = ["trip"], within = "1 hour" }]'
LAG = (
    'lags = [{ behind = "report", columns = ["trip", "seg"], to = ["trip", "seg"], '
    'within = "5 seconds" }]'
)


@dataclass(frozen=True)
class Question:
    """A query, the rule that bounds it, and what DuckDB is asked: `whole`, and `final`, what of it
    is known to be final when the history ends. `paper`: its name there."""

    paper: str
    report: str
    toll: str
    sql: str
    sparql: str
    whole: str
    final: str = ""


TRIPS = "SELECT trip, COUNT(*) AS reports, MIN(seg) AS low, MAX(seg) AS high FROM report"
QUESTIONS = {
    "trips": Question(
        "CarExitStr",
        GAP,
        "",
        f"{TRIPS} WHERE trip IS NOT NULL GROUP BY trip",
        "SELECT ?trip (COUNT(*) AS ?reports) (MIN(?seg) AS ?low) (MAX(?seg) AS ?high) "
        "{ GRAPH ?t { ?r :onTrip ?trip ; :inSegment ?seg } } GROUP BY ?trip",
        f"{TRIPS} GROUP BY trip",
        " HAVING MAX(ts) + INTERVAL '30' SECOND <= (SELECT MAX(ts) FROM report)",
    ),
    "trips, in their order": Question(
        "CarExitStr",
        'ordered = [{{ column = "trip", slack = {slack} }}]',
        "",
        f"{TRIPS} WHERE trip IS NOT NULL GROUP BY trip",
        "SELECT ?trip (COUNT(*) AS ?reports) (MIN(?seg) AS ?low) (MAX(?seg) AS ?high) "
        "{ GRAPH ?t { ?r :onTrip ?trip ; :inSegment ?seg } } GROUP BY ?trip",
        f"{TRIPS} GROUP BY trip",
        " HAVING trip + {slack} < (SELECT MAX(trip) FROM report)",
    ),
    "segments of cars": Question(
        "CurCarSeg",
        GAP,
        "",
        "SELECT DISTINCT trip, seg FROM report WHERE trip IS NOT NULL AND seg >= 0",
        "",
        "SELECT DISTINCT trip, seg FROM report",
    ),
    "stopped cars": Question(
        "AccSeg",
        WITHIN,
        "",
        "SELECT b.trip, b.seg FROM report a JOIN report b "
        "ON a.trip = b.trip AND a.xpos = b.xpos AND a.ts < b.ts",
        "SELECT ?trip ?seg { GRAPH ?t { ?a :onTrip ?trip ; :at ?x } "
        "GRAPH ?u { ?b :onTrip ?trip ; :at ?x ; :inSegment ?seg } FILTER(?t < ?u) }",
        "SELECT b.trip, b.seg FROM report a JOIN report b "
        "ON a.trip = b.trip AND a.xpos = b.xpos AND a.ts < b.ts",
    ),
    "stopped cars, of trips that go on": Question(
        "AccSeg",
        FEW,
        "",
        "SELECT b.trip, b.seg FROM report a JOIN report b "
        "ON a.trip = b.trip AND a.xpos = b.xpos AND a.ts < b.ts",
        "SELECT ?trip ?seg { GRAPH ?t { ?a :onTrip ?trip ; :at ?x } "
        "GRAPH ?u { ?b :onTrip ?trip ; :at ?x ; :inSegment ?seg } FILTER(?t < ?u) }",
        "SELECT b.trip, b.seg FROM report a JOIN report b "
        "ON a.trip = b.trip AND a.xpos = b.xpos AND a.ts < b.ts",
    ),
    "tolls": Question(
        "NegTollStr",
        "",
        LAG,
        "SELECT r.trip, r.seg, t.cents FROM report r JOIN toll t "
        "ON r.trip = t.trip AND r.seg = t.seg AND r.ts <= t.ts",
        "SELECT ?trip ?seg ?cents { GRAPH ?t { ?r :onTrip ?trip ; :inSegment ?seg } "
        "GRAPH ?u { ?n :forTrip ?trip ; :forSegment ?seg ; :cents ?cents } FILTER(?t <= ?u) }",
        "SELECT r.trip, r.seg, t.cents FROM report r JOIN toll t "
        "ON r.trip = t.trip AND r.seg = t.seg AND r.ts <= t.ts",
    ),
}


def generate(folder: Path, trips: int, seed: int = 1) -> dict[str, int]:
    """The reports of cars and the tolls: `report.parquet` and `toll.parquet`; the most rows of a
    second of each, and by how much the number of a trip is less than the greatest before it."""
    draw = np.random.default_rng(seed)
    enters = np.sort(draw.integers(0, max(trips // 8, 1), trips))
    first = draw.integers(0, 70, trips)
    length = draw.integers(2, 30, trips)  # in segments
    speed = draw.integers(40, 100, trips)  # in miles an hour
    stops = np.where(draw.random(trips) < 0.02, draw.integers(3, 10, trips), 0)
    drives = (length * HOUR / speed / REPORTS).astype(np.int64) + 1
    counts = drives + stops
    trip = np.repeat(np.arange(trips), counts)
    number = np.arange(len(trip)) - np.repeat(np.cumsum(counts) - counts, counts)
    half = (drives // 2)[trip]
    stood = np.clip(number - half, 0, stops[trip])
    moved = (number - stood) * REPORTS * speed[trip] * MILE // HOUR
    xpos = first[trip] * MILE + moved
    seg = np.minimum(xpos // MILE, 99)
    ts = enters[trip] + number * REPORTS
    order = np.argsort(ts, kind="stable")
    columns = {
        "ts": pa.array(ts[order] * SECOND).cast(pa.timestamp("us")),
        "trip": trip[order],
        "speed": np.where(stood > 0, 0, speed[trip])[order],
        "seg": seg[order],
        "xpos": xpos[order],
    }
    pq.write_table(pa.table(columns), folder / "report.parquet", row_group_size=1 << 17)
    fresh = np.ones(len(trip), dtype=np.bool_)
    fresh[1:] = (trip[1:] != trip[:-1]) | (seg[1:] != seg[:-1])
    paid = np.flatnonzero(fresh & (seg % 3 == 0))
    noted = ts[paid] + draw.integers(0, 6, len(paid))
    after = np.argsort(noted, kind="stable")
    tolls = {
        "ts": pa.array(noted[after] * SECOND).cast(pa.timestamp("us")),
        "trip": trip[paid][after],
        "seg": seg[paid][after],
        "cents": draw.integers(50, 900, len(paid)),
    }
    pq.write_table(pa.table(tolls), folder / "toll.parquet", row_group_size=1 << 17)
    came = trip[order]
    return {
        "rows": len(trip) + len(paid),
        "reports": int(np.bincount(ts).max()),
        "tolls": int(np.bincount(noted).max()),
        "slack": int((np.maximum.accumulate(came) - came).max()),
    }


def write_project(
    folder: Path, sizes: dict[str, int], question: Question, language: str, *, ruled: bool
) -> None:
    """The project of a question, with its rule or without, asked in a language."""
    folder.mkdir(exist_ok=True)
    report = question.report.format(**sizes) if "{{" in question.report else question.report
    rules = {"report": report, "toll": question.toll} if ruled else {"report": "", "toll": ""}
    text = REPORT.format(**sizes, **rules)
    if language == "rq":
        text = text.replace("[project]", '[project]\nqueries = ["asked.rq"]')
    (folder / "ontoweir.toml").write_text(text, encoding="utf-8")
    (folder / "road.ttl").write_text(ONTOLOGY, encoding="utf-8")
    (folder / "road.r2rml.ttl").write_text(MAPPING, encoding="utf-8")
    for file in folder.glob("asked.*"):
        file.unlink()
    asked = question.sql
    if language == "rq":
        asked = f"PREFIX : <http://road.example/ns#>\n{question.sparql}\n"
    (folder / f"asked.{language}").write_text(asked, encoding="utf-8")


def replay(folder: Path, *, each: bool = False) -> dict[str, Any]:
    """Replay in this process, after the query has been decided: what it took; `each`: without a
    rule, groups have a row at every change."""
    asked = ["--query", "asked"]
    if (folder / "asked.sql").exists():
        asked = ["--sql", str(folder / "asked.sql")]
    command = [str(folder), *asked]
    decided = _run(["check", *command, "--format", "json"])
    tier = decided[0]["verdict"] if isinstance(decided, list) else decided["verdict"]
    output = str(folder / "answers.parquet")
    options = ["--output", output, "--engine", "driver", "--summary", "json", "--quiet"]
    if tier not in ("bounded", "conditionally-bounded"):
        options += ["--allow-unbounded"] if each else ["--allow-unbounded", "--final"]
    before = resource.getrusage(resource.RUSAGE_SELF)
    summary = _run(["replay", *command, *options])
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"tier": tier, "rows": summary["state_rows_max"], "cpu": round(cpu, 3)}


def _run(command: Sequence[str]) -> Any:
    """What a command of ours prints, which is JSON."""
    said = io.StringIO()
    with redirect_stdout(said):
        cli.main(list(command))
    return json.loads(said.getvalue())


def measure(folder: Path, repeat: int, *, each: bool = False) -> dict[str, Any]:
    """As replay, in processes of their own; the least CPU seconds of several."""
    command = [sys.executable, __file__, "--replay", str(folder), *(["--each"] if each else [])]
    told = [
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for _ in range(repeat)
    ]
    return {**told[0], "cpu": min(one["cpu"] for one in told)}


def answers_equal(folder: Path, asked: str) -> bool:
    """Whether the answers of a replay are those of DuckDB, with how often each occurs."""
    with duckdb.connect() as connection:
        for name in ("report", "toll"):
            file = folder.parent / f"{name}.parquet"
            connection.execute(f"CREATE VIEW {name} AS FROM '{file}'")
        expected = connection.execute(asked).to_arrow_table()
    found = pq.read_table(folder / "answers.parquet")
    if "multiplicity" in found.column_names:
        counts = found.column("multiplicity").to_numpy()
        found = found.take(pa.array(np.repeat(np.arange(found.num_rows), counts)))
    names = expected.column_names
    tables = [table.select(names) for table in (found, expected)]
    tables = [pa.table([column.cast(pa.int64()) for column in t.columns], names) for t in tables]
    order = [(name, "ascending") for name in names]
    return bool(
        tables[0].sort_by(order).combine_chunks() == tables[1].sort_by(order).combine_chunks()
    )


def compare(folder: Path, name: str, language: str, sizes: dict[str, int], repeat: int) -> Any:
    """A question with its rule and without: state, time, and whether the answers are right."""
    question, told = QUESTIONS[name], {}
    for ruled in (True, False):
        place = folder / ("ruled" if ruled else "plain")
        write_project(place, sizes, question, language, ruled=ruled)
        told[ruled] = measure(place, repeat)
        final = question.final.format(**sizes) if ruled else ""
        told[ruled]["right"] = answers_equal(place, question.whole + final)
    each = "GROUP BY" in question.sql
    return {
        "query": name,
        "paper": question.paper,
        "language": language,
        "tiers": [told[True]["tier"], told[False]["tier"]],
        "rows": [told[True]["rows"], told[False]["rows"]],
        "cpu": [told[True]["cpu"], told[False]["cpu"]],
        "each": measure(folder / "plain", repeat, each=True)["cpu"] if each else None,
        "right": told[True]["right"] and told[False]["right"],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trips", type=int, default=40_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=sorted(QUESTIONS), help="of the questions, this one")
    parser.add_argument("--json", type=Path, help="write what was measured there")
    parser.add_argument("--replay", type=Path, help="only replay the query of this folder")
    parser.add_argument("--each", action="store_true", help="so that each change has a row")
    options = parser.parse_args(arguments)
    if options.replay is not None:
        print(json.dumps(replay(options.replay, each=options.each)))
        return 0
    measured = []
    with tempfile.TemporaryDirectory() as place:
        sizes = generate(Path(place), options.trips)
        print(f"{options.trips:,} trips, {sizes['rows']:,} rows", flush=True)
        for name, question in QUESTIONS.items():
            if options.only not in (None, name):
                continue
            for language in ("sql", "rq") if question.sparql else ("sql",):
                one = compare(Path(place), name, language, sizes, options.repeat)
                measured.append(one)
                (rows, all_rows), (cpu, plain) = one["rows"], one["cpu"]
                each = ""
                if one["each"] is not None:
                    each = f"; of each change {one['each']:.2f} s = {cpu / one['each']:.2f}"
                print(
                    f"{name} ({one['paper']}), {language}: {' / '.join(one['tiers'])}; state "
                    f"{rows:,} / {all_rows:,} rows = {rows / max(all_rows, 1):.2f}; CPU {cpu:.2f} "
                    f"/ {plain:.2f} s = {cpu / plain:.2f}{each}"
                    f"{'' if one['right'] else '; NOT THE ANSWERS OF DUCKDB'}",
                    flush=True,
                )
    if options.json is not None:
        options.json.write_text(json.dumps({"sizes": sizes, "queries": measured}, indent=1))
    return 0 if all(one["right"] for one in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
