"""Read class and property expressions of OWL 2 QL from triples, and print them.

The profile: https://www.w3.org/TR/owl2-profiles/#OWL_2_QL. What is outside raises `OutsideQL`
with the rule it breaks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from rdflib import OWL, RDF, RDFS, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.ontology.axioms import Basic, Exists, NamedClass, Role
from ontoweir.ontology.syntax.read_triples import Triples, read_list


class OutsideQL(Exception):
    """An expression or axiom outside OWL 2 QL; the message is the profile's rule."""


@dataclass(frozen=True, slots=True)
class Qualified:
    """∃R.(C1 ⊓ …) on the right of an inclusion."""

    role: Role
    fillers: tuple[Basic, ...]


@dataclass(frozen=True, slots=True)
class Complement:
    """¬(B1 ⊔ …) on the right of an inclusion; for no Bi it is top."""

    of: tuple[Basic, ...]


@dataclass(frozen=True, slots=True)
class Nothing:
    """owl:Nothing on the right of an inclusion."""


Superclass: TypeAlias = Basic | Qualified | Complement | Nothing
"""A conjunct on the right of an inclusion."""


@dataclass(slots=True)
class Kinds:
    """Which IRIs are classes and which kind of property, over all files of an ontology."""

    classes: set[str] = field(default_factory=set)
    objects: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    annotation: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    """Properties that axioms are about, declared or not."""
    ranges: dict[str, set[str]] = field(default_factory=dict)
    """The datatypes that are declared as the ranges of data properties."""
    _named: dict[URIRef, NamedClass] = field(default_factory=dict)

    def name_class(self, iri: URIRef) -> NamedClass:
        """The class of a name: one object, however often it is named."""
        found = self._named.get(iri)
        if found is None:
            found = self._named[iri] = NamedClass(str(iri))
        return found


_TOP, _BOTTOM = frozenset((OWL.Thing,)), frozenset((OWL.Nothing,))
_LEFT = (
    "on the left of an inclusion OWL 2 QL has class names, ObjectSomeValuesFrom(P owl:Thing) and "
    "DataSomeValuesFrom(P D)"
)
_RIGHT = (
    "on the right of an inclusion OWL 2 QL has class names, intersections, complements of what "
    "is allowed on the left, and ObjectSomeValuesFrom(P C) with a class C"
)
_CONSTRUCTS: dict[Node, str] = {
    OWL.allValuesFrom: "AllValuesFrom (a universal restriction)",
    OWL.hasValue: "HasValue",
    OWL.hasSelf: "ObjectHasSelf",
    OWL.oneOf: "OneOf (an enumeration)",
    OWL.minCardinality: "MinCardinality",
    OWL.maxCardinality: "MaxCardinality",
    OWL.cardinality: "ExactCardinality",
    OWL.minQualifiedCardinality: "MinCardinality",
    OWL.maxQualifiedCardinality: "MaxCardinality",
    OWL.qualifiedCardinality: "ExactCardinality",
    OWL.unionOf: "ObjectUnionOf",
    OWL.intersectionOf: "ObjectIntersectionOf",
    OWL.complementOf: "ObjectComplementOf",
    OWL.someValuesFrom: "ObjectSomeValuesFrom",
}


def read_role(triples: Triples, node: Node, kinds: Kinds) -> Role:
    """A property or ObjectInverseOf(property)."""
    if isinstance(node, URIRef):
        return Role(str(node))
    inverse = triples.objects(node, OWL.inverseOf)
    if len(inverse) == 1 and not isinstance(inverse[0], Literal) and inverse[0] != node:
        role = read_role(triples, inverse[0], kinds)
        if role.iri in kinds.data:
            raise OutsideQL("a data property has no inverse")
        return role.inverted()
    raise OutsideQL("a property expression is a property or ObjectInverseOf(P)")


def read_left(triples: Triples, node: Node, kinds: Kinds) -> tuple[Basic, ...]:
    """The subclass side: a union is read as its parts; owl:Nothing is the empty union."""
    if isinstance(node, URIRef):
        return () if node in _BOTTOM else (kinds.name_class(node),)
    if isinstance(node, Literal):
        raise OutsideQL("a literal is not a class")
    union = triples.objects(node, OWL.unionOf)
    if union:
        parts = read_members(triples, union[0])
        return tuple(b for part in parts for b in read_left(triples, part, kinds))
    if fillers := _list_fillers(triples, node):
        _check_filler(fillers)
        role = _on_property(triples, node, kinds)
        if fillers[0] in (OWL.Thing, RDFS.Literal):
            return (Exists(role),)
        if role.iri in kinds.data:
            return _some_value(triples, role, fillers[0], kinds)
        raise OutsideQL(f"{_LEFT}; a filler on the left is owl:Thing (rdfs:Literal for data)")
    if _is_some(triples, node):
        return (Exists(_on_property(triples, node, kinds)),)
    raise OutsideQL(f"{_named_construct(triples, node)} is not among them: {_LEFT}")


def _check_filler(fillers: Sequence[Node]) -> None:
    if len(fillers) > 1:
        raise OutsideQL("a restriction has one filler; this one has several")


def read_members(triples: Triples, head: Node, *, least: int = 1) -> tuple[Node, ...]:
    """The members of a list that is whole.

    Raises:
        OutsideQL: the list is broken, goes in a circle, or has fewer than `least` members.
    """
    members: list[Node] = []
    seen: set[Node] = set()
    while head != RDF.nil:
        first, rest = triples.objects(head, RDF.first), triples.objects(head, RDF.rest)
        if head in seen or len(first) != 1 or len(rest) != 1:
            raise OutsideQL("its list of operands is broken, or goes in a circle")
        seen.add(head)
        members.append(first[0])
        head = rest[0]
    if len(members) < least:
        raise OutsideQL(f"it needs at least {least} operands, and has {len(members)}")
    return tuple(members)


def read_right(triples: Triples, node: Node, kinds: Kinds) -> tuple[Superclass, ...]:
    """The superclass side as its conjuncts; owl:Thing is the empty conjunction."""
    if isinstance(node, URIRef):
        if node in _BOTTOM:
            return (Nothing(),)
        return () if node in _TOP else (kinds.name_class(node),)
    if isinstance(node, Literal):
        raise OutsideQL("a literal is not a class")
    if parts := triples.objects(node, OWL.intersectionOf):
        members = read_members(triples, parts[0])
        return tuple(c for part in members for c in read_right(triples, part, kinds))
    if negated := triples.objects(node, OWL.complementOf):
        return (Complement(read_left(triples, negated[0], kinds)),)
    if fillers := _list_fillers(triples, node):
        _check_filler(fillers)
        role = _on_property(triples, node, kinds)
        if role.iri in kinds.data:
            return (Exists(role),)
        if fillers[0] == OWL.Nothing:
            return (Nothing(),)
        basics: list[Basic] = []
        for part in read_right(triples, fillers[0], kinds):
            if not isinstance(part, NamedClass | Exists):
                raise OutsideQL(f"the filler is not a class: {_RIGHT}")
            basics.append(part)
        return (Qualified(role, tuple(basics)),) if basics else (Exists(role),)
    if _is_some(triples, node):
        return (Exists(_on_property(triples, node, kinds)),)
    raise OutsideQL(f"{_named_construct(triples, node)} is not among them: {_RIGHT}")


def _some_value(triples: Triples, role: Role, datatype: Node, kinds: Kinds) -> tuple[Basic, ...]:
    """DataSomeValuesFrom(P D) on the left, where all values of P are in D: ∃P."""
    if str(datatype) in kinds.ranges.get(role.iri, ()):
        return (Exists(role),)
    shown = f"{show_iri(role.iri)} {show_node(triples, datatype)}"
    raise OutsideQL(
        "OWL 2 QL has this, but values are not told apart by datatype here: on the left D is "
        f"rdfs:Literal or a declared range, DataPropertyRange({shown})"
    )


def read_datatypes(triples: Triples, node: Node) -> tuple[str, ...]:
    """A data range: a datatype or an intersection of some."""
    if isinstance(node, URIRef):
        return (str(node),)
    if parts := triples.objects(node, OWL.intersectionOf):
        return tuple(d for p in read_list(triples, parts[0]) for d in read_datatypes(triples, p))
    raise OutsideQL("a data range in OWL 2 QL is a datatype or DataIntersectionOf datatypes")


def _list_fillers(triples: Triples, node: Node) -> Sequence[Node]:
    """C of SomeValuesFrom(P C), or of MinCardinality(1 P C), which is the same in other words."""
    fillers = triples.objects(node, OWL.someValuesFrom)
    if fillers or not _has_one(triples, node, OWL.minQualifiedCardinality):
        return fillers
    return triples.objects(node, OWL.onClass) or triples.objects(node, OWL.onDataRange)


def _is_some(triples: Triples, node: Node) -> bool:
    """MinCardinality(1 P), which is ∃P in other words."""
    return _has_one(triples, node, OWL.minCardinality)


def _has_one(triples: Triples, node: Node, cardinality: URIRef) -> bool:
    return any(str(n) == "1" for n in triples.objects(node, cardinality))


def _on_property(triples: Triples, node: Node, kinds: Kinds) -> Role:
    properties = triples.objects(node, OWL.onProperty)
    if len(properties) != 1:
        raise OutsideQL("a restriction is on one property")
    return read_role(triples, properties[0], kinds)


def _named_construct(triples: Triples, node: Node) -> str:
    for predicate in triples.predicates(node):
        if predicate in _CONSTRUCTS:
            return _CONSTRUCTS[predicate]
    return "this expression"


_SPACES = ((str(OWL), "owl"), (str(RDF), "rdf"), (str(RDFS), "rdfs"), (str(XSD), "xsd"))


@lru_cache(maxsize=1 << 16)
def show_iri(iri: str) -> str:
    """`:local` for an IRI, `owl:Thing` for the known vocabularies."""
    if iri.startswith("http://www.w3.org/"):
        for space, prefix in _SPACES:
            if iri.startswith(space):
                return f"{prefix}:{iri[len(space) :]}"
    local = iri.rsplit("#", 1)[-1] if "#" in iri else iri.rsplit("/", 1)[-1]
    return f":{local}" if local else f"<{iri}>"


def show_node(triples: Triples, node: Node, depth: int = 0) -> str:
    """An expression in functional syntax, as far as it has one."""
    if type(node) is URIRef:  # isinstance is slow where it is not
        return show_iri(node)
    if isinstance(node, Literal):
        return f'"{node}"'
    if depth > 6:
        return "…"
    said = triples.predicates(node)
    for predicate in (p for p in _CONSTRUCTS if p in said):
        for value in triples.objects(node, predicate):
            if predicate in (OWL.unionOf, OWL.intersectionOf, OWL.oneOf):
                parts = [show_node(triples, v, depth + 1) for v in read_list(triples, value)]
            else:
                roles = triples.objects(node, OWL.onProperty)
                of = (*triples.objects(node, OWL.onClass), *triples.objects(node, OWL.onDataRange))
                parts = [show_node(triples, v, depth + 1) for v in (*roles, value, *of)]
            return f"{_CONSTRUCTS[predicate].split(' ')[0]}({' '.join(parts)})"
    for value in triples.objects(node, OWL.inverseOf):
        return f"ObjectInverseOf({show_node(triples, value, depth + 1)})"
    return "_:b" if isinstance(node, BNode) else str(node)
