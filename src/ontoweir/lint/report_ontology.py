"""The report on an ontology: files, axioms by kind, facts, axioms left out, empty names."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.axioms import (
    Axiom,
    Because,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    NamedClass,
    Role,
    SubConcept,
    SubExists,
    SubRole,
)
from ontoweir.ontology.load_ontology import LeftOut, OntologyReading
from ontoweir.ontology.tbox import TBox


def describe_ontology(reading: OntologyReading) -> dict[str, Any]:
    """The report as JSON: what is used of each file, and names that can have no member."""
    tbox = reading.tbox
    used = Counter((_file(b), _kind(b)) for b in dict.fromkeys(a.because for a in tbox.axioms))
    facts = Counter((_file(f.because), _kind(f.because)) for f in tbox.facts)
    return {
        "files": [
            {
                "file": f.file,
                "format": f.format,
                "imported_by": None if f.imported_by is None else _place(f.imported_by),
                "axioms": {k: n for (file, k), n in sorted(used.items()) if file == f.file},
                "facts": {k: n for (file, k), n in sorted(facts.items()) if file == f.file},
                "left_out": [_left_out(x) for x in reading.left_out if x.source.file == f.file],
            }
            for f in reading.files
        ],
        "axioms": sum(used.values()),
        "facts": sum(facts.values()),
        "left_out": len(reading.left_out),
        "classes": len(tbox.classes),
        "properties": len(tbox.object_properties | tbox.data_properties),
        "unsatisfiable": list(find_unsatisfiable(tbox)),
    }


def find_unsatisfiable(tbox: TBox) -> Iterator[str]:
    """The classes and properties that can have no member in consistent data, by IRI."""
    for iri in sorted(tbox.classes):
        if tbox.are_disjoint(NamedClass(iri), NamedClass(iri)):
            yield iri
    for iri in sorted(tbox.object_properties | tbox.data_properties):
        if tbox.are_disjoint(Exists(Role(iri)), Exists(Role(iri))):
            yield iri


def warn_unsatisfiable(tbox: TBox, warn: Callable[[str], None]) -> None:
    """Warn of each class and property that can have no member, at its first axiom."""
    places: dict[str, Source | None] = {}
    for axiom in tbox.axioms:
        for iri in _subjects(axiom):
            places.setdefault(iri, axiom.because.source)
    for iri in find_unsatisfiable(tbox):
        kind = "class" if iri in tbox.classes else "property"
        error = OntologyError(
            f"the {kind} {iri} can have no member",
            why="its axioms put every member into disjoint classes or properties",
            fix="remove one of these axioms; until then it has no answers",
            source=places.get(iri),
        )
        warn(str(error))


def _subjects(axiom: Axiom) -> Iterator[str]:
    """The names on the left of an axiom."""
    match axiom:
        case SubConcept(sub=NamedClass(iri=iri)) | SubExists(sub=NamedClass(iri=iri)):
            yield iri
        case SubConcept(sub=Exists(role=role)) | SubRole(sub=role) | DisjointRoles(left=role):
            yield role.iri
        case DisjointConcepts(left=NamedClass(iri=iri)):
            yield iri
        case _:
            pass


SHOWN = 3
"""How many axioms that break the same rule are shown, unless all are asked for."""


def show_ontology(reading: OntologyReading, *, verbose: bool = False) -> str:
    """The report as text; of the axioms that break the same rule the first few, or (`verbose`)
    all."""
    report = describe_ontology(reading)
    lines: list[str] = []
    for file in report["files"]:
        by = file["imported_by"]
        origin = "" if by is None else f", imported by {by['file']}:{by['line']}"
        lines.append(f"{file['file']} ({file['format']}{origin})")
        for word in ("axioms", "facts"):
            counts = ", ".join(f"{n:,} {kind}" for kind, n in file[word].items())
            lines.append(f"  {word}: {counts or 'none'}")
        lines.extend(_show_left_out(file["left_out"], len(file["left_out"]) if verbose else SHOWN))
    lines.append(
        f"{report['axioms']:,} axioms and {report['facts']:,} facts used, {report['left_out']:,} "
        f"left out; {report['classes']:,} classes, {report['properties']:,} properties"
    )
    return "\n".join(lines)


def _show_left_out(left_out: list[dict[str, Any]], most: int) -> Iterator[str]:
    """The axioms of a file that are left out, by rule, in the order in which the rules are first
    broken."""
    by_rule: dict[str, list[dict[str, Any]]] = {}
    for x in left_out:
        by_rule.setdefault(x["rule"], []).append(x)
    for rule, broken in by_rule.items():
        yield f"  left out, {len(broken):,}: {rule}"
        for x in broken[:most]:
            yield f"    line {x['line']}: {x['axiom']}"
        if len(broken) > most:
            yield f"    and {len(broken) - most:,} more; --verbose shows all"


def _file(because: Because) -> str | None:
    return None if because.source is None else because.source.file


def _kind(because: Because) -> str:
    return because.text.partition("(")[0]


def _left_out(left_out: LeftOut) -> dict[str, Any]:
    return {"axiom": left_out.axiom, "rule": left_out.rule, **_place(left_out.source)}


def _place(source: Source) -> dict[str, Any]:
    return {"file": source.file, "line": source.line}
