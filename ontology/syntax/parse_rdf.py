"""Parse Turtle, N-Triples and RDF/XML with pyoxigraph, every triple with its line.

The parser says no lines. It reads a line at a time, no more than the next triple needs, so that the
lines it has taken are the triple's line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TypeAlias

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, parse
from pyoxigraph import Literal as OxigraphLiteral
from rdflib import OWL, RDF, RDFS, BNode, Literal, URIRef
from rdflib.term import Node

ParsedTriple: TypeAlias = tuple[Node, Node, Node, int]
"""Subject, predicate, object, and the line where the triple is complete."""


@dataclass(frozen=True, slots=True)
class ParsedRdf:
    """The triples of a document, in the order in which they are written, and its prefixes.

    Blank nodes are named in the order in which they are met.
    """

    triples: list[ParsedTriple]
    prefixes: dict[str, str]


def parse_rdf(data: bytes, base: str, *, xml: bool) -> ParsedRdf | None:
    """The triples of a document.

    Args:
        data: UTF-8, without a byte-order mark if it is Turtle.
        base: the IRI of the document.
        xml: it is RDF/XML, not Turtle.

    Returns:
        None where pyoxigraph refuses the document, or where it says what RDF 1.1 cannot: whoever
        wants to know what is wrong, and where, parses it with rdflib.
    """
    lines = _Lines(data)
    if (_XML_APART if xml else _TURTLE_APART).search(data):
        return None
    form = RdfFormat.RDF_XML if xml else RdfFormat.TURTLE
    try:
        parser = parse(lines, format=form, base_iri=base)
        return ParsedRdf(list(_convert(parser, lines)), parser.prefixes)
    except (SyntaxError, ValueError, _Unknown):
        return None


_TURTLE_APART = re.compile(
    rb"""# a query alone, a dot segment
      <(?![A-Za-z][\w+.-]*:)(?:\?|[^<>"\s]*(?<![^/<])\.\.?[/>?\#])
      |base\s*<[^<>"\s]*\#  # a base with a fragment
    """,
    re.VERBOSE | re.IGNORECASE,
)
_XML_APART = re.compile(rb"""parseType\s*=\s*["']Literal|["']file:[^/]""")
"""What the two parsers read differently, and is rare: relative IRIs that rdflib makes absolute in
its own way, and the text of an XML literal. It stays as rdflib reads it."""


class _Unknown(Exception):
    """A term that RDF 1.1 does not have."""


class _Lines(BytesIO):
    """A file that is read a line at a time. `number`: of the line that was read last, from 1."""

    number = 0
    _whole = True

    def read(self, size: int | None = -1, /) -> bytes:
        """The next line, or as much of it as is wanted."""
        part = self.readline(-1 if size is None else size)
        self.number += self._whole and part != b""
        self._whole = part.endswith(b"\n")
        return part


class _Iris(dict[str, Node]):
    """rdflib's nodes for IRIs: one object for all occurrences."""

    def __missing__(self, name: str) -> Node:
        made: URIRef = str.__new__(URIRef, name)  # without checks, which pyoxigraph has made
        self[name] = made
        return made


def _convert(quads: Iterator[Quad], lines: _Lines) -> Iterator[ParsedTriple]:
    """The triples with rdflib's nodes: one object for all occurrences of an IRI or blank node."""
    iris = _Iris(_KNOWN)
    blanks: dict[str, BNode] = {}

    def convert(term: object) -> Node:
        if isinstance(term, NamedNode):
            return iris[term.value]
        if isinstance(term, BlankNode):
            blank = blanks.get(name := term.value)
            if blank is None:
                blank = blanks[name] = BNode(f"b{len(blanks):09}")
            return blank
        if isinstance(term, OxigraphLiteral) and term.direction is None:
            if term.language is not None:
                return Literal(term.value, lang=term.language)
            datatype = term.datatype.value
            return Literal(term.value, datatype=None if datatype == _STRING else URIRef(datatype))
        raise _Unknown

    for quad in quads:
        subject, value = quad.subject, quad.object
        yield (
            iris[subject.value] if type(subject) is NamedNode else convert(subject),
            iris[quad.predicate.value],
            iris[value.value] if type(value) is NamedNode else convert(value),
            lines.number,
        )


_STRING = "http://www.w3.org/2001/XMLSchema#string"
_KNOWN: dict[str, Node] = {
    str(term): space[str(term).removeprefix(str(space))]
    for space in (OWL, RDF, RDFS)
    for term in dir(space)
}
"""What the readers compare with is the same object here: that is faster."""
