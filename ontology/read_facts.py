"""Read assertions about individuals, the facts of an ontology.

OWL 2 QL (https://www.w3.org/TR/owl2-profiles/#OWL_2_QL): class assertions are about class names;
there are neither anonymous individuals nor SameIndividual nor negative assertions.
"""

from rdflib import OWL, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.ontology.axioms import Because, ClassFact, Fact, RoleFact, Value
from ontoweir.ontology.read_expressions import Kinds, OutsideQL

_ATOMIC = "in OWL 2 QL class assertions are about class names only"
_NAMED = "OWL 2 QL has no anonymous individuals"


def read_fact(kinds: Kinds, s: Node, p: Node, o: Node, because: Because) -> tuple[Fact, ...]:
    """The fact of a triple that is an assertion; none for owl:Thing, which all are in.

    Raises:
        OutsideQL: OWL 2 QL does not have it.
    """
    if str(p).endswith("#type") and not isinstance(o, Literal):
        if isinstance(o, BNode):
            raise OutsideQL(_ATOMIC)
        if isinstance(s, BNode):
            raise OutsideQL(_NAMED)
        if o == OWL.Nothing:
            raise OutsideQL("owl:Nothing has no members: the ontology would be inconsistent")
        return () if o == OWL.Thing else (ClassFact(str(o), str(s), because),)
    if isinstance(s, BNode) or isinstance(o, BNode):
        raise OutsideQL(_NAMED)
    prop = str(p)
    if isinstance(o, Literal):
        if prop in kinds.objects and prop not in kinds.data:
            raise OutsideQL("an object property has individuals as values, not literals")
        if o.ill_typed:
            raise OutsideQL(f"{str(o)!r} is not of type {o.datatype}")
        datatype = None if o.datatype in (None, XSD.string) else str(o.datatype)
        language = o.language.lower() if o.language else None  # compared without case
        return (RoleFact(prop, str(s), Value(str(o), datatype, language), because),)
    assert isinstance(o, URIRef)
    if prop in kinds.data and prop not in kinds.objects:
        raise OutsideQL("a data property has literals as values, not individuals")
    return (RoleFact(prop, str(s), str(o), because),)
