"""A project whose triples are counted: a stream, a relation, mappings and a query of a test."""

from pathlib import Path

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "5 minutes", start = "2020-01-01" }
max_per_timestamp = 10
keys = [["id", "n", "ts"]]
references = [{ columns = ["n"], relation = "r", to = ["id"] }]
[streams.s.columns]
id = { type = "int", min = 1, max = 9 }
n = { type = "int", min = 0, max = 5 }
a = "string"
d = "decimal(6,2)"
[streams.u]
source = { format = "parquet", path = "u" }
timestamp = { column = "ts", unit = "5 minutes", start = "2019-01-01" }
max_per_timestamp = 7
keys = [["id", "ts"]]
references = [{ columns = ["n"], relation = "r", to = ["id"] }]
[streams.u.columns]
id = { type = "int", min = 20, max = 30 }
n = { type = "int", min = 3, max = 8 }
a = "string"
d = "decimal(5,3)"
[relations.r]
source = { format = "csv", path = "r" }
keys = [["id"]]
columns = { id = "int", k = "int", c = "string" }
[relations.w]
source = { format = "csv", path = "w" }
columns = { id = "int", k = "int", c = "string" }
"""
PREFIXES = """@prefix : <http://e/> . @prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def triples_map(name: str, table: str, subject: str, *more: str) -> str:
    """A triples map. `table`: a name or SQL; `subject`: a template; `more`: `:C`, a class, or
    `:p column` or `:p http://e/{column}`, a property."""
    logical = f'rr:sqlQuery "{table}"' if " " in table else f'rr:tableName "{table}"'
    lines = [f'rr:subjectMap [ rr:template "{subject}" ]']
    for one in more:
        predicate, _, made = one.partition(" ")
        if not made:
            lines.append(f"rr:predicateObjectMap [ rr:predicate {_TYPE} ; rr:object {one} ]")
            continue
        kind = "template" if "{" in made else "column"
        lines.append(
            f'rr:predicateObjectMap [ rr:predicate {predicate} ; rr:objectMap [ rr:{kind} "{made}" '
            "] ]"
        )
    return f"<#{name}> rr:logicalTable [ {logical} ] ;\n  " + " ;\n  ".join(lines) + " .\n"


_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def open_project(
    folder: Path, maps: str, query: str, axioms: str = "", *, toml: str = TOML
) -> Workspace:
    """The project over these triples maps."""
    (folder / "ontoweir.toml").write_text(toml)
    (folder / "o.ttl").write_text(PREFIXES + axioms)
    (folder / "m.ttl").write_text(PREFIXES + maps)
    (folder / "q.rq").write_text(f"PREFIX : <http://e/>\n{query}")
    return Workspace(load_project(folder, environ={}))
