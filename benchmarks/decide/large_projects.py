"""Projects of real size, and how long `check` takes on them, the first time and the second.

    .venv/bin/python benchmarks/decide/large_projects.py [--kinds 20000,500,500]
        [--fleet 300,1000,200]
        [--large 97000,500,5000] [--brick Brick.ttl] [--only NAME] [--keep FOLDER]

- kinds: classes in a tree, properties, and triples maps over one stream that differ in `kind = n`
  (sensors typed by a column, as in Brick or SAREF);
- fleet: streams, each mapped to a subclass of one class of observations with value and device;
  devices; and queries over them;
- large: as kinds, with some 100,000 axioms;
- brick: Brick 1.4 as published, with triples maps for its classes of sensors. The PyPI package
  brickschema holds it: `pip install --no-deps brickschema`; it is found there, or named.

Every project is made from a seed. A first run that is not counted writes Python's bytecode; then
`check` runs with an empty cache, again, and once more when one query has changed. CPU seconds and
the peak of memory are the process's and its children's; the stages, in seconds of the clock, are
those of `check --verbose`. The last line is how busy the machine was.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import Random

SPACE = "http://bench.example/ns#"
HEAD = f"""@prefix : <{SPACE}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
RR = f"@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <{SPACE}> .\n"
PROJECT = """[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["queries/*.rq"]
"""


def write_stream(name: str, columns: str) -> str:
    """A stream of the catalog, keyed by `id`."""
    return f"""
[streams.{name}]
source = {{ format = "parquet", path = "data/{name}" }}
timestamp = {{ column = "ts", unit = "1 minute" }}
keys = [["id", "ts"]]
[streams.{name}.columns]
{columns}
"""


def write_map(name: str, table: str, template: str, cls: str, pairs: dict[str, str]) -> str:
    """A triples map over a query; `pairs` are properties with columns or templates."""
    objects = "".join(
        f" ;\n  rr:predicateObjectMap [ rr:predicate {p} ; rr:objectMap [ "
        f'rr:{"template" if "{" in value else "column"} "{value}" ] ]'
        for p, value in pairs.items()
    )
    return (
        f':{name} rr:logicalTable [ rr:sqlQuery "{table}" ] ;\n'
        f'  rr:subjectMap [ rr:template "{template}" ; rr:class {cls} ]{objects} .\n'
    )


def write_files(folder: Path, toml: str, ontology: str, maps: str, queries: list[str]) -> None:
    """A project's files."""
    (folder / "queries").mkdir(parents=True)
    (folder / "ontoweir.toml").write_text(PROJECT + toml)
    (folder / "o.ttl").write_text(ontology)
    (folder / "m.ttl").write_text(RR + maps)
    for n, query in enumerate(queries):
        (folder / "queries" / f"q{n}.rq").write_text(f"PREFIX : <{SPACE}>\n{query}")


def write_kinds(folder: Path, classes: int, properties: int, maps: int) -> None:
    """Sensors typed by a column."""
    draw = Random(11)
    parents = [0, *(draw.randrange(max(n // 4, 1)) for n in range(1, classes))]
    lines = [HEAD, ":C0 a owl:Class .\n"]
    for n in range(1, classes):
        lines.append(f":C{n} a owl:Class ; rdfs:subClassOf :C{parents[n]} .\n")
    for n in range(properties):
        kind = "owl:DatatypeProperty" if n % 2 else "owl:ObjectProperty"
        above = f" ; rdfs:subPropertyOf :p{n // 2 - 1 + (n // 2 - 1 - n) % 2}" if n > 3 else ""
        lines.append(f":p{n} a {kind} ; rdfs:domain :C{draw.randrange(classes)}{above} .\n")
    mapped = draw.sample(range(classes // 2, classes), maps)
    template = "http://bench.example/sensor/{id}"
    texts = [
        write_map(
            f"M{n}", f"SELECT ts, id, value FROM reading WHERE kind = {n}", template, f":C{c}",
            {f":p{2 * (n % (properties // 2)) + 1}": "value"},
        )
        for n, c in enumerate(mapped)
    ]  # fmt: skip
    columns = f'id = "int"\nkind = {{ type = "int", min = 0, max = {maps} }}\nvalue = "float"'
    inner = [parents[parents[c]] for c in mapped[:2]]
    one = f"SELECT DISTINCT ?x WHERE {{ GRAPH ?t {{ ?x a :C{inner[0]} }} }}"
    two = (
        f"SELECT DISTINCT ?x WHERE {{ GRAPH ?t {{ ?x a :C{inner[0]} . }} "
        f"GRAPH ?u {{ ?x a :C{inner[1]} }} FILTER(?t < ?u) }}"
    )
    write_files(
        folder, write_stream("reading", columns), "".join(lines), "".join(texts), [one, two]
    )


def write_fleet(folder: Path, streams: int, devices: int, queries: int) -> None:
    """One class of observations, made by many streams."""
    draw = Random(12)
    ontology = [HEAD, ":Obs a owl:Class .\n:by a owl:ObjectProperty .\n"]
    ontology.append(":value a owl:DatatypeProperty .\n")
    toml, maps = [], []
    columns = f'id = "int"\ndevice = {{ type = "int", min = 1, max = {devices} }}\nvalue = "int"'
    for n in range(streams):
        ontology.append(f":Obs{n} a owl:Class ; rdfs:subClassOf :Obs .\n")
        toml.append(write_stream(f"s{n}", columns))
        pairs = {":by": "http://bench.example/device/{device}", ":value": "value"}
        subject = f"http://bench.example/s{n}/{{id}}"
        maps.append(write_map(f"M{n}", f"SELECT * FROM s{n}", subject, f":Obs{n}", pairs))
    texts = []
    for n in range(queries):
        one, two = ("", "") if n == 0 else (draw.randrange(streams), draw.randrange(streams))
        texts.append(
            f"SELECT DISTINCT ?d WHERE {{\n  GRAPH ?t {{ ?a a :Obs{one} ; :by ?d ; :value ?v }}\n"
            f"  GRAPH ?u {{ ?b a :Obs{two} ; :by ?d ; :value ?w }}\n"
            f"  FILTER(?t < ?u && ?v > {n % 50})\n}}\n"
        )
    write_files(folder, "".join(toml), "".join(ontology), "".join(maps), texts)


def write_brick(folder: Path, brick: Path) -> None:
    """Brick as it is, and triples maps for a hundred of its classes."""
    text = brick.read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"^brick:(\w+_Sensor) a owl:Class", text, re.MULTILINE)))[:100]
    space = "https://brickschema.org/schema/Brick#"
    template = "http://bench.example/sensor/{id}"
    maps = [
        write_map(
            f"M{n}", f"SELECT ts, id FROM reading WHERE kind = {n}", template, f"<{space}{c}>", {}
        )
        for n, c in enumerate(names)
    ]
    query = f"SELECT DISTINCT ?x WHERE {{ GRAPH ?t {{ ?x a <{space}Temperature_Sensor> }} }}"
    columns = 'id = "int"\nkind = { type = "int", min = 0, max = 100 }'
    write_files(folder, write_stream("reading", columns), text, "".join(maps), [query])


def find_brick(given: Path | None) -> Path | None:
    """Brick 1.4, as it is named or installed."""
    if given is not None:
        return given
    found = find_spec("brickschema")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "ontologies" / "1.4" / "Brick.ttl"


def run_check(folder: Path, cache: Path, *more: str) -> tuple[float, float, str]:
    """CPU seconds and megabytes of `check`, and what it said on stderr."""
    command = [sys.executable, "-m", "ontoweir.cli", "check", str(folder), "--verbose", *more]
    environment = {**os.environ, "ONTOWEIR_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=said) as child,
    ):
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text


def show_run(name: str, run: str, measured: tuple[float, float, str]) -> str:
    """A row of the table."""
    cpu, memory, said = measured
    stages = {
        what.strip(): float(seconds)
        for seconds, what in re.findall(r"^ *([\d.]+) s  (.*)$", said, re.MULTILINE)
    }
    read = [stages.pop(f"the {what} read", 0.0) for what in ("ontology is", "mappings are")]
    rewritten = sum(s for what, s in stages.items() if what.endswith("rewritten"))
    decided = sum(s for what, s in stages.items() if what.endswith("decided"))
    times = " | ".join(f"{s:.2f}" for s in (*read, rewritten, decided))
    return f"| {name} | {run} | {cpu:.2f} | {memory:.0f} | {times} |"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kinds", default="20000,500,500", metavar="CLASSES,PROPERTIES,MAPS")
    parser.add_argument("--fleet", default="300,1000,200", metavar="STREAMS,DEVICES,QUERIES")
    parser.add_argument("--large", default="97000,500,5000", metavar="CLASSES,PROPERTIES,MAPS")
    parser.add_argument("--brick", type=Path, metavar="FILE")
    parser.add_argument("--only", metavar="NAME", help="kinds, fleet, large or brick")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the projects there")
    given = parser.parse_args()
    brick = find_brick(given.brick)
    writers: dict[str, Callable[[Path], None]] = {
        "kinds": lambda folder: write_kinds(folder, *map(int, given.kinds.split(","))),
        "fleet": lambda folder: write_fleet(folder, *map(int, given.fleet.split(","))),
        "large": lambda folder: write_kinds(folder, *map(int, given.large.split(","))),
    }
    if brick is not None:
        writers["brick"] = lambda folder: write_brick(folder, brick)
    print("| project | run | CPU s | peak MB | ontology | mappings | rewriting | deciding |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        root = given.keep or Path(temporary)
        for name, write in writers.items():
            if given.only in (None, name):
                folder = root / name
                if not folder.exists():
                    write(folder)
                run_check(folder, root / f"{name}-warm", "--query", "q0")
                query = folder / "queries" / "q0.rq"
                text = query.read_text()
                for run in ("first", "second", "one changed"):
                    query.write_text(text + "# changed\n" * (run == "one changed"))
                    measured = run_check(folder, Path(temporary, f"{name}-cache"))
                    print(show_run(name, run, measured), flush=True)
                query.write_text(text)
    loads = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    print(f"\n{os.cpu_count()} processors; load in the last 1, 5, 15 minutes: {loads}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
