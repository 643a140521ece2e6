"""Reads an R2RML mapping in Turtle as an RDF graph with places."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.r2rml.locate_turtle import locate_text, locate_word
from ontoweir.mappings.r2rml.mapping_file import NO_IRI, PARSE_BASE, RR, MappingFile
from ontoweir.ontology.syntax.parse_rdf import ParsedRdf, parse_rdf

if TYPE_CHECKING:
    from rdflib import Graph

_KNOWN = [
    "logicalTable",
    "tableName",
    "sqlQuery",
    "sqlVersion",
    "subject",
    "subjectMap",
    "class",
    "predicateObjectMap",
    "predicate",
    "predicateMap",
    "object",
    "objectMap",
    "column",
    "template",
    "constant",
    "datatype",
    "language",
    "termType",
    "inverseExpression",
    "parentTriplesMap",
    "joinCondition",
    "child",
    "parent",
    "graph",
    "graphMap",
]


_TERMS = {
    *_KNOWN,
    *("IRI", "BlankNode", "Literal", "defaultGraph", "SQL2008", "TriplesMap", "R2RMLView"),
    *("LogicalTable", "BaseTableOrView", "SubjectMap", "PredicateMap", "ObjectMap", "Join"),
    *("TermMap", "PredicateObjectMap", "RefObjectMap", "GraphMap"),
}


_STRING = re.compile(r"\^\^\s*\S*string")
"""A literal that names the datatype that it would have without: rdflib alone tells them apart."""


def read_turtle(shown: str, text: str) -> MappingFile:
    """An R2RML document in Turtle.

    Unknown R2RML terms, and IRIs with characters that no IRI has, are listed in `wrong`: the
    triples maps that have them are wrong, others need not be.

    Args:
        shown: the file's name in messages.
        text: the document.

    Raises:
        MappingError: it is not Turtle; with the line.
    """
    parsed = _parse_fast(text)
    if parsed is None:
        graph = _parse(shown, text)
        return MappingFile(shown, text, graph, wrong=tuple(_find_wrong(shown, text, graph)))
    graph = _make_graph(parsed)
    file = MappingFile(shown, text, graph, wrong=tuple(_find_wrong(shown, text, graph)))
    file.index((s, p, o) for s, p, o, _ in parsed.triples)
    return file


def _parse_fast(text: str) -> ParsedRdf | None:
    """The triples as pyoxigraph reads them; None where it does not, or where they would differ."""
    parsed = None if _STRING.search(text) else parse_rdf(text.encode(), PARSE_BASE, xml=False)
    return parsed if parsed is not None and parsed.triples else None


def _make_graph(parsed: ParsedRdf) -> Graph:
    """The graph that pyoxigraph has read."""
    from rdflib import Graph

    graph = Graph()
    for prefix, space in parsed.prefixes.items():
        graph.bind(prefix, space)
    for s, p, o, _ in parsed.triples:
        graph.add((s, p, o))
    return graph


def _parse(shown: str, text: str) -> Graph:
    """The graph as rdflib reads it.

    Raises:
        MappingError: it is not Turtle; with the line.
    """
    from rdflib import Graph

    graph = Graph()
    noise = logging.getLogger("rdflib.term")
    level = noise.level
    try:
        noise.setLevel(logging.CRITICAL)  # what it warns of is refused below, with its line
        graph.parse(data=text, format="turtle", publicID=PARSE_BASE)
    except Exception as error:  # rdflib raises BadSyntax and, for some inputs, anything else
        lines = getattr(error, "lines", None)
        reason = (
            getattr(error, "_why", None) or (str(error) or type(error).__name__).splitlines()[0]
        )
        raise MappingError(
            f"not Turtle: {reason}",
            why="R2RML mappings are written in Turtle",
            fix="mend the text before or at this line",
            source=Source(shown, min(lines, text.count("\n")) + 1 if isinstance(lines, int) else 1),
        ) from None
    finally:
        noise.setLevel(level)
    return graph


def _find_wrong(shown: str, text: str, graph: Graph) -> Iterator[tuple[str, MappingError]]:
    """IRIs with characters that no IRI has, which rdflib lets pass; then unknown R2RML terms, but
    for what is only called the type of something: types are found by what else is said of it, and
    published mappings have `a rr:Subject`, which R2RML has not."""
    from rdflib import RDF, URIRef

    iris = sorted(str(t) for t in set(chain.from_iterable(graph)) if isinstance(t, URIRef))
    for iri in iris:
        if NO_IRI.search(iri):
            written = iri.removeprefix(PARSE_BASE)
            line = locate_text(text, written, (1, text.count("\n") + 1))
            yield (
                iri,
                MappingError(
                    f"<{written}> is not an IRI",
                    why="IRIs have no spaces, quotes, braces or angle brackets",
                    fix="correct it, or percent-encode the character",
                    source=Source(shown, line),
                ),
            )
    used = {t for s, p, o in graph for t in ((s, p) if p == RDF.type else (s, p, o))}
    for iri in sorted(str(t) for t in used if isinstance(t, URIRef)):
        name = iri.removeprefix(RR)
        if name != iri and name not in _TERMS:
            yield (
                iri,
                MappingError(
                    f"unknown R2RML term rr:{name}",
                    why="the R2RML vocabulary has no such term",
                    fix=did_you_mean(name, _TERMS),
                    source=Source(shown, locate_word(text, name)),
                ),
            )
