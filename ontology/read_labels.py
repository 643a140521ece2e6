"""Read how ontologies call their terms, in words."""

from collections.abc import Sequence
from pathlib import Path

from rdflib import RDFS, SKOS, Literal, URIRef

from ontoweir.ontology.follow_imports import follow_imports

_LABELS = frozenset((RDFS.label, SKOS.prefLabel, SKOS.altLabel))


def read_labels(files: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """The labels of each IRI, of any language, in their order.

    Args:
        files: ontologies, which are read with what they import, where that is there.

    Raises:
        OntologyError: a file is missing or broken.
    """
    found: dict[str, dict[str, None]] = {}
    for triples in follow_imports(files, {}, lambda iri, why, source: None):
        for subject, predicate, label, _ in triples.rows:
            if predicate in _LABELS and type(subject) is URIRef and isinstance(label, Literal):
                found.setdefault(str(subject), {})[str(label)] = None
    return {iri: tuple(labels) for iri, labels in found.items()}
