"""Read an ontology file into RDF triples that know their line.

pyoxigraph parses Turtle, N-Triples (a subset of Turtle) and RDF/XML; what it refuses, rdflib
parses or explains. OWL/XML and functional syntax are read by read_owl_xml and read_functional. None
of them reads anything but the file.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.sax import SAXException, SAXParseException

from rdflib import BNode, Graph, Literal, URIRef
from rdflib.exceptions import ParserError
from rdflib.parser import create_input_source
from rdflib.plugins.parsers.notation3 import BadSyntax, RDFSink, SinkParser
from rdflib.plugins.parsers.rdfxml import create_parser
from rdflib.term import Node

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.syntax.check_expansion import check_expansion
from ontoweir.ontology.syntax.parse_rdf import parse_rdf
from ontoweir.ontology.syntax.read_functional import read_functional
from ontoweir.ontology.syntax.read_owl_xml import read_owl_xml

_CONVERT = "convert it, for example `robot convert --input F --output F.ttl`, and list F.ttl"


class LocatedTriple(NamedTuple):
    """A triple, and the line where it is written or ends (None: not known)."""

    subject: Node
    predicate: Node
    object: Node
    line: int | None


@dataclass(slots=True)
class Triples:
    """The triples of one file, by subject and predicate, each object with its line.

    `imported_by`: the place of the import that led to the file; None where the user names it.
    """

    file: str
    format: str = "Turtle"
    imported_by: Source | None = None
    rows: list[LocatedTriple] = field(default_factory=list)
    _index: dict[Node, dict[Node, list[Node]]] = field(default_factory=dict)
    _seen: set[tuple[Node, Node, Node]] = field(default_factory=set)
    _lines: dict[Node, int] = field(default_factory=dict)

    def add(self, s: Node, p: Node, o: Node, line: int | None) -> None:
        """Add a triple that is written at (or ends at) `line`."""
        self.add_all(((s, p, o, line),))

    def add_all(self, triples: Iterable[tuple[Node, Node, Node, int | None]]) -> None:
        """Add triples, each with its line."""
        seen, index, rows = self._seen, self._index, self.rows
        for s, p, o, line in triples:
            triple = s, p, o
            if triple in seen:
                continue
            seen.add(triple)
            index.setdefault(s, {}).setdefault(p, []).append(o)
            rows.append(LocatedTriple(s, p, o, line))
            if line is not None and type(s) is BNode:  # isinstance is slow where it is not
                self._lines[s] = min(line, self._lines.get(s, line))

    def objects(self, s: Node, p: Node) -> list[Node]:
        """All o of (s, p, o)."""
        return self._index.get(s, {}).get(p, [])

    def predicates(self, s: Node) -> Collection[Node]:
        """All p of (s, p, o)."""
        return self._index.get(s, {}).keys()

    def source(self, line: int | None, *nodes: Node) -> Source:
        """The place of an axiom: the first line of its triple and of its anonymous parts."""
        first = line
        for node in nodes:
            other = self._lines.get(node)
            if other is not None and (first is None or other < first):
                first = other
        return Source(self.file, first)


class _Recorder(Graph):
    """A graph that keeps nothing but hands every triple on with the current line."""

    def __init__(self, into: Triples) -> None:
        super().__init__()
        self._into = into
        self.line: Callable[[], int | None] = lambda: None

    def add(self, triple: tuple[Node, Node, Node]) -> "_Recorder":
        self._into.add(*triple, self.line())
        return self


@contextmanager
def _quiet_rdflib() -> Iterator[None]:
    """Without rdflib's own messages about odd IRIs, which know neither file nor line."""
    logger = logging.getLogger("rdflib.term")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


@_quiet_rdflib()
def read_triples(path: Path) -> Triples:
    """The triples of the file at `path`.

    Raises:
        OntologyError: the file is missing, broken, or in a format that is not read.
    """
    file = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OntologyError(
            f"cannot read the ontology: {error.strerror or error}",
            why="the project or the command names this file",
            fix="correct the path or create the file",
            source=Source(file),
        ) from None
    if _is_xml(data[:65536]):
        check_expansion(data, file)
        head = re.sub(rb"<!--.*?-->|<[?!][^<]*", b"", data[:65536], flags=re.DOTALL)
        if re.search(rb"<(\w+:)?Ontology[\s>]", head) and not re.search(rb"<\w+:RDF[\s>]", head):
            made = Triples(file, "OWL/XML")
            read_owl_xml(data, file, path.absolute().as_uri(), made.add)
            return made
        return _read_rdf_xml(data, path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OntologyError(
            f"byte {error.start} is not UTF-8",
            why="Turtle and N-Triples files are UTF-8",
            fix="save the file as UTF-8",
            source=Source(file, data.count(b"\n", 0, error.start) + 1),
        ) from None
    if _starts_with(r"(Prefix|Ontology)\s*\(", text):
        made = Triples(file, "functional syntax")
        read_functional(text, file, made.add)
        return made
    _refuse_other_formats(text, file)
    return _read_turtle(text, path)


def _is_xml(start: bytes) -> bool:
    """Does a file start as XML does? A first `<` alone can also be an IRI of N-Triples."""
    if re.match(rb"(\xef\xbb\xbf)?\s*<(\?xml|!DOCTYPE|!--)", start):
        return True
    return re.match(rb"(\xef\xbb\xbf)?\s*<[\w:]+\s", start) is not None and b"xmlns" in start


def _starts_with(start: str, text: str) -> bool:
    """Whether a file, comments aside, starts like that."""
    code = "\n".join(line for line in text.splitlines()[:200] if not re.match(r"\s*#", line))
    return re.match(r"\s*" + start, code) is not None


def _refuse_other_formats(text: str, file: str) -> None:
    """Refuse, by name, the formats that are not read."""
    formats = {
        "Manchester syntax": r"(Prefix|Ontology|Class|ObjectProperty):\s",
        "OBO": r"format-version:",
        "JSON-LD": r"[{\[]\s*[\"{]",
    }
    for name, start in formats.items():
        if _starts_with(start, text):
            raise OntologyError(
                f"the ontology is in {name}",
                why="ontologies are Turtle, N-Triples, RDF/XML, OWL/XML or functional syntax",
                fix=_CONVERT,
                source=Source(file, 1),
            )


def _parse_fast(data: bytes, path: Path, into: Triples, *, xml: bool) -> bool:
    """Whether pyoxigraph could parse a file: then its triples are added. Else nothing is, and
    rdflib, which takes many times as long, parses the file or says what is wrong in it."""
    parsed = parse_rdf(data, path.absolute().as_uri(), xml=xml)
    if parsed is not None:
        into.add_all(parsed.triples)
    return parsed is not None


def _read_turtle(text: str, path: Path) -> Triples:
    made = Triples(str(path))
    if _parse_fast(text.encode(), path, made, xml=False):
        return made
    recorder = _Recorder(made)
    parser = SinkParser(RDFSink(recorder), baseURI=path.absolute().as_uri(), turtle=True)
    recorder.line = lambda: parser.lines + 1
    try:
        parser.loadBuf(text)
    except BadSyntax as error:
        why = getattr(error, "_why", "bad syntax")
        begin = getattr(error, "_i", 0)
        near = text[begin : begin + 40].split("\n")[0].strip()
        ends = "a line" if text[begin:].strip() else "the file"
        raise OntologyError(
            f"broken Turtle near {near!r}" if near else f"broken Turtle at the end of {ends}",
            why=str(why),
            fix="correct the syntax there or in the statement before it",
            source=Source(made.file, min(error.lines, text.count("\n")) + 1),
        ) from None
    except (
        ParserError,
        ValueError,
        LookupError,
        AssertionError,
        AttributeError,
        TypeError,
        RecursionError,
    ) as error:
        deep = isinstance(error, RecursionError)
        raise OntologyError(
            "broken Turtle",
            why="it is nested too deeply" if deep else str(error) or type(error).__name__,
            fix="correct the syntax there or in the statement before it",
            source=Source(made.file, min(parser.lines, text.count("\n")) + 1),
        ) from None
    return made


def _read_rdf_xml(data: bytes, path: Path) -> Triples:
    made = Triples(str(path), "RDF/XML")
    if _parse_fast(data, path, made, xml=True):
        return made
    recorder = _Recorder(made)
    source = create_input_source(data=data, publicID=path.absolute().as_uri())
    parser = create_parser(source, recorder)
    handler = parser.getContentHandler()

    def line() -> int | None:
        number = getattr(getattr(handler, "locator", None), "getLineNumber", lambda: None)()
        return number if isinstance(number, int) else None

    recorder.line = line
    try:
        parser.parse(source)
    except SAXParseException as error:
        raise _broken_xml(error.getMessage(), made.file, error.getLineNumber()) from None
    except (SAXException, ParserError, ValueError, AssertionError, AttributeError) as error:
        text = re.sub(r"^\S*:\d+:\d+: ", "", str(error)) or type(error).__name__
        raise _broken_xml(text, made.file, line()) from None
    return made


def _broken_xml(why: str, file: str, line: int | None) -> OntologyError:
    return OntologyError(
        "broken XML",
        why=why,
        fix="correct the file there or just before",
        source=Source(file, line),
    )


def read_list(triples: Triples, head: Node) -> Iterator[Node]:
    """The members of an RDF list; a broken or cyclic list ends where it breaks."""
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    seen: set[Node] = set()
    while head not in seen and head != URIRef(rdf + "nil"):
        seen.add(head)
        yield from triples.objects(head, URIRef(rdf + "first"))[:1]
        rest = triples.objects(head, URIRef(rdf + "rest"))
        if not rest or isinstance(rest[0], Literal):
            return
        head = rest[0]
