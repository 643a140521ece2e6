"""Compares N-Quads: blank nodes up to isomorphism, literals as RDF terms, numbers by value.

Numbers of one datatype are compared by value: W3C's cases exist in two forms, "30.0" and, as
`-modified`, the canonical "3.0E1"; R2RML (section 10.2) leaves the form to the processor. Nothing
else is relaxed: datatypes, language tags, graphs and repeats of spelling in strings must agree.
"""

import re
from decimal import Decimal

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.compare import isomorphic
from rdflib.term import Node

XSD = "http://www.w3.org/2001/XMLSchema#"
_NUMBERS = frozenset(XSD + n for n in ("integer", "decimal", "double", "float"))
_TERM = re.compile(
    r"<(?P<iri>[^>]*)>|_:(?P<blank>[\w.-]*[\w-])"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"(?:\^\^<(?P<type>[^>]*)>|@(?P<tag>[\w-]+))?'
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def read_nquads(text: str, *, untyped_numbers: bool = False) -> Graph:
    """One graph of all quads; a quad's graph becomes a part of its predicate's name.

    Args:
        text: N-Quads.
        untyped_numbers: numbers lose their datatype, and plain literals that look like numbers are
            compared by value too.
    """
    found = Graph()
    for line in text.splitlines():
        if not line.strip() or line.strip().startswith("#"):
            continue
        terms = [_term(m, untyped_numbers) for m in _TERM.finditer(line)]
        rest = _TERM.sub("", line)
        assert len(terms) in (3, 4), line
        assert rest.split() == ["."], line
        graph = str(terms[3]) if len(terms) == 4 else ""
        found.add((terms[0], URIRef(f"{terms[1]}?graph={graph}"), terms[2]))
    return found


def _term(found: re.Match[str], untyped_numbers: bool) -> Node:
    if found["iri"] is not None:
        return URIRef(_unescape(found["iri"]))
    if found["blank"] is not None:
        return BNode(found["blank"])
    text, datatype = _unescape(found["text"]), found["type"]
    plain = datatype is None and found["tag"] is None
    if datatype == XSD + "string":
        datatype = None
    if datatype in _NUMBERS or (untyped_numbers and plain):
        try:
            text = f"{Decimal(text).normalize():f}"
        except ArithmeticError:
            pass
        else:
            datatype = None if untyped_numbers else datatype
    return Literal(
        text,
        lang=found["tag"],
        datatype=None if datatype is None else URIRef(datatype),
        normalize=False,
    )


def _unescape(text: str) -> str:
    return re.sub(
        r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))",
        lambda m: chr(int(m[1] or m[2], 16)) if m[3] is None else _ESCAPES.get(m[3], m[3]),
        text,
    )


def same_quads(left: str, right: str, *, untyped_numbers: bool = False) -> bool:
    """Whether two N-Quads documents say the same."""
    a, b = (read_nquads(t, untyped_numbers=untyped_numbers) for t in (left, right))
    return len(a) == len(b) and isomorphic(a, b)
