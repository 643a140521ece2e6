"""What an ontology's file has to offer: classes and properties, how they are called, and of what
they are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.axioms import (
    Basic,
    DataRange,
    Exists,
    NamedClass,
    Role,
    SubConcept,
    SubRole,
)
from ontoweir.ontology.load_ontology import read_ontology
from ontoweir.ontology.read_labels import read_labels
from ontoweir.ontology.tbox import TBox
from ontoweir.scaffold.terms.name_terms import namespace_of

_TAKEN = {"", "owl", "ow", "rdf", "rdfs", "rr", "sosa", "xsd"}
"""Prefixes that a project has for other namespaces."""


@dataclass(frozen=True)
class Vocabulary:
    """An ontology in `file`, and the labels of its terms."""

    file: Path
    tbox: TBox
    labels: Mapping[str, tuple[str, ...]]

    @cached_property
    def _above(self) -> dict[Basic, set[Basic]]:
        """By concept, those that the axioms put right above it."""
        found: dict[Basic, set[Basic]] = {}

        def add(sub: Basic, sup: Basic) -> None:
            found.setdefault(sub, set()).add(sup)

        for axiom in self.tbox.axioms:
            match axiom:
                case SubConcept(sub=sub, sup=sup):
                    add(sub, sup)
                case SubRole(sub=sub, sup=sup):
                    add(Exists(sub), Exists(sup))
                    add(Exists(sub.inverted()), Exists(sup.inverted()))
                case _:
                    pass
        return found

    @cached_property
    def datatypes(self) -> dict[str, set[str]]:
        """By property, the datatypes of its values."""
        found: dict[str, set[str]] = {}
        for axiom in self.tbox.axioms:
            if isinstance(axiom, DataRange):
                found.setdefault(axiom.role.iri, set()).add(axiom.datatype)
        return found

    def domains(self, prop: str) -> frozenset[str]:
        """The classes that all that has a property is in."""
        return self._classes_above(Exists(Role(prop)))

    def ranges(self, prop: str) -> frozenset[str]:
        """The classes that all values of an object property are in."""
        return self._classes_above(Exists(Role(prop, inverse=True)))

    def above(self, cls: str | None) -> frozenset[str]:
        """A class, and those above it (None: a class that the ontology does not have)."""
        return frozenset() if cls is None else self._classes_above(NamedClass(cls))

    def _classes_above(self, start: Basic) -> frozenset[str]:
        seen, left = {start}, [start]
        while left:
            for sup in self._above.get(left.pop(), ()):
                if sup not in seen:
                    seen.add(sup)
                    left.append(sup)
        return frozenset(
            c.iri for c in seen if isinstance(c, NamedClass) and self.tbox.knows(c.iri)
        )

    @cached_property
    def prefixes(self) -> dict[str, str]:
        """By namespace of its terms, the prefix that the file has for it, or one that is made."""
        terms = (*self.tbox.classes, *self.tbox.object_properties, *self.tbox.data_properties)
        spaces = sorted({namespace_of(iri) for iri in terms})
        text = self.file.read_text(encoding="utf-8", errors="replace")
        written = r"(?:@?prefix\s+([\w-]*):\s*<|xmlns:([\w-]+)=[\"'])([^>\"']+)"
        told = {m[2]: m[0] or m[1] for m in re.findall(written, text, re.IGNORECASE)}
        found: dict[str, str] = {}
        for space in spaces:
            words = re.findall(r"[A-Za-z][A-Za-z0-9]*", space.rstrip("#/"))
            wanted = told.get(space) or (words[-1].lower() if words else "o")
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", wanted) or wanted in _TAKEN:
                wanted = "o"
            name, number = wanted, 2
            while name in found.values():
                name, number = f"{wanted}{number}", number + 1
            found[space] = name
        return found


def read_vocabulary(file: Path) -> Vocabulary:
    """An ontology, with what it imports, where that is there.

    Args:
        file: Turtle, RDF/XML, OWL/XML or functional syntax.

    Raises:
        OntologyError: there is no such file, it is broken, or it has no term.
    """
    tbox = read_ontology([file]).tbox
    if not (tbox.classes or tbox.object_properties or tbox.data_properties):
        raise OntologyError(
            "it has neither classes nor properties",
            why="a project over data takes its terms from it",
            fix="name the file of an ontology, or leave out --ontology",
            source=Source(str(file)),
        )
    return Vocabulary(file.absolute(), tbox, read_labels([file]))
