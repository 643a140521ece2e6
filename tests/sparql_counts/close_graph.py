"""The triples that the hierarchies of an ontology add to a graph, by forward chaining."""

from collections.abc import Iterable

from rdflib import OWL, RDF, RDFS, BNode, Graph
from rdflib.term import Literal, Node

Triple = tuple[Node, Node, Node]


def close_graph(triples: Iterable[Triple], ontology: Graph) -> set[Triple]:
    """The triples, and what subclasses, subproperties, inverses, domains and ranges add to them.

    Args:
        triples: of the data.
        ontology: whose axioms are RDFS's, and owl:inverseOf between names; what has a value of a
            property is of a class; what a class says must exist has no name, and is not there.
    """
    above = [(a, b) for a, b in ontology.subject_objects(RDFS.subClassOf) if not _is_made(a, b)]
    properties = list(ontology.subject_objects(RDFS.subPropertyOf))
    inverses = list(ontology.subject_objects(OWL.inverseOf))
    inverses += [(b, a) for a, b in inverses]
    domains = list(ontology.subject_objects(RDFS.domain))
    for some, upper in ontology.subject_objects(RDFS.subClassOf):
        if isinstance(some, BNode) and not isinstance(upper, BNode):
            domains += [(p, upper) for p in ontology.objects(some, OWL.onProperty)]
    ranges = list(ontology.subject_objects(RDFS.range))
    found = set(triples)
    waiting = list(found)
    while waiting:
        s, p, o = waiting.pop()
        if p == RDF.type:
            more: list[Triple] = [(s, p, upper) for lower, upper in above if lower == o]
        else:
            more = [(s, upper, o) for lower, upper in properties if lower == p]
            more += [(s, RDF.type, c) for q, c in domains if q == p]
            if not isinstance(o, Literal):
                more += [(o, other, s) for q, other in inverses if q == p]
                more += [(o, RDF.type, c) for q, c in ranges if q == p]
        new = set(more) - found
        found |= new
        waiting += new
    return found


def _is_made(lower: Node, upper: Node) -> bool:
    """Whether an axiom is of a class without a name."""
    return isinstance(lower, BNode) or isinstance(upper, BNode)
