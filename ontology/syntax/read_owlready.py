"""Read the triples of an ontology that owlready2 holds in memory.

owlready2's objects leave out cyclic hierarchies and inverses on the left; its triples have all.
"""

import owlready2
from owlready2.base import owl_imports
from rdflib import BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.ontology.syntax.read_triples import Triples

_UNIVERSAL = "http://anonymous/"
"""What owlready2 calls the ontology of nothing in particular, which every world has."""


def read_owlready(source: owlready2.Ontology | owlready2.World) -> tuple[Triples, ...]:
    """The triples of all ontologies of a world, or of an ontology and those it imports.

    Nothing is loaded: an import that the world does not hold stays an import, to be followed as
    those of files are. An axiom's place is the IRI of its ontology, without a line.
    """
    world = source if isinstance(source, owlready2.World) else source.world
    every = [o for o in world.ontologies.values() if o.base_iri != _UNIVERSAL]
    if isinstance(source, owlready2.World):
        return tuple(_read(o) for o in every)
    held = {o.storid: o for o in every}
    found = [source]
    for ontology in found:
        for _, _, imported in ontology.get_triples(ontology.storid, owl_imports):
            other = held.get(imported)
            if other is not None and other not in found:
                found.append(other)
    return tuple(_read(o) for o in found)


def _read(ontology: owlready2.Ontology) -> Triples:
    made = Triples(ontology.base_iri.rstrip("#/"), "owlready2")
    iri = ontology.world._unabbreviate

    def node(number: int) -> Node:
        return BNode(f"b{-number}") if number < 0 else URIRef(iri(number))

    for s, p, o, datatype in ontology.graph._iter_triples():
        value: Node
        if datatype is None:
            value = node(o)
        elif isinstance(datatype, str) and datatype.startswith("@"):
            value = Literal(str(o), lang=datatype[1:])
        else:
            value = Literal(str(o), datatype=URIRef(iri(datatype)) if datatype else None)
        made.add(node(s), URIRef(iri(p)), value, None)
    return made
