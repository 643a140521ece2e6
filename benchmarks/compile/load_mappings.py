"""How long mappings of 1,000 triples maps take to load, beside rdflib's own parse of the Turtle.

    .venv/bin/python benchmarks/compile/load_mappings.py [--maps 1000] [--runs 3]

A fifth of the triples maps has a table's name, the others SQL of their own. Both formats have the
same mappings; a second size shows whether time grows faster than the file.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rdflib import Graph

from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Relation,
    StringType,
)

COLUMNS = (Column("id", IntType()), Column("n", IntType()), Column("a", StringType()))
HEAD = "@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <http://ex.org/> .\n"
SQL = "SELECT s.id, t.a AS v FROM t{t} s JOIN t{u} t ON s.n = t.id WHERE s.n > {t} AND t.a = 'x'"


def make_catalog(maps: int) -> Catalog:
    """A tenth as many tables."""
    source = DataSource("csv", "t.csv")
    names = [f"t{n}" for n in range(maps // 10 + 1)]
    return Catalog({}, {n: Relation(n, source, COLUMNS, keys=(("id",),)) for n in names})


def make_sql(n: int, maps: int) -> str | None:
    """The SQL of a triples map; None for a table's name."""
    tables = maps // 10
    return None if n % 5 == 0 else SQL.format(t=n % tables, u=(n + 1) % tables)


def write_turtle(maps: int) -> str:
    """R2RML."""
    parts = [HEAD]
    for n in range(maps):
        sql = make_sql(n, maps)
        table = f'rr:tableName "t{n % (maps // 10)}"' if sql is None else f'rr:sqlQuery "{sql}"'
        value = "a" if sql is None else "v"
        parts.append(
            f"<#T{n}> rr:logicalTable [ {table} ] ;\n"
            f'  rr:subjectMap [ rr:template "http://ex.org/{n}/{{id}}" ; rr:class :C{n} ] ;\n'
            f"  rr:predicateObjectMap [ rr:predicate :p{n} ;\n"
            f'    rr:objectMap [ rr:column "{value}" ] ] .\n'
        )
    return "".join(parts)


def write_obda(maps: int) -> str:
    """The same in Ontop's format."""
    parts = ["[PrefixDeclaration]\n:\thttp://ex.org/\n\n[MappingDeclaration] @collection [[\n"]
    for n in range(maps):
        sql = make_sql(n, maps) or f"SELECT id, a AS v FROM t{n % (maps // 10)}"
        parts.append(
            f"mappingId\tT{n}\ntarget\t\t:{n}/{{id}} a :C{n} ; :p{n} {{v}} .\nsource\t\t{sql}\n\n"
        )
    return "".join([*parts, "]]\n"])


def measure(work: Callable[[], object], runs: int) -> float:
    """The best CPU seconds of some runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--maps", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for maps in (options.maps // 4, options.maps):
            catalog = make_catalog(maps)
            turtle, obda = Path(folder, "m.ttl"), Path(folder, "m.obda")
            turtle.write_text(write_turtle(maps), encoding="utf-8")
            obda.write_text(write_obda(maps), encoding="utf-8")
            count = len(load_mappings([turtle], catalog).assertions)
            assert count == len(load_mappings([obda], catalog).assertions) == 2 * maps
            parse = measure(lambda: Graph().parse(turtle), options.runs)  # noqa: B023
            loads = [
                measure(lambda: load_mappings([path], catalog), options.runs)  # noqa: B023
                for path in (turtle, obda)
            ]
            record = {
                "triples_maps": maps,
                "assertions": count,
                "rdflib_parse_seconds": round(parse, 3),
                "r2rml_seconds": round(loads[0], 3),
                "r2rml_over_rdflib": round(loads[0] / parse, 2),
                "obda_seconds": round(loads[1], 3),
            }
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
