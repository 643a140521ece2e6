"""The triples that the hierarchies of an ontology add to a graph, by forward chaining."""

from collections.abc import Iterable

from rdflib import OWL, RDF, RDFS, Graph
from rdflib.term import Literal, Node

Triple = tuple[Node, Node, Node]


def close_graph(triples: Iterable[Triple], ontology: Graph) -> set[Triple]:
    """The triples, and what subclasses, subproperties, inverses, domains and ranges add to them.

    Args:
        triples: of the data.
        ontology: whose axioms are RDFS's, and owl:inverseOf between names.
    """
    above = list(ontology.subject_objects(RDFS.subClassOf))
    properties = list(ontology.subject_objects(RDFS.subPropertyOf))
    inverses = list(ontology.subject_objects(OWL.inverseOf))
    inverses += [(b, a) for a, b in inverses]
    domains = list(ontology.subject_objects(RDFS.domain))
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
