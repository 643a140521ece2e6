"""How long `ontoweir check` takes on a generated project: 100 mappings and 50 queries by default.

    .venv/bin/python benchmarks/decide/check_project_time.py [--mappings 100] [--queries 50]
        [--runs 3]
        [--keep FOLDER]

The project: a stream and a static relation for every ten triples maps, a class and two properties
for each, below common ones; queries over one to three graphs, a third with DISTINCT, a third with
windows, some unbounded. A first run writes Python's bytecode and is not counted; nothing is taken
from the cache. CPU seconds depend less than wall time on what else the machine does. The functions
that take most are listed.
"""

import argparse
import cProfile
import io
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from random import Random

PREFIX = "http://bench.example/ns#"


def write_project(folder: Path, mappings: int, queries: int) -> None:
    """A project of that many triples maps and queries."""
    draw = Random(7)
    tables = max(mappings // 10, 1)
    toml = [
        "[project]",
        'ontology = ["o.ttl"]',
        'mappings = ["m.ttl"]',
        'queries = ["queries/*.rq"]',
    ]
    for n in range(tables):
        toml += [
            f"[streams.s{n}]",
            f'source = {{ format = "parquet", path = "data/s{n}" }}',
            'timestamp = { column = "ts", unit = "1 minute" }',
            "max_per_timestamp = 50",
            'keys = [["id", "ts"]]',
            f'references = [{{ columns = ["thing"], relation = "r{n}", to = ["thing"] }}]',
            f"[streams.s{n}.columns]",
            'id = "int"',
            'thing = "int"',
            'a = { type = "int", min = 0, max = 100 }',
            'b = "int"',
            f"[relations.r{n}]",
            f'source = {{ format = "csv", path = "data/r{n}.csv" }}',
            'keys = [["thing"]]',
            "max_rows = 50",
            f"[relations.r{n}.columns]",
            'thing = "int"',
            'kind = "string"',
        ]
    maps = ["@prefix rr: <http://www.w3.org/ns/r2rml#> .", f"@prefix : <{PREFIX}> ."]
    axioms = ["@prefix owl: <http://www.w3.org/2002/07/owl#> .", f"@prefix : <{PREFIX}> ."]
    axioms.append("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .")
    for n in range(mappings):
        table, static = n // 10 % tables, n % 10 == 9
        column, threshold = draw.choice("ab"), draw.randint(0, 90)
        where = "" if static else f" WHERE a > {threshold}"
        value = "kind" if static else column
        source = f"SELECT thing, {value} FROM {'r' if static else 's'}{table}{where}"
        maps.append(
            f':M{n} rr:logicalTable [ rr:sqlQuery "{source}" ] ; '
            f'rr:subjectMap [ rr:template "http://bench.example/{table}/{{thing}}" ; '
            f"rr:class :C{n} ] ; "
            f'rr:predicateObjectMap [ rr:predicate :p{n} ; rr:objectMap [ rr:column "{value}" ] ] .'
        )
        axioms += [
            f":C{n} a owl:Class ; rdfs:subClassOf :T{table} .",
            f":T{table} a owl:Class .",
            f":p{n} a owl:DatatypeProperty ; rdfs:subPropertyOf :q{table}{'k' if static else ''} .",
            f":q{table}{'k' if static else ''} a owl:DatatypeProperty .",
        ]
    (folder / "queries").mkdir(parents=True)
    for n in range(queries):
        (folder / "queries" / f"q{n}.rq").write_text(make_query(draw, n, tables, mappings))
    (folder / "ontoweir.toml").write_text("\n".join(toml) + "\n")
    (folder / "m.ttl").write_text("\n".join(maps) + "\n")
    (folder / "o.ttl").write_text("\n".join(axioms) + "\n")


def make_query(draw: Random, number: int, tables: int, mappings: int) -> str:
    """One to three graphs about things of one table, in order of time."""
    table, graphs = draw.randrange(tables), 1 + number % 3
    own = [m for m in range(mappings) if m // 10 % tables == table and m % 10 != 9]
    patterns = []
    for g in range(graphs):
        general = g == 0 and number % 4 == 0
        predicate = f"q{table}" if general else f"p{draw.choice(own)}"
        patterns.append(f"  GRAPH ?t{g} {{ ?x :{predicate} ?v{g} }}")
    filters = [f"?t{g} < ?t{g + 1}" for g in range(graphs - 1)]
    if number % 3 == 0 and graphs > 1:
        filters.append(f'?t{graphs - 1} - ?t0 <= "PT30M"^^xsd:dayTimeDuration')
    if number % 2:
        filters.append(f"?v0 > {draw.randint(1, 50)}")
    shown = "?x ?v0" if graphs == 1 or number % 5 == 0 else "?x"
    body = "\n".join(patterns) + (f"\n  FILTER({' && '.join(filters)})" if filters else "")
    return (
        f"PREFIX : <{PREFIX}>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
        f"SELECT {'DISTINCT ' if number % 3 == 1 else ''}{shown} WHERE {{\n{body}\n}}\n"
    )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mappings", type=int, default=100)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the project there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary, "project")
        write_project(folder, given.mappings, given.queries)
        command = [sys.executable, "-m", "ontoweir.cli", "check", str(folder), "--format", "json"]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["ONTOWEIR_CACHE"] = "off"  # a first time, every time
        seconds, cpu = [], []
        for run in range(given.runs + 1):
            began, used = time.perf_counter(), children_cpu()
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"check ended with {done.returncode}: {done.stderr}")
            if run:
                seconds.append(time.perf_counter() - began)
                cpu.append(children_cpu() - used)
        verdicts = Counter(v["verdict"] for v in json.loads(done.stdout))
        record = {
            "mappings": given.mappings,
            "queries": given.queries,
            "median_seconds": round(statistics.median(seconds), 3),
            "median_cpu_seconds": round(statistics.median(cpu), 3),
            "best_seconds": round(min(seconds), 3),
            "verdicts": dict(verdicts),
        }
        print(json.dumps(record))
        show_profile(folder)
    return 0


def children_cpu() -> float:
    """Seconds of processor time that ended children took."""
    times = os.times()
    return times.children_user + times.children_system


def show_profile(folder: Path) -> None:
    """The functions of ontoweir that take most of the time, callees included."""
    from ontoweir.cli import main as run

    profile = cProfile.Profile()
    with redirect_stdout(io.StringIO()):
        profile.runcall(run, ["check", str(folder), "--quiet"])
    found = pstats.Stats(profile).get_stats_profile()
    ours = sorted(
        ((f.cumtime, name, f) for name, f in found.func_profiles.items()), reverse=True, key=first
    )
    print("seconds  calls  function (with its callees, under the profiler)")
    shown = [(s, n, f) for s, n, f in ours if "ontoweir" in f.file_name]
    for cumulative, name, f in shown[:25]:
        print(f"{cumulative:7.2f}  {f.ncalls:>9}  {Path(f.file_name).name}:{f.line_number} {name}")


def first(entry: tuple[float, str, object]) -> float:
    """What is sorted by."""
    return entry[0]


if __name__ == "__main__":
    sys.exit(main())
