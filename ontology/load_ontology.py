"""Load ontologies, and what they import, into a TBox."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rdflib import OWL, RDF, RDFS, URIRef
from rdflib.term import Node

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.axioms import Axiom, ClassFact, Fact, RoleFact
from ontoweir.ontology.follow_imports import OntologySource, follow_imports
from ontoweir.ontology.read_axioms import read_axioms
from ontoweir.ontology.read_expressions import Kinds
from ontoweir.ontology.syntax.read_triples import Triples
from ontoweir.ontology.tbox import TBox

_XSD = "http://www.w3.org/2001/XMLSchema#"
_ABOUT_PROPERTIES = {
    *(RDFS.domain, RDFS.range, RDFS.subPropertyOf, OWL.inverseOf),
    *(OWL.equivalentProperty, OWL.propertyDisjointWith),
}
_CHARACTERISTICS = {
    *(OWL.SymmetricProperty, OWL.AsymmetricProperty, OWL.ReflexiveProperty),
    *(OWL.IrreflexiveProperty, OWL.TransitiveProperty, OWL.InverseFunctionalProperty),
}
_NO_IMPORTS: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class OntologyFile:
    """A file that was read, or owlready2's ontology of that IRI; `imported_by` is the import that
    led to it, if the user did not."""

    file: str
    format: str
    imported_by: Source | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An axiom that is not used, and the rule that it breaks; or an import, its IRI."""

    axiom: str
    rule: str
    source: Source
    imported: str | None = None

    def error(self) -> OntologyError:
        """What is said of it: an error where nothing may be left out."""
        what = f"{self.axiom} is outside OWL 2 QL as ontoweir reads it"
        fix = "it is left out: reformulate it within OWL 2 QL, or remove it"
        if self.imported is not None:
            what = f"no file for the import {self.imported}"
            fix = (
                f'it is left out: write "{self.imported}" = "FILE" under [project.imports], or '
                "remove it"
            )
        return OntologyError(what, why=self.rule, fix=fix, source=self.source)


@dataclass(frozen=True, slots=True)
class OntologyReading:
    """A TBox, and how it came about."""

    tbox: TBox
    files: tuple[OntologyFile, ...]
    left_out: tuple[LeftOut, ...]

    def warn(self, warn: Callable[[str], None]) -> None:
        """Warn of all that is left out."""
        for entry in self.left_out:
            warn(str(entry.error()))


def load_ontology(
    sources: Sequence[OntologySource],
    *,
    imports: Mapping[str, Path] = _NO_IMPORTS,
    strict: bool = False,
    warn: Callable[[str], None] | None = None,
) -> TBox:
    """The OWL 2 QL axioms and facts of the files, together, with their saturated hierarchy.

    Args:
        sources: files in Turtle, N-Triples, RDF/XML, OWL/XML or functional syntax; or an
            owlready2.Ontology or World, whose triples in memory are read.
        imports: local files for imported IRIs; more sources are in follow_imports. Nothing is
            ever fetched.
        strict: an axiom outside OWL 2 QL, or an import without a file, is an error; otherwise it
            is left out with a warning.
        warn: called with each warning, `file:line: what; why; fix`; by default they are logged.

    Raises:
        OntologyError: a file is missing, broken, in another format, or (strict) not OWL 2 QL.
    """
    reading = read_ontology(sources, imports=imports, strict=strict)
    reading.warn(warn or logging.getLogger("ontoweir").warning)
    return reading.tbox


def read_ontology(
    sources: Sequence[OntologySource],
    *,
    imports: Mapping[str, Path] = _NO_IMPORTS,
    strict: bool = False,
    touch: Callable[[Path], None] = lambda _: None,
) -> OntologyReading:
    """As `load_ontology`, with what was read and what was left out, of which nothing is said.

    `touch` is called with every file whose content or absence matters, before it is read.
    """
    left_out: dict[LeftOut, None] = {}

    def leave_out(entry: LeftOut) -> None:
        if strict:
            raise entry.error()
        left_out[entry] = None

    def report(axiom: str, rule: str, source: Source) -> None:
        leave_out(LeftOut(axiom, rule, source))

    def missing(iri: str, why: str, source: Source) -> None:
        leave_out(LeftOut(f"Import(<{iri}>)", why, source, iri))

    files = follow_imports(sources, imports, missing, touch)
    kinds = _find_kinds(files)
    statements: dict[Axiom | Fact, None] = {}
    for file in files:
        statements.update(dict.fromkeys(read_axioms(file, kinds, report)))
    tbox = TBox(
        tuple(a for a in statements if not isinstance(a, ClassFact | RoleFact)),
        classes=frozenset(kinds.classes),
        object_properties=frozenset(kinds.objects - kinds.data),
        data_properties=frozenset(kinds.data),
        files=tuple(file.file for file in files),
        facts=tuple(a for a in statements if isinstance(a, ClassFact | RoleFact)),
    )
    read = tuple(OntologyFile(f.file, f.format, f.imported_by) for f in files)
    return OntologyReading(tbox, read, tuple(left_out))


def _find_kinds(files: Iterable[Triples]) -> Kinds:
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
        if p in _ON_PROPERTY:
            if isinstance(o, URIRef):
                kinds.used.add(str(o))
        elif type(s) is not URIRef:  # isinstance is slow there
            continue
        elif p in _TYPE:
            if o in declared:
                declared[o].add(str(s))
            elif o in _CHARACTERISTICS:
                kinds.used.add(str(s))
        elif p in _ABOUT_PROPERTIES:
            kinds.used.add(str(s))
            if p == RDFS.range and isinstance(o, URIRef):
                kinds.ranges.setdefault(str(s), set()).add(str(o))
                if str(o).startswith(_XSD) or o == RDFS.Literal:
                    kinds.data.add(str(s))
    kinds.used -= kinds.annotation
    kinds.data -= kinds.objects | kinds.annotation
    kinds.annotation -= kinds.objects
    return kinds


_TYPE, _ON_PROPERTY = frozenset((RDF.type,)), frozenset((OWL.onProperty,))
