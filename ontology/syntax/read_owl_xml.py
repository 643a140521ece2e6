"""Read OWL/XML into RDF triples: an XML spelling of the calls of functional syntax.

https://www.w3.org/TR/owl2-xml-serialization/. Nothing outside the file is ever read: expat loads
no external entity unless it is asked to.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin
from xml.parsers import expat

from rdflib import OWL, RDF, RDFS, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.syntax.map_axioms import Add, Call, NoAxiom, Part, map_axiom
from ontoweir.ontology.syntax.read_functional import broken_syntax

_SPACE = str(OWL)
_XML = "http://www.w3.org/XML/1998/namespace"
_ENTITIES = (
    "Class",
    "Datatype",
    "ObjectProperty",
    "DataProperty",
    "AnnotationProperty",
    "NamedIndividual",
)
_PREFIXES = {"owl": str(OWL), "rdf": str(RDF), "rdfs": str(RDFS), "xsd": str(XSD)}


@dataclass(slots=True)
class _Element:
    """An element of the OWL namespace that is being read."""

    name: str
    attributes: dict[str, str]
    line: int
    base: str
    children: list[Part] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


def read_owl_xml(data: bytes, file: str, base: str, add: Add) -> None:
    """Hand every triple of an ontology in OWL/XML to `add`, with its line.

    Raises:
        OntologyError: the XML is broken, or what it says is not an axiom.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    reader = _Reader(base, add, lambda: parser.CurrentLineNumber)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise OntologyError(
            "broken XML",
            why=expat.ErrorString(error.code),
            fix="correct the file there or just before",
            source=Source(file, error.lineno),
        ) from None
    except NoAxiom as error:
        raise broken_syntax(error.what, Source(file, error.line)) from None
    except RecursionError:
        raise broken_syntax(
            "expressions are nested too deeply", Source(file, parser.CurrentLineNumber)
        ) from None
    except (ValueError, LookupError) as error:  # a broken IRI, language tag or encoding
        raise broken_syntax(
            str(error) or type(error).__name__, Source(file, parser.CurrentLineNumber)
        ) from None


class _Reader:
    """The handlers of one pass over one file."""

    def __init__(self, base: str, add: Add, line: Callable[[], int]) -> None:
        self.base, self.add, self.line = base, add, line
        self.open: list[_Element] = []
        self.prefixes = dict(_PREFIXES)
        self.header: Node = BNode()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, name = tag.rpartition(" ")
        if space != _SPACE:
            raise NoAxiom(f"the element {name!r} is not in the namespace {_SPACE}", self.line())
        outer = self.open[-1].base if self.open else self.base
        base = self._resolve(outer, attributes.get(f"{_XML} base", ""))
        self.open.append(_Element(name, attributes, self.line(), base))
        if len(self.open) == 1:
            if name != "Ontology":
                raise NoAxiom(f"the root element is {name!r}, not 'Ontology'", self.line())
            self._head(self.open[0])

    def characters(self, text: str) -> None:
        if self.open:
            self.open[-1].text.append(text)

    def end(self, _: str) -> None:
        element = self.open.pop()
        if not self.open:
            return
        if element.name == "Prefix" and len(self.open) == 1:
            self.prefixes[element.attributes.get("name", "")] = element.attributes.get("IRI", "")
            return
        part = self._part(element)
        if len(self.open) > 1:
            self.open[-1].children.append(part)
        elif isinstance(part, Call):
            map_axiom(part, self.header, self.add)
        else:
            raise NoAxiom(f"{element.name} is not an axiom", element.line)

    def _head(self, element: _Element) -> None:
        iri = element.attributes.get("ontologyIRI")
        if iri:
            self.header = URIRef(self._resolve(element.base, iri))
            if f"{_XML} base" not in element.attributes:
                element.base = str(self.header)
        self.add(self.header, RDF.type, OWL.Ontology, None)
        if version := element.attributes.get("versionIRI"):
            self.add(self.header, OWL.versionIRI, URIRef(version), None)

    def _part(self, element: _Element) -> Part:
        name, line = element.name, element.line
        if name in _ENTITIES:
            iri = self._iri(element)
            declares = self.open[-1].name == "Declaration"
            return Call(name, (iri,), line) if declares else iri
        text = "".join(element.text)
        match name:
            case "IRI":
                return URIRef(self._resolve(element.base, text.strip()))
            case "AbbreviatedIRI":
                return self._expand(text.strip(), line)
            case "AnonymousIndividual":
                return BNode(element.attributes.get("nodeID", "").removeprefix("_:"))
            case "Literal":
                return self._literal(element, text)
            case "Import":
                iri = URIRef(self._resolve(element.base, text.strip()))
                return Call(name, (iri,), line)
            case _:
                first: tuple[Part, ...] = ()
                if (count := element.attributes.get("cardinality")) is not None:
                    first = (Literal(int(count)),)
                return Call(name, (*first, *element.children), line)

    def _literal(self, element: _Element, text: str) -> Literal:
        language = element.attributes.get(f"{_XML} lang")
        if language:
            return Literal(text, lang=language)
        datatype = element.attributes.get("datatypeIRI")
        if datatype is None or datatype == str(RDF.PlainLiteral):
            return Literal(text)
        return Literal(text, datatype=URIRef(self._resolve(element.base, datatype)))

    def _iri(self, element: _Element) -> URIRef:
        iri, short = (element.attributes.get(key) for key in ("IRI", "abbreviatedIRI"))
        if iri is not None:
            return URIRef(self._resolve(element.base, iri))
        if short is not None:
            return self._expand(short, element.line)
        raise NoAxiom(f"{element.name} has neither IRI nor abbreviatedIRI", element.line)

    def _expand(self, short: str, line: int) -> URIRef:
        prefix, colon, local = short.partition(":")
        if not colon or prefix not in self.prefixes:
            raise NoAxiom(f"the prefix of {short!r} is not declared", line)
        return URIRef(self.prefixes[prefix] + local)

    @staticmethod
    def _resolve(base: str, iri: str) -> str:
        if iri.startswith("#"):
            return base.partition("#")[0] + iri
        return urljoin(base, iri) if iri else base
