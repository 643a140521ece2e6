"""Load ontology files into a TBox."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from rdflib import OWL, RDF, RDFS, URIRef
from rdflib.term import Node

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.axioms import Axiom
from ontoweir.ontology.read_axioms import read_axioms
from ontoweir.ontology.read_expressions import Kinds
from ontoweir.ontology.read_triples import Triples, read_triples
from ontoweir.ontology.tbox import TBox

_XSD = "http://www.w3.org/2001/XMLSchema#"


def load_ontology(
    paths: Sequence[Path],
    *,
    strict: bool = False,
    warn: Callable[[str], None] | None = None,
) -> TBox:
    """The OWL 2 QL axioms of the files, together, with their saturated hierarchy.

    Args:
        paths: Turtle, N-Triples, RDF/XML or OWL/XML files.
        strict: an axiom outside OWL 2 QL is an error; otherwise it is left out with a warning.
        warn: called with each warning, `file:line: what; why; fix`; by default they are logged.

    Raises:
        OntologyError: a file is missing, broken, in another format, or (strict) not OWL 2 QL.
    """
    warn = warn or logging.getLogger("ontoweir").warning
    files = [read_triples(Path(path)) for path in paths]
    kinds = _find_kinds(files)

    def report(axiom: str, rule: str, source: Source) -> None:
        fix = "it is left out: reformulate it within OWL 2 QL, or remove it"
        error = OntologyError(
            f"{axiom} is outside OWL 2 QL as ontoweir reads it", why=rule, fix=fix, source=source
        )
        if strict:
            raise error
        warn(str(error))

    axioms: dict[Axiom, None] = {}
    for file in files:
        axioms.update(dict.fromkeys(read_axioms(file, kinds, report)))
    return TBox(
        tuple(axioms),
        classes=frozenset(kinds.classes),
        object_properties=frozenset(kinds.objects - kinds.data),
        data_properties=frozenset(kinds.data),
        files=tuple(file.file for file in files),
    )


def _find_kinds(files: Sequence[Triples]) -> Kinds:
    """What is declared; an undeclared property with a datatype as its range is a data property."""
    kinds = Kinds()
    declared: dict[Node, set[str]] = {
        OWL.Class: kinds.classes,
        RDFS.Class: kinds.classes,
        OWL.ObjectProperty: kinds.objects,
        OWL.DatatypeProperty: kinds.data,
        OWL.AnnotationProperty: kinds.annotation,
        OWL.OntologyProperty: kinds.annotation,
    }
    for s, p, o, _ in (row for file in files for row in file.rows):
        if not isinstance(s, URIRef):
            continue
        if p == RDF.type and o in declared:
            declared[o].add(str(s))
        elif p == RDFS.range and (str(o).startswith(_XSD) or o == RDFS.Literal):
            kinds.data.add(str(s))
    kinds.data -= kinds.objects | kinds.annotation
    kinds.annotation -= kinds.objects
    return kinds
