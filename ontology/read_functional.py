"""Read OWL 2 functional syntax into RDF triples, by the W3C mapping to RDF graphs."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from rdflib import OWL, RDF, RDFS, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.errors import OntologyError, Source

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<iri><[^<>"{}|^`\\\s]*>)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
      | (?P<type>\^\^)
      | (?P<mark>[()=])
      | (?P<blank>_:[^\s()=]+)
      | (?P<word>[^\s()=<>"]+)""",
    re.VERBOSE,
)
_PREFIXES = {
    "owl": str(OWL),
    "rdf": str(RDF),
    "rdfs": str(RDFS),
    "xsd": str(XSD),
}
Add: TypeAlias = Callable[[Node, Node, Node, int | None], None]


@dataclass(frozen=True, slots=True)
class _Call:
    """`Name( arguments )`, at a line."""

    name: str
    arguments: tuple["_Part", ...]
    line: int


_Part: TypeAlias = _Call | Node


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def read_functional(text: str, file: str, add: Add) -> None:
    """Hand every triple of an ontology in functional syntax to `add`, with its line.

    Raises:
        OntologyError: the syntax is broken, or a prefix is not declared.
    """
    _Reader(text, file, add).read()


class _Reader:
    """One pass over the tokens of one file."""

    def __init__(self, text: str, file: str, add: Add) -> None:
        self.file, self.add = file, add
        self.tokens = list(self._tokenize(text))
        self.place = 0
        self.prefixes = dict(_PREFIXES)

    def _tokenize(self, text: str) -> Iterator[_Token]:
        line, start = 1, 0
        while start < len(text):
            found = _TOKEN.match(text, start)
            if found is None:
                raise self._error(f"unexpected {text[start]!r}", line)
            if found.lastgroup != "space":
                yield _Token(str(found.lastgroup), found[0], line)
            line += found[0].count("\n")
            start = found.end()

    def _error(self, what: str, line: int | None) -> OntologyError:
        return OntologyError(
            f"broken functional syntax: {what}",
            why="it does not follow the OWL 2 functional-style syntax",
            fix="correct it there or just before",
            source=Source(self.file, line),
        )

    # -- reading -----------------------------------------------------------------------------

    def _peek(self) -> _Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _next(self, expected: str | None = None) -> _Token:
        token = self._peek()
        if token is None:
            last = self.tokens[-1].line if self.tokens else 1
            raise self._error("the file ends too early", last)
        if expected is not None and token.text != expected:
            raise self._error(f"{token.text!r} where {expected!r} is expected", token.line)
        self.place += 1
        return token

    def read(self) -> None:
        while (token := self._peek()) is not None and token.text == "Prefix":
            self._next()
            self._next("(")
            name = self._next()
            self._next("=")
            iri = self._next()
            if not name.text.endswith(":") or iri.kind != "iri":
                raise self._error("a prefix is Prefix(name:=<IRI>)", name.line)
            self.prefixes[name.text[:-1]] = iri.text[1:-1]
            self._next(")")
        self._next("Ontology")
        self._next("(")
        while (token := self._peek()) is not None and token.text != ")":
            if token.kind == "iri" or (token.kind == "word" and not self._calls()):
                self._node(self._next())
                continue
            self._axiom(self._call())
        self._next(")")
        extra = self._peek()
        if extra is not None:
            raise self._error(f"{extra.text!r} after the end of the ontology", extra.line)

    def _calls(self) -> bool:
        after = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        return after is not None and after.text == "("

    def _call(self) -> _Call:
        name = self._next()
        if name.kind != "word":
            raise self._error(f"{name.text!r} where an axiom or expression is expected", name.line)
        self._next("(")
        arguments: list[_Part] = []
        while (token := self._peek()) is not None and token.text != ")":
            if token.text == "(":  # a group of property arguments, as in HasKey(C (P) (Q))
                self._next()
                continue
            arguments.append(
                self._call() if token.kind == "word" and self._calls() else self._node(self._next())
            )
        self._next(")")
        return _Call(name.text, tuple(arguments), name.line)

    def _node(self, token: _Token) -> Node:
        match token.kind:
            case "iri":
                return URIRef(token.text[1:-1])
            case "blank":
                return BNode(token.text[2:])
            case "text":
                return self._literal(token)
            case "word":
                prefix, colon, local = token.text.partition(":")
                if not colon:
                    if token.text.isdigit():
                        return Literal(int(token.text))
                    raise self._error(f"{token.text!r} is no IRI", token.line)
                if prefix not in self.prefixes:
                    raise self._error(f"the prefix {prefix + ':'!r} is not declared", token.line)
                return URIRef(self.prefixes[prefix] + local)
            case _:
                raise self._error(f"unexpected {token.text!r}", token.line)

    def _literal(self, token: _Token) -> Node:
        text = re.sub(r"\\(.)", r"\1", token.text[1:-1])
        after = self._peek()
        if after is not None and after.kind == "type":
            self._next()
            kind = self._node(self._next())
            return Literal(text, datatype=URIRef(str(kind)))
        if after is not None and after.kind == "language":
            self._next()
            return Literal(text, lang=after.text[1:])
        return Literal(text)

    # -- mapping to RDF ----------------------------------------------------------------------

    def _axiom(self, axiom: _Call) -> None:
        parts = tuple(
            p for p in axiom.arguments if not (isinstance(p, _Call) and p.name == "Annotation")
        )
        line, name = axiom.line, axiom.name
        if name == "Import":
            for part in parts:
                if not isinstance(part, _Call):
                    self.add(BNode(), OWL.imports, part, line)
            return
        if name == "Declaration":
            self._declare(axiom, parts)
            return
        if name.startswith("Annotation") or name in (
            "SubAnnotationPropertyOf",
            "DatatypeDefinition",
        ):
            return
        pairs = {
            "SubClassOf": RDFS.subClassOf,
            "SubObjectPropertyOf": RDFS.subPropertyOf,
            "SubDataPropertyOf": RDFS.subPropertyOf,
            "InverseObjectProperties": OWL.inverseOf,
            "ObjectPropertyDomain": RDFS.domain,
            "DataPropertyDomain": RDFS.domain,
            "ObjectPropertyRange": RDFS.range,
            "DataPropertyRange": RDFS.range,
        }
        chains = {
            "EquivalentClasses": OWL.equivalentClass,
            "EquivalentObjectProperties": OWL.equivalentProperty,
            "EquivalentDataProperties": OWL.equivalentProperty,
        }
        mutual = {
            "DisjointClasses": (OWL.disjointWith, OWL.AllDisjointClasses),
            "DisjointObjectProperties": (OWL.propertyDisjointWith, OWL.AllDisjointProperties),
            "DisjointDataProperties": (OWL.propertyDisjointWith, OWL.AllDisjointProperties),
        }
        kinds = {
            "FunctionalObjectProperty": OWL.FunctionalProperty,
            "FunctionalDataProperty": OWL.FunctionalProperty,
            "InverseFunctionalObjectProperty": OWL.InverseFunctionalProperty,
            "ReflexiveObjectProperty": OWL.ReflexiveProperty,
            "IrreflexiveObjectProperty": OWL.IrreflexiveProperty,
            "SymmetricObjectProperty": OWL.SymmetricProperty,
            "AsymmetricObjectProperty": OWL.AsymmetricProperty,
            "TransitiveObjectProperty": OWL.TransitiveProperty,
        }
        if name == "ClassAssertion" and len(parts) == 2:
            self.add(self._part(parts[1]), RDF.type, self._part(parts[0]), line)
        elif name in pairs and len(parts) == 2:
            first = parts[0]
            if isinstance(first, _Call) and first.name == "ObjectPropertyChain":
                chain = self._list([self._part(p) for p in first.arguments], line)
                self.add(self._part(parts[1]), OWL.propertyChainAxiom, chain, line)
                return
            self._declare_use(name, parts)
            self.add(self._part(first), pairs[name], self._part(parts[1]), line)
        elif name in chains and len(parts) >= 2:
            nodes = [self._part(p) for p in parts]
            for a, b in pairwise(nodes):
                self.add(a, chains[name], b, line)
        elif name in mutual and len(parts) >= 2:
            nodes = [self._part(p) for p in parts]
            if len(nodes) == 2:
                self.add(nodes[0], mutual[name][0], nodes[1], line)
            else:
                group = BNode()
                self.add(group, RDF.type, mutual[name][1], line)
                self.add(group, OWL.members, self._list(nodes, line), line)
        elif name in kinds and len(parts) == 1:
            self.add(self._part(parts[0]), RDF.type, kinds[name], line)
        elif name in ("ObjectPropertyAssertion", "DataPropertyAssertion") and len(parts) == 3:
            self.add(self._part(parts[1]), self._part(parts[0]), self._part(parts[2]), line)
        elif name == "DisjointUnion" and len(parts) >= 2:
            self.add(
                self._part(parts[0]),
                OWL.disjointUnionOf,
                self._list([self._part(p) for p in parts[1:]], line),
                line,
            )
        elif name in ("HasKey", "SameIndividual", "DifferentIndividuals") or name.startswith(
            "Negative"
        ):
            marks = {"HasKey": OWL.hasKey, "SameIndividual": OWL.sameAs}
            nodes = [self._part(p) for p in parts]
            if name in marks and len(nodes) >= 2:
                self.add(nodes[0], marks[name], self._list(nodes[1:], line), line)
        else:
            raise self._error(f"{name}(…) with {len(parts)} arguments is no axiom", line)

    def _declare(self, axiom: _Call, parts: Sequence[_Part]) -> None:
        kinds = {
            "Class": OWL.Class,
            "ObjectProperty": OWL.ObjectProperty,
            "DataProperty": OWL.DatatypeProperty,
            "AnnotationProperty": OWL.AnnotationProperty,
            "NamedIndividual": OWL.NamedIndividual,
            "Datatype": RDFS.Datatype,
        }
        inner = parts[0] if len(parts) == 1 else None
        if not isinstance(inner, _Call) or inner.name not in kinds or len(inner.arguments) != 1:
            raise self._error("a declaration is Declaration(Class(IRI)) or the like", axiom.line)
        self.add(self._part(inner.arguments[0]), RDF.type, kinds[inner.name], axiom.line)

    def _declare_use(self, name: str, parts: Sequence[_Part]) -> None:
        """The axiom's own name says what kind of property it is about."""
        kind = OWL.DatatypeProperty if "Data" in name else OWL.ObjectProperty
        if "Property" in name or "Properties" in name:
            both = name.startswith(("Sub", "Inverse"))
            for part in parts if both else parts[:1]:
                if isinstance(part, URIRef):
                    self.add(part, RDF.type, kind, None)

    def _list(self, nodes: Sequence[Node], line: int) -> Node:
        head: Node = RDF.nil
        for node in reversed(nodes):
            cell = BNode()
            self.add(cell, RDF.first, node, line)
            self.add(cell, RDF.rest, head, line)
            head = cell
        return head

    def _part(self, part: _Part) -> Node:
        """The node of an expression; its triples are added."""
        if not isinstance(part, _Call):
            return part
        node, line = BNode(), part.line
        nodes = [self._part(p) for p in part.arguments]
        restrictions = {
            "SomeValuesFrom": OWL.someValuesFrom,
            "AllValuesFrom": OWL.allValuesFrom,
            "HasValue": OWL.hasValue,
            "HasSelf": OWL.hasSelf,
        }
        groups = {
            "IntersectionOf": OWL.intersectionOf,
            "UnionOf": OWL.unionOf,
            "OneOf": OWL.oneOf,
        }
        kind = re.sub(r"^(Object|Data)", "", part.name)
        data = part.name.startswith("Data")
        if part.name == "ObjectInverseOf" and len(nodes) == 1:
            self.add(node, OWL.inverseOf, nodes[0], line)
        elif kind in restrictions and (len(nodes) == 2 or kind == "HasSelf"):
            self.add(node, RDF.type, OWL.Restriction, line)
            self.add(node, OWL.onProperty, nodes[0], line)
            if isinstance(nodes[0], URIRef):
                self.add(
                    nodes[0], RDF.type, OWL.DatatypeProperty if data else OWL.ObjectProperty, None
                )
            filler = Literal(True) if kind == "HasSelf" else nodes[1]
            self.add(node, restrictions[kind], filler, line)
        elif kind in groups and nodes:
            self.add(node, RDF.type, RDFS.Datatype if data else OWL.Class, line)
            self.add(node, groups[kind], self._list(nodes, line), line)
        elif kind == "ComplementOf" and len(nodes) == 1:
            self.add(node, RDF.type, OWL.Class, line)
            self.add(node, OWL.complementOf, nodes[0], line)
        elif kind in ("MinCardinality", "MaxCardinality", "ExactCardinality") and len(nodes) >= 2:
            short = {"Min": "min", "Max": "max", "Exact": ""}[kind.removesuffix("Cardinality")]
            name = f"{short}{'Qualified' if short else 'qualified'}Cardinality"
            if len(nodes) == 2:
                name = f"{short}Cardinality" if short else "cardinality"
            self.add(node, RDF.type, OWL.Restriction, line)
            self.add(node, OWL.onProperty, nodes[1], line)
            self.add(node, OWL[name], nodes[0], line)
            if len(nodes) == 3:
                self.add(node, OWL.onDataRange if data else OWL.onClass, nodes[2], line)
        elif part.name == "DatatypeRestriction":
            self.add(node, RDF.type, RDFS.Datatype, line)
            self.add(node, OWL.onDatatype, nodes[0], line)
        else:
            raise self._error(f"{part.name}(…) is no expression", line)
        return node
