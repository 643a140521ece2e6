"""Write first queries in the words of mappings that a user has."""

from collections.abc import Sequence
from pathlib import Path

from ontoweir.scaffold.mapped.find_terms import NONE, find_terms, read_prefixes
from ontoweir.scaffold.mapped.fit_mappings import Fitted
from ontoweir.scaffold.measure_guessed import Evidence
from ontoweir.scaffold.queries.write_queries import write_queries


def write_mapped(
    fitted: Fitted, evidence: Evidence, files: Sequence[Path]
) -> list[list[tuple[str, str]]]:
    """Of each stream, queries by name, bounded or not: those of SPARQL have the classes and
    properties of the mappings alone.

    Args:
        fitted: the mappings over the tables.
        evidence: the tables, and what was seen of them.
        files: of mappings and ontologies, whose prefixes are used.
    """
    catalog, measured = evidence.catalog, dict(evidence.measured)
    prefixes = read_prefixes(files, {one.predicate for one in fitted.assertions})
    made = []
    for stream in catalog.streams.values():
        shown, terms = find_terms(stream, catalog, fitted.assertions, prefixes)
        queries = write_queries(shown, catalog, measured[stream.name], terms)
        made.append([(name, text) for name, text in queries if NONE not in text])
    return made
