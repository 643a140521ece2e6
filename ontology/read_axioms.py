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
    for s, p, o, line in triples.rows:
        place = triples.source(line, s, o)
        try:
            axioms = _read(triples, kinds, s, p, o, place, report)
            if axioms is None:
                yield from read_fact(kinds, s, p, o, Because(_show(triples, s, p, o), place))
            else:
                yield from axioms
        except OutsideQL as rule:
            report(_show(triples, s, p, o), str(rule), place)
        except RecursionError:
            report(_show(triples, s, p, o), "an expression contains itself, or is too deep", place)


def _read(
    triples: Triples, kinds: Kinds, s: Node, p: Node, o: Node, place: Source, report: Report
) -> list[Axiom] | None:
    """The axioms of one triple; None for an assertion about an individual."""
    because = Because(_show(triples, s, p, o), place)
    named = isinstance(s, URIRef)
    if p == RDFS.subClassOf:
        return _below(triples, kinds, s, o, because)
    if p == OWL.equivalentClass or (named and p in (OWL.intersectionOf, OWL.unionOf)):
        other = o if p == OWL.equivalentClass else _alias(triples, s, p, o)
        return _both_ways(triples, kinds, s, other, because, report)
    if named and p == OWL.complementOf:
        report(f"{because.text}, right to left", "a negated class is only on the right", place)
        return _disjoint(triples, kinds, [s, o], because)
    if p == OWL.disjointWith:
        return _disjoint(triples, kinds, [s, o], because)
    if p == OWL.disjointUnionOf:
        parts = list(read_members(triples, o))
        report(f"{because.text}, covering", "OWL 2 QL has no union on the right", place)
        below = [a for part in parts for a in _below(triples, kinds, part, s, because)]
        return [*below, *_disjoint(triples, kinds, parts, because)]
    if p == RDF.type and o == OWL.AllDisjointClasses:
        members = list(_members(triples, s))
        return _disjoint(triples, kinds, members, because)
    if p in _UNSUPPORTED:
        raise OutsideQL(f"OWL 2 QL has no {_UNSUPPORTED[p]}")
    roles = _read_role_axiom(triples, kinds, s, p, o, because)
    if roles is not None:
        return roles
    return _read_rest(kinds, s, p, o)


def _read_rest(kinds: Kinds, s: Node, p: Node, o: Node) -> list[Axiom] | None:
    """Declarations and annotations make no axiom; assertions about individuals give None.

    A property that is neither declared nor in an axiom counts as an annotation."""
    if p == RDF.type:
        if o in _UNSUPPORTED_TYPES:
            raise OutsideQL(f"OWL 2 QL has no {_UNSUPPORTED_TYPES[o]}")
        vocabulary = (str(OWL), str(RDFS), str(RDF), str(SWRL))
        is_class = isinstance(o, BNode) or not str(o).startswith(vocabulary)
        return None if is_class or o in (OWL.Thing, OWL.Nothing) else []
    if str(p) in kinds.annotation or str(p).startswith((str(OWL), str(RDFS), str(RDF))):
        return []
    if str(p) in kinds.data or str(p) in kinds.objects or str(p) in kinds.used:
        return None
    return []


def _read_role_axiom(
    triples: Triples, kinds: Kinds, s: Node, p: Node, o: Node, because: Because
) -> list[Axiom] | None:
    """The axioms of a triple about properties; None if it is about something else."""

    def role(node: Node) -> Role:
        return read_role(triples, node, kinds)

    if str(s) in kinds.annotation and p in (RDFS.subPropertyOf, RDFS.domain, RDFS.range):
        return []
    if p == RDFS.subPropertyOf:
        return _subrole(role(s), role(o), because)
    if p == OWL.equivalentProperty:
        a, b = role(s), role(o)
        return [*_subrole(a, b, because), *_subrole(b, a, because)]
    if p == OWL.inverseOf and isinstance(s, URIRef):
        a, b = role(s), role(o).inverted()
        return [SubRole(a, b, because), SubRole(b, a, because)]
    if p == OWL.propertyDisjointWith:
        return [DisjointRoles(role(s), role(o), because)]
    if p == RDFS.domain:
        return _conclude(triples, kinds, (Exists(role(s)),), o, because)
    if p == RDFS.range:
        axioms = role(s)
        if axioms.iri in kinds.data:
            return [DataRange(axioms, d, because) for d in read_datatypes(triples, o)]
        return _conclude(triples, kinds, (Exists(axioms.inverted()),), o, because)
    if p != RDF.type:
        return None
    if o == OWL.SymmetricProperty:
        return [SubRole(role(s), role(s).inverted(), because)]
    if o == OWL.AsymmetricProperty:
        return [DisjointRoles(role(s), role(s).inverted(), because)]
    if o == OWL.ReflexiveProperty:
        return [ReflexiveRole(role(s), because)]
    if o == OWL.IrreflexiveProperty:
        return [IrreflexiveRole(role(s), because)]
    if o == OWL.AllDisjointProperties:
        members = [role(m) for m in _members(triples, s)]
        pairs = ((a, b) for i, a in enumerate(members) for b in members[i + 1 :])
        return [DisjointRoles(a, b, because) for a, b in pairs]
    return None


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
    OWL.disjointUnionOf: "DisjointUnion",
    RDFS.subPropertyOf: "SubPropertyOf",
    OWL.equivalentProperty: "EquivalentProperties",
    OWL.inverseOf: "InverseObjectProperties",
    OWL.propertyDisjointWith: "DisjointProperties",
    RDFS.domain: "PropertyDomain",
    RDFS.range: "PropertyRange",
    OWL.hasKey: "HasKey",
    OWL.propertyChainAxiom: "SubObjectPropertyOf",
    OWL.sameAs: "SameIndividual",
    OWL.imports: "Import",
}


def _show(triples: Triples, s: Node, p: Node, o: Node) -> str:
    """The axiom of a triple in functional syntax."""
    subject = show_node(triples, s)
    if p == RDF.type:
        if isinstance(o, BNode) or o in (OWL.Thing, OWL.Nothing) or not str(o).startswith(str(OWL)):
            name = "DLSafeRule" if o == SWRL.Imp else "ClassAssertion"
            return f"{name}({show_node(triples, o)} {subject})"
        word = str(o).rsplit("#", 1)[-1]
        if word.startswith("AllDisjoint"):
            heads = triples.objects(s, OWL.members)
            names = (show_node(triples, m) for x in heads for m in read_list(triples, x))
            return f"{word.replace('All', '')}({' '.join(names)})"
        return f"{word.replace('Property', 'ObjectProperty')}({subject})"
    if p in (OWL.intersectionOf, OWL.unionOf):
        word = "ObjectIntersectionOf" if p == OWL.intersectionOf else "ObjectUnionOf"
        names = (show_node(triples, m) for m in read_list(triples, o))
        return f"EquivalentClasses({subject} {word}({' '.join(names)}))"
    if p == OWL.complementOf:
        return f"EquivalentClasses({subject} ObjectComplementOf({show_node(triples, o)}))"
    if p == OWL.propertyChainAxiom:
        chain = " ".join(show_node(triples, m) for m in read_list(triples, o))
        return f"SubObjectPropertyOf(ObjectPropertyChain({chain}) {subject})"
    if p == OWL.disjointUnionOf:
        names = (show_node(triples, m) for m in read_list(triples, o))
        return f"DisjointUnion({subject} {' '.join(names)})"
    word = _WORDS.get(p, "")
    value = f'"{o}"' if isinstance(o, Literal) else show_node(triples, o)
    if not word:
        kind = "Data" if isinstance(o, Literal) else "Object"
        return f"{kind}PropertyAssertion({show_node(triples, p)} {subject} {value})"
    return f"{word}({subject} {value})"
