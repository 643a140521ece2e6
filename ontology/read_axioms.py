"""Read the OWL 2 QL axioms of a file's triples, in normal form."""

from collections.abc import Callable, Iterator
from typing import assert_never

from rdflib import OWL, RDF, RDFS, BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.errors import Source
from ontoweir.ontology.axioms import (
    Axiom,
    Basic,
    Because,
    DataRange,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    Fact,
    IrreflexiveRole,
    NamedClass,
    ReflexiveRole,
    Role,
    SubConcept,
    SubExists,
    SubRole,
)
from ontoweir.ontology.read_expressions import (
    Complement,
    Kinds,
    Nothing,
    OutsideQL,
    Qualified,
    read_datatypes,
    read_left,
    read_members,
    read_right,
    read_role,
    show_node,
)
from ontoweir.ontology.read_facts import read_fact
from ontoweir.ontology.syntax.map_axioms import SWRL
from ontoweir.ontology.syntax.read_triples import Triples, read_list

Report = Callable[[str, str, Source], None]
"""Called with an axiom that is left out, the rule, and its place."""

_UNSUPPORTED_TYPES: dict[Node, str] = {
    OWL.TransitiveProperty: "TransitiveObjectProperty",
    OWL.FunctionalProperty: "FunctionalProperty",
    OWL.InverseFunctionalProperty: "InverseFunctionalObjectProperty",
    OWL.NegativePropertyAssertion: "NegativePropertyAssertion",
    SWRL.Imp: "DLSafeRule (SWRL)",
}
_UNSUPPORTED: dict[Node, str] = {
    OWL.propertyChainAxiom: "SubObjectPropertyOf(ObjectPropertyChain …)",
    OWL.hasKey: "HasKey",
    OWL.sameAs: "SameIndividual",
}


def read_axioms(triples: Triples, kinds: Kinds, report: Report) -> Iterator[Axiom | Fact]:
    """The axioms and facts of one file; what is outside OWL 2 QL goes to `report` instead."""
    asserts = _Assertions(kinds)
    for s, p, o, line in triples.rows:
        is_axiom = (o in _TYPES if p in _TYPE else p in _AXIOMS) and (
            p not in _OF_NAMES or isinstance(s, URIRef)
        )
        if not is_axiom and not asserts(p, o):
            continue  # a declaration, an annotation, a part of an expression
        if p in _OF_PROPERTIES and str(s) in kinds.annotation:
            continue
        place = triples.source(line, s, o)
        because = Because(_show(triples, s, p, o), place)
        try:
            if is_axiom:
                yield from _read(triples, kinds, s, p, o, because, report)
            else:
                yield from read_fact(kinds, s, p, o, because)
        except OutsideQL as rule:
            report(because.text, str(rule), place)
        except RecursionError:
            report(because.text, "an expression contains itself, or is too deep", place)


class _Assertions:
    """Which triples are assertions about individuals, if they are no axioms: not declarations and
    annotations. A property that is neither declared nor in an axiom counts as an annotation."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.types: dict[Node, bool] = {}
        self.properties: dict[Node, bool] = {}

    def __call__(self, p: Node, o: Node) -> bool:
        known, node = (self.types, o) if p in _TYPE else (self.properties, p)
        found = known.get(node)
        if found is None:
            found = known[node] = self._is_class(o) if p in _TYPE else self._is_property(p)
        return found

    def _is_class(self, o: Node) -> bool:
        is_class = isinstance(o, BNode) or not str(o).startswith((*_VOCABULARY, str(SWRL)))
        return is_class or o in (OWL.Thing, OWL.Nothing)

    def _is_property(self, p: Node) -> bool:
        kinds, iri = self.kinds, str(p)
        if iri in kinds.annotation or iri.startswith(_VOCABULARY):
            return False
        return iri in kinds.data or iri in kinds.objects or iri in kinds.used


_TYPE: frozenset[Node] = frozenset((RDF.type,))
"""By identity, mostly: rdflib's own comparison of nodes takes ten times as long."""
_VOCABULARY = (str(OWL), str(RDFS), str(RDF))
_OF_NAMES: frozenset[Node] = frozenset(
    (OWL.intersectionOf, OWL.unionOf, OWL.complementOf, OWL.inverseOf)
)
"""What makes an axiom of a name, and an expression of a blank node."""
_OF_PROPERTIES: frozenset[Node] = frozenset((RDFS.subPropertyOf, RDFS.domain, RDFS.range))
"""What also annotation properties have."""


def _read(
    triples: Triples, kinds: Kinds, s: Node, p: Node, o: Node, because: Because, report: Report
) -> list[Axiom]:
    """The axioms of one triple that makes some."""
    if p in _SUBCLASS:
        return _below(triples, kinds, s, o, because)
    if p in _UNSUPPORTED:
        raise OutsideQL(f"OWL 2 QL has no {_UNSUPPORTED[p]}")
    if p in _TYPE:
        return _read_type(triples, kinds, s, o, because)
    if p in _OF_ROLES:
        return _read_role_axiom(triples, kinds, s, p, o, because)
    place = because.source
    assert place is not None
    if p == OWL.complementOf:
        report(f"{because.text}, right to left", "a negated class is only on the right", place)
        return _disjoint(triples, kinds, [s, o], because)
    if p == OWL.disjointWith:
        return _disjoint(triples, kinds, [s, o], because)
    if p == OWL.disjointUnionOf:
        parts = list(read_members(triples, o))
        report(f"{because.text}, covering", "OWL 2 QL has no union on the right", place)
        below = [a for part in parts for a in _below(triples, kinds, part, s, because)]
        return [*below, *_disjoint(triples, kinds, parts, because)]
    other = o if p == OWL.equivalentClass else _alias(triples, s, p, o)
    return _both_ways(triples, kinds, s, other, because, report)


_SUBCLASS: frozenset[Node] = frozenset((RDFS.subClassOf,))
_OF_ROLES: frozenset[Node] = _OF_PROPERTIES | {
    *(OWL.equivalentProperty, OWL.inverseOf, OWL.propertyDisjointWith)
}
_AXIOMS: frozenset[Node] = (
    _OF_ROLES
    | _OF_NAMES
    | frozenset(_UNSUPPORTED)
    | _SUBCLASS
    | {OWL.equivalentClass, OWL.disjointWith, OWL.disjointUnionOf}
)
"""The properties whose triples are axioms."""


def _read_type(triples: Triples, kinds: Kinds, s: Node, o: Node, because: Because) -> list[Axiom]:
    """The axioms of a triple that says what kind of property something is, or what is disjoint."""
    if o in _UNSUPPORTED_TYPES:
        raise OutsideQL(f"OWL 2 QL has no {_UNSUPPORTED_TYPES[o]}")
    if o == OWL.AllDisjointClasses:
        return _disjoint(triples, kinds, list(_members(triples, s)), because)
    if o == OWL.AllDisjointProperties:
        roles = [read_role(triples, m, kinds) for m in _members(triples, s)]
        pairs = ((a, b) for i, a in enumerate(roles) for b in roles[i + 1 :])
        return [DisjointRoles(a, b, because) for a, b in pairs]
    role = read_role(triples, s, kinds)
    if o == OWL.SymmetricProperty:
        return [SubRole(role, role.inverted(), because)]
    if o == OWL.AsymmetricProperty:
        return [DisjointRoles(role, role.inverted(), because)]
    if o == OWL.ReflexiveProperty:
        return [ReflexiveRole(role, because)]
    return [IrreflexiveRole(role, because)]


_TYPES: frozenset[Node] = frozenset(_UNSUPPORTED_TYPES) | {
    *(OWL.AllDisjointClasses, OWL.AllDisjointProperties),
    *(OWL.SymmetricProperty, OWL.AsymmetricProperty),
    *(OWL.ReflexiveProperty, OWL.IrreflexiveProperty),
}
"""The types whose triples are axioms."""


def _read_role_axiom(
    triples: Triples, kinds: Kinds, s: Node, p: Node, o: Node, because: Because
) -> list[Axiom]:
    """The axioms of a triple about properties."""
    one = read_role(triples, s, kinds)
    if p == RDFS.domain:
        return _conclude(triples, kinds, (Exists(one),), o, because)
    if p == RDFS.range:
        if one.iri in kinds.data:
            return [DataRange(one, d, because) for d in read_datatypes(triples, o)]
        return _conclude(triples, kinds, (Exists(one.inverted()),), o, because)
    other = read_role(triples, o, kinds)
    if p == RDFS.subPropertyOf:
        return _subrole(one, other, because)
    if p == OWL.equivalentProperty:
        return [*_subrole(one, other, because), *_subrole(other, one, because)]
    if p == OWL.propertyDisjointWith:
        return [DisjointRoles(one, other, because)]
    other = other.inverted()  # owl:inverseOf
    return [SubRole(one, other, because), SubRole(other, one, because)]


def _members(triples: Triples, node: Node) -> tuple[Node, ...]:
    """What owl:AllDisjointClasses or owl:AllDisjointProperties lists."""
    heads = triples.objects(node, OWL.members)
    if len(heads) != 1:
        raise OutsideQL("it has one list of owl:members")
    return read_members(triples, heads[0], least=2)


def _subrole(sub: Role, sup: Role, because: Because) -> list[Axiom]:
    """Bottom and top properties make nothing that matters to a query."""
    ends = ("topObjectProperty", "topDataProperty", "bottomObjectProperty", "bottomDataProperty")
    special = {str(OWL) + end for end in ends}
    if sup.iri.startswith(str(OWL) + "bottom"):
        return [DisjointRoles(sub, sub, because)]
    if sub.iri.startswith(str(OWL) + "top") and sup.iri not in special:
        raise OutsideQL(
            "it relates every pair of individuals, which no mapping lists; state it of a class "
            "of pairs that is mapped"
        )
    return [] if sub.iri in special or sup.iri in special else [SubRole(sub, sup, because)]


def _below(triples: Triples, kinds: Kinds, sub: Node, sup: Node, because: Because) -> list[Axiom]:
    return _conclude(triples, kinds, read_left(triples, sub, kinds), sup, because)


def _conclude(
    triples: Triples, kinds: Kinds, subs: tuple[Basic, ...], sup: Node, because: Because
) -> list[Axiom]:
    """subs ⊑ sup, one axiom for each disjunct on the left and conjunct on the right."""
    made: list[Axiom] = []
    for part in read_right(triples, sup, kinds):
        for sub in subs:
            match part:
                case NamedClass() | Exists():
                    made.append(SubConcept(sub, part, because))
                case Qualified(role=role, fillers=fillers):
                    made.append(SubExists(sub, role, fillers, because))
                case Complement(of=others):
                    made.extend(DisjointConcepts(sub, other, because) for other in others)
                case Nothing():
                    made.append(DisjointConcepts(sub, sub, because))
                case _:
                    assert_never(part)
    return made


def _both_ways(
    triples: Triples, kinds: Kinds, a: Node, b: Node, because: Because, report: Report
) -> list[Axiom]:
    """a ≡ b: each direction on its own, so that one outside OWL 2 QL does not lose the other."""
    made: list[Axiom] = []
    for sub, sup in ((a, b), (b, a)):
        try:
            made.extend(_below(triples, kinds, sub, sup, because))
        except OutsideQL as rule:
            text = f"SubClassOf({show_node(triples, sub)} {show_node(triples, sup)})"
            assert because.source is not None
            report(text, str(rule), because.source)
    return made


def _alias(triples: Triples, s: Node, p: Node, o: Node) -> Node:
    """An anonymous class for the definition written on a named class (the OWL 1 style)."""
    node = BNode(f"definition of {s}")
    triples.add(node, p, o, None)
    return node


def _disjoint(triples: Triples, kinds: Kinds, nodes: list[Node], because: Because) -> list[Axiom]:
    sides = [read_left(triples, node, kinds) for node in nodes]
    return [
        DisjointConcepts(a, b, because)
        for i, left in enumerate(sides)
        for right in sides[i + 1 :]
        for a in left
        for b in right
    ]


_WORDS: dict[Node, str] = {
    RDFS.subClassOf: "SubClassOf",
    OWL.equivalentClass: "EquivalentClasses",
    OWL.disjointWith: "DisjointClasses",
    RDFS.subPropertyOf: "SubPropertyOf",
    OWL.equivalentProperty: "EquivalentProperties",
    OWL.inverseOf: "InverseObjectProperties",
    OWL.propertyDisjointWith: "DisjointProperties",
    RDFS.domain: "PropertyDomain",
    RDFS.range: "PropertyRange",
    OWL.hasKey: "HasKey",
    OWL.sameAs: "SameIndividual",
    OWL.imports: "Import",
}


_EXTREMES: frozenset[Node] = frozenset((OWL.Thing, OWL.Nothing))
_RULE: frozenset[Node] = frozenset((SWRL.Imp,))
_COMPLEMENT: frozenset[Node] = frozenset((OWL.complementOf,))
_OWL = str(OWL)


def _show(triples: Triples, s: Node, p: Node, o: Node) -> str:
    """The axiom of a triple in functional syntax."""
    subject = show_node(triples, s)
    word = _WORDS.get(p, "")
    if word:
        return f"{word}({subject} {show_node(triples, o)})"
    if p in _TYPE:
        if o in _EXTREMES or isinstance(o, BNode) or not str(o).startswith(_OWL):
            name = "DLSafeRule" if o in _RULE else "ClassAssertion"
            return f"{name}({show_node(triples, o)} {subject})"
        word = str(o).rsplit("#", 1)[-1]
        if word.startswith("AllDisjoint"):
            heads = triples.objects(s, OWL.members)
            names = (show_node(triples, m) for x in heads for m in read_list(triples, x))
            return f"{word.replace('All', '')}({' '.join(names)})"
        return f"{word.replace('Property', 'ObjectProperty')}({subject})"
    if p in _LISTED:
        names = (show_node(triples, m) for m in read_list(triples, o))
        return _LISTED[p].format(subject, " ".join(names))
    if p in _COMPLEMENT:
        return f"EquivalentClasses({subject} ObjectComplementOf({show_node(triples, o)}))"
    kind = "Data" if isinstance(o, Literal) else "Object"
    shown = show_node(triples, o)
    return f"{kind}PropertyAssertion({show_node(triples, p)} {subject} {shown})"


_LISTED: dict[Node, str] = {
    OWL.intersectionOf: "EquivalentClasses({0} ObjectIntersectionOf({1}))",
    OWL.unionOf: "EquivalentClasses({0} ObjectUnionOf({1}))",
    OWL.propertyChainAxiom: "SubObjectPropertyOf(ObjectPropertyChain({1}) {0})",
    OWL.disjointUnionOf: "DisjointUnion({0} {1})",
}
