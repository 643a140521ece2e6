"""Map axioms of OWL 2's structural syntax to RDF triples, by the W3C mapping to RDF graphs.

https://www.w3.org/TR/owl2-mapping-to-rdf/. Functional syntax and OWL/XML are two spellings of the
same calls.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TypeAlias

from rdflib import OWL, RDF, RDFS, BNode, Literal, Namespace, URIRef
from rdflib.term import Node

SWRL = Namespace("http://www.w3.org/2003/11/swrl#")
Add: TypeAlias = Callable[[Node, Node, Node, int | None], None]


@dataclass(frozen=True, slots=True)
class Call:
    """`Name( arguments )`, at a line."""

    name: str
    arguments: tuple["Part", ...]
    line: int


Part: TypeAlias = Call | Node
"""An argument of a call."""


class NoAxiom(Exception):
    """A call that is not an axiom or expression of OWL 2: what, and its line."""

    def __init__(self, what: str, line: int) -> None:
        self.what, self.line = what, line
        super().__init__(what)


_PAIRS = {
    "SubClassOf": RDFS.subClassOf,
    "SubObjectPropertyOf": RDFS.subPropertyOf,
    "SubDataPropertyOf": RDFS.subPropertyOf,
    "InverseObjectProperties": OWL.inverseOf,
    "ObjectPropertyDomain": RDFS.domain,
    "DataPropertyDomain": RDFS.domain,
    "ObjectPropertyRange": RDFS.range,
    "DataPropertyRange": RDFS.range,
}
_CHAINS = {
    "EquivalentClasses": OWL.equivalentClass,
    "EquivalentObjectProperties": OWL.equivalentProperty,
    "EquivalentDataProperties": OWL.equivalentProperty,
}
_MUTUAL = {
    "DisjointClasses": (OWL.disjointWith, OWL.AllDisjointClasses),
    "DisjointObjectProperties": (OWL.propertyDisjointWith, OWL.AllDisjointProperties),
    "DisjointDataProperties": (OWL.propertyDisjointWith, OWL.AllDisjointProperties),
}
_KINDS = {
    "FunctionalObjectProperty": OWL.FunctionalProperty,
    "FunctionalDataProperty": OWL.FunctionalProperty,
    "InverseFunctionalObjectProperty": OWL.InverseFunctionalProperty,
    "ReflexiveObjectProperty": OWL.ReflexiveProperty,
    "IrreflexiveObjectProperty": OWL.IrreflexiveProperty,
    "SymmetricObjectProperty": OWL.SymmetricProperty,
    "AsymmetricObjectProperty": OWL.AsymmetricProperty,
    "TransitiveObjectProperty": OWL.TransitiveProperty,
}
"""What each kind of axiom is as a triple: its predicate, or class."""


def map_axiom(axiom: Call, header: Node, add: Add) -> None:
    """Hand the triples of an axiom, an import or a declaration to `add`.

    Args:
        axiom: the call.
        header: the ontology's IRI or blank node, the subject of imports.
        add: takes each triple with its line.

    Raises:
        NoAxiom: it is none.
    """
    _Mapper(header, add).map(axiom)


class _Mapper:
    def __init__(self, header: Node, add: Add) -> None:
        self.header, self.add = header, add

    def map(self, axiom: Call) -> None:
        parts = tuple(
            p for p in axiom.arguments if not (isinstance(p, Call) and p.name == "Annotation")
        )
        line, name = axiom.line, axiom.name
        if name == "Import":
            for part in parts:
                if not isinstance(part, Call):
                    self.add(self.header, OWL.imports, part, line)
            return
        if name == "Declaration":
            self._declare(axiom, parts)
            return
        if name.startswith("Annotation") or name in (  # they say nothing about individuals
            "SubAnnotationPropertyOf",
            "DatatypeDefinition",
        ):
            return
        if name == "ClassAssertion" and len(parts) == 2:
            self.add(self._part(parts[1]), RDF.type, self._part(parts[0]), line)
        elif name in _PAIRS and len(parts) == 2:
            first = parts[0]
            if isinstance(first, Call) and first.name == "ObjectPropertyChain":
                chain = self._list([self._part(p) for p in first.arguments], line)
                self.add(self._part(parts[1]), OWL.propertyChainAxiom, chain, line)
                return
            self._declare_use(name, parts)
            self.add(self._part(first), _PAIRS[name], self._part(parts[1]), line)
        elif name in _CHAINS and len(parts) >= 2:
            nodes = [self._part(p) for p in parts]
            for a, b in pairwise(nodes):
                self.add(a, _CHAINS[name], b, line)
        elif name in _MUTUAL and len(parts) >= 2:
            nodes = [self._part(p) for p in parts]
            if len(nodes) == 2:
                self.add(nodes[0], _MUTUAL[name][0], nodes[1], line)
            else:
                group = BNode()
                self.add(group, RDF.type, _MUTUAL[name][1], line)
                self.add(group, OWL.members, self._list(nodes, line), line)
        elif name in _KINDS and len(parts) == 1:
            self.add(self._part(parts[0]), RDF.type, _KINDS[name], line)
        else:
            self._map_rest(axiom, parts)

    def _map_rest(self, axiom: Call, parts: tuple[Part, ...]) -> None:
        """Assertions of properties, and axioms that OWL 2 QL has not but a file may."""
        line, name = axiom.line, axiom.name
        if name in ("ObjectPropertyAssertion", "DataPropertyAssertion") and len(parts) == 3:
            self._assert(name, *parts, line)
        elif name == "DisjointUnion" and len(parts) >= 2:
            self.add(
                self._part(parts[0]),
                OWL.disjointUnionOf,
                self._list([self._part(p) for p in parts[1:]], line),
                line,
            )
        elif name == "HasKey" and len(parts) >= 2:
            nodes = [self._part(p) for p in parts]
            self.add(nodes[0], OWL.hasKey, self._list(nodes[1:], line), line)
        elif name in ("SameIndividual", "DifferentIndividuals") and len(parts) >= 2:
            same = name == "SameIndividual"
            nodes = [self._part(p) for p in parts]
            for a, b in pairwise(nodes) if same else combinations(nodes, 2):
                self.add(a, OWL.sameAs if same else OWL.differentFrom, b, line)
        elif name.startswith("Negative") and len(parts) == 3:
            self.add(BNode(), RDF.type, OWL.NegativePropertyAssertion, line)
        elif name == "DLSafeRule":
            self.add(BNode(), RDF.type, SWRL.Imp, line)
        else:
            raise NoAxiom(f"{name}(…) with {len(parts)} arguments is not an axiom", line)

    def _assert(self, name: str, role: Part, subject: Part, value: Part, line: int) -> None:
        """P(a, b); an assertion of ObjectInverseOf(P) is one of P, turned round."""
        while (
            isinstance(role, Call) and role.name == "ObjectInverseOf" and len(role.arguments) == 1
        ):
            role, subject, value = role.arguments[0], value, subject
        self._declare_use(name, (role,))
        self.add(self._part(subject), self._part(role), self._part(value), line)

    def _declare(self, axiom: Call, parts: Sequence[Part]) -> None:
        kinds = {
            "Class": OWL.Class,
            "ObjectProperty": OWL.ObjectProperty,
            "DataProperty": OWL.DatatypeProperty,
            "AnnotationProperty": OWL.AnnotationProperty,
            "NamedIndividual": OWL.NamedIndividual,
            "Datatype": RDFS.Datatype,
        }
        inner = parts[0] if len(parts) == 1 else None
        if not isinstance(inner, Call) or inner.name not in kinds or len(inner.arguments) != 1:
            raise NoAxiom("a declaration is Declaration(Class(IRI)) or the like", axiom.line)
        self.add(self._part(inner.arguments[0]), RDF.type, kinds[inner.name], axiom.line)

    def _declare_use(self, name: str, parts: Sequence[Part]) -> None:
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

    def _part(self, part: Part) -> Node:
        """The node of an expression; its triples are added."""
        if not isinstance(part, Call):
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
            raise NoAxiom(f"{part.name}(…) is not an expression", line)
        return node
