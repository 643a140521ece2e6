"""Warn of what mappings may say by mistake: it is legal, but hardly what is meant."""

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    MappingAssertion,
    SourceColumn,
    TemplateMap,
    TermMap,
)
from ontoweir.mappings.model.catalog import Catalog, FloatType, StringType
from ontoweir.mappings.model.column_types import XSD, datatype_family, parse_constant
from ontoweir.ontology.tbox import TBox

_NO_IRI = re.compile(r"[\x00-\x20<>\"{}|\\^`]")
_NAMES = """
string boolean decimal integer double float date time dateTime dateTimeStamp gYear gMonth gDay
gYearMonth gMonthDay duration yearMonthDuration dayTimeDuration byte short int long unsignedByte
unsignedShort unsignedInt unsignedLong positiveInteger nonNegativeInteger negativeInteger
nonPositiveInteger hexBinary base64Binary anyURI language normalizedString token NMTOKEN Name NCName
QName
"""
_XSD = frozenset(XSD + name for name in _NAMES.split())
"""The datatypes of XML Schema Part 2."""
_CLOSE = 0.8
"""How alike two spellings are (difflib) before one is taken for a mistake."""


def warn_mappings(
    assertions: Iterable[MappingAssertion], tbox: TBox, catalog: Catalog
) -> Iterator[str]:
    """Warnings, `file:line: what; why; fix`, in the order of the assertions.

    A class or property that the ontology does not have, but one spelled almost so; a template that
    makes no IRI; an XML Schema datatype that does not exist; a datatype that no declared value of
    the column has; objects that are almost, but not quite, the subjects of another triples map.
    """
    listed = list(assertions)
    almost = _Almost(t for a in listed if (t := _pattern(a.subject)) is not None)
    names = _Names(tbox)
    for a in listed:
        if (what := _misspelt(a, names)) is not None:
            name = a.predicate.removeprefix(_namespace(a.predicate))
            yield f"{_locate(a, name)}: {what}"
        for term in (a.subject, a.object):
            if (what := _no_iri(term)) is not None:
                assert isinstance(term, TemplateMap)
                yield f"{_locate(a, str(term.parts[0]))}: {what}"
            if (what := _no_datatype(term, a, catalog)) is not None:
                assert isinstance(term, ColumnMap)
                quoted = f'"{term.column.column}"'
                yield f"{_locate(a, quoted)}: {what}"
        if (pattern := _pattern(a.object)) is not None:
            for close in almost.find(pattern):
                yield (
                    f"{_locate(a, pattern.split('{')[0])}: {a.id}: the objects {pattern} are the "
                    f"subjects of no triples map; others make {close}, which never joins them; "
                    "write the same template in both"
                )


class _Almost:
    """Templates of subjects, by all but one of the steps of their paths."""

    def __init__(self, subjects: Iterable[str]) -> None:
        self.subjects = frozenset(subjects)
        self.by_others: dict[tuple[str, ...], dict[str, str]] = {}
        for subject in self.subjects:
            for step, others in _leave_out_each(subject):
                self.by_others.setdefault(others, {})[step] = subject
        self.known: dict[str, tuple[str, ...]] = {}

    def find(self, pattern: str) -> tuple[str, ...]:
        """Those that differ from a template in one step, which is spelled almost the same; none
        where it is one of them."""
        if pattern not in self.known:
            found: list[str] = []
            for step, others in _leave_out_each(pattern) if pattern not in self.subjects else ():
                near = self.by_others.get(others, {})
                found += (near[s] for s in _list_close(step, near))
            self.known[pattern] = tuple(sorted(found))
        return self.known[pattern]


def _leave_out_each(template: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each step of a template's path, and the others, with a gap in its place."""
    steps = template.split("/")
    for place, step in enumerate(steps):
        yield step, (str(place), *steps[:place], *steps[place + 1 :])


def _list_close(name: str, known: Collection[str]) -> list[str]:
    """All spelled almost the same, the closest first."""
    return get_close_matches(name, known, n=len(known), cutoff=_CLOSE) if known else []


class _Names:
    """The local names of an ontology's terms."""

    def __init__(self, tbox: TBox) -> None:
        self.tbox = tbox
        self.found: dict[tuple[str, bool], str | None] = {}
        self.names: dict[bool, dict[str, list[str]]] = {}

    def closest(self, iri: str, *, is_class: bool) -> str | None:
        """The class, or property, of the same namespace with the closest local name, if that is
        spelled almost the same."""
        if is_class not in self.names:
            tbox = self.tbox
            known = tbox.classes if is_class else tbox.object_properties | tbox.data_properties
            by_space = self.names[is_class] = {}
            for other in sorted(known):
                space = _namespace(other)
                by_space.setdefault(space, []).append(other.removeprefix(space))
        if (iri, is_class) not in self.found:
            space = _namespace(iri)
            names = self.names[is_class].get(space, [])
            same = get_close_matches(iri.removeprefix(space), names, n=1, cutoff=_CLOSE)
            self.found[iri, is_class] = f"{space}{same[0]}" if same else None
        return self.found[iri, is_class]


def _misspelt(assertion: MappingAssertion, names: _Names) -> str | None:
    if names.tbox.knows(assertion.predicate):
        return None
    is_class = assertion.object is None
    close = names.closest(assertion.predicate, is_class=is_class)
    if close is None:
        return None
    kind = "class" if is_class else "property"
    return (
        f"{assertion.id}: the ontology has no {kind} {assertion.predicate}; its queries will not "
        f"find these triples; did you mean {close}?"
    )


def _namespace(iri: str) -> str:
    return re.split(r"[^#/]*$", iri)[0]


def _no_iri(term: TermMap | None) -> str | None:
    if not isinstance(term, TemplateMap) or term.kind != "iri":
        return None
    text = "".join(p for p in term.parts if isinstance(p, str))
    wrong = _NO_IRI.search(text)
    if wrong is None:
        return None
    return (
        f"the template {text!r} makes no IRI; {wrong[0]!r} is not allowed in one; leave it out, or "
        f"write %{ord(wrong[0]):02X}"
    )


def _no_datatype(term: TermMap | None, assertion: MappingAssertion, catalog: Catalog) -> str | None:
    if not isinstance(term, ColumnMap) or term.datatype is None:
        return None
    if term.datatype.startswith(XSD) and term.datatype not in _XSD:
        close = get_close_matches(term.datatype, _XSD, n=1)
        fix = f"did you mean {close[0]}?" if close else "see XML Schema Part 2"
        return f"{assertion.id}: unknown datatype {term.datatype}; XML Schema has none; {fix}"
    tables = {t.alias: t.table for t in assertion.source.tables}
    column = catalog.table(tables[term.column.alias]).column(term.column.column)
    family = datatype_family(term.datatype)
    if column is None or not isinstance(column.type, StringType) or not column.enum:
        return None
    if family != "number" or any(_is_number(str(v)) for v in column.enum):
        return None
    return (
        f"{assertion.id}: {column.name} as {term.datatype}; none of its declared values is one; "
        "leave rr:datatype out, or mend enum in the catalog"
    )


def _is_number(text: str) -> bool:
    return parse_constant(text, FloatType()) is not None


def _pattern(term: TermMap | None) -> str | None:
    """An IRI template with nameless columns."""
    if not isinstance(term, TemplateMap) or term.kind != "iri" or len(term.parts) < 2:
        return None
    return "".join("{}" if isinstance(p, SourceColumn) else p for p in term.parts)


def _locate(assertion: MappingAssertion, word: str) -> Source:
    """The first line with the word from the triples map's on; its own where there is none."""
    place = assertion.place
    first = place.line or 1
    try:
        lines = Path(place.file).read_text(encoding="utf-8").split("\n")[first - 1 :]
    except (OSError, UnicodeDecodeError):
        return place
    whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    for number, line in enumerate(lines, first):
        if whole.search(line):
            return Source(place.file, number)
    return place
