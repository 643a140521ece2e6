"""What a case file gives: tables in TOML, axioms in functional syntax, mappings, and SPARQL."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.sparql.parse_query import parse_query
from tests.case_files import Case

EX = "http://example.org/"


@cache
def read_catalog(toml: str) -> Catalog:
    """The tables that a project file declares."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ontoweir.toml"
        file.write_text(toml, encoding="utf-8")
        return load_project(file, environ={}).catalog


def read_tbox(case: Case, folder: Path) -> TBox:
    """The axioms of `owl`, whose names are in one namespace."""
    file = folder / "axioms.ofn"
    text = f"Prefix(:=<{EX}>)\nOntology(<{EX}>\n{case.given('owl')})\n"
    file.write_text(text, encoding="utf-8")
    return load_ontology([file], strict=True)


def read_branch(case: Case) -> ConjunctiveQuery:
    """The query of `sparql`, which has one branch."""
    text = f"PREFIX : <{EX}>\n{case.given('sparql')}"
    (found,) = parse_query(text, name="q", file="q.rq")
    return found


def read_mappings(case: Case, folder: Path) -> MappingSet:
    """The triples maps of `turtle`, over the tables of `toml`."""
    file = folder / "mapping.ttl"
    prefixes = f"@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@prefix : <{EX}> .\n"
    file.write_text(prefixes + case.given("turtle"), encoding="utf-8")
    return load_mappings([file], read_catalog(case.given("toml")))
