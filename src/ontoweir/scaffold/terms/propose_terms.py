"""Propose terms of an ontology for tables and columns, by their names."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.scaffold.terms.candidate import Candidate, Part, rank_candidates
from ontoweir.scaffold.terms.describe_stream import describe_stream
from ontoweir.scaffold.terms.match_names import Match, match_names
from ontoweir.scaffold.terms.name_terms import local_name, without_id
from ontoweir.scaffold.terms.terms import RESULT_TIME, Terms
from ontoweir.scaffold.terms.vocabulary import Vocabulary

_XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = """
    integer int long short byte nonNegativeInteger positiveInteger nonPositiveInteger
    negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte
"""
_REAL = ["decimal", "double", "float"]
_DATATYPES: dict[type[ColumnType], list[str]] = {
    IntType: [*_INTEGERS.split(), *_REAL],
    DecimalType: _REAL,
    FloatType: _REAL,
    StringType: ["string", "normalizedString", "token", "anyURI", "language", "Name", "NCName"],
    BooleanType: ["boolean"],
    DateType: ["date", "dateTime"],
    TimestampType: ["dateTime", "dateTimeStamp"],
}
_BY_WORDS, _ABBREVIATED = 2, 4
_SOME = 2
"""So many columns that are called as properties of a class say that rows are of it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A part of a table that needs a term."""

    part: Part
    table: str
    column: str | None


def propose_classes(catalog: Catalog, vocabulary: Vocabulary) -> list[Candidate]:
    """Classes for the rows of tables, and for what the rows of streams are about.

    Args:
        catalog: the tables.
        vocabulary: the ontology.
    """
    found: list[Candidate] = []
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        asked = _Asked("class", table.name, None)
        named = [*_by_name(vocabulary, asked, table.name)]
        found += named or _by_columns(vocabulary, asked, table)
    for name, stream in catalog.streams.items():
        subject = describe_stream(stream, catalog)
        if subject.entity is not None and subject.relation is None:
            asked = _Asked("entity", name, subject.entity)
            found += _by_name(vocabulary, asked, without_id(subject.entity))
    return rank_candidates(found)


def _by_columns(
    vocabulary: Vocabulary, asked: _Asked, table: Stream | Relation
) -> Iterator[Candidate]:
    """The classes that most columns are called as properties of: those that are not above another
    such class."""
    columns: dict[str, dict[str, str]] = {}
    for iri in sorted(vocabulary.tbox.data_properties):
        for column in table.columns:
            match = match_names(iri, vocabulary.labels.get(iri, ()), column.name)
            if match is not None and match.grade <= _BY_WORDS:
                for cls in vocabulary.domains(iri):
                    columns.setdefault(cls, {})[column.name] = local_name(iri)
    most = max(map(len, columns.values()), default=0)
    best = [cls for cls, found in columns.items() if len(found) == most]
    for cls in best:
        if any(cls != other and cls in vocabulary.above(other) for other in best):
            continue
        listed = ", ".join(sorted(set(columns[cls].values())))
        doubt = "it is a column alone" if most < _SOME else None
        yield _candidate(asked, cls, Match(3, f"its properties {listed} are columns"), doubt)


def _by_name(vocabulary: Vocabulary, asked: _Asked, name: str) -> Iterator[Candidate]:
    for iri in sorted(vocabulary.tbox.classes):
        match = match_names(iri, vocabulary.labels.get(iri, ()), name)
        if match is not None:
            yield _candidate(asked, iri, match, None)


def propose_properties(catalog: Catalog, vocabulary: Vocabulary, terms: Terms) -> list[Candidate]:
    """Properties for columns, for what streams are about, and from rows to what columns name.

    Args:
        catalog: the tables.
        vocabulary: the ontology.
        terms: with the classes that have been chosen.
    """
    found: list[Candidate] = []
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        proposer = _Proposer(catalog, vocabulary, terms, table)
        entity = None
        if isinstance(table, Stream):
            found += proposer.propose_time(table)
            entity = describe_stream(table, catalog).entity
        if isinstance(table, Stream) and entity is not None:
            found += proposer.propose_about(table, entity)
        for column in table.columns:
            found += proposer.propose_column(column.name, column.type)
            if column.name != entity and isinstance(column.type, StringType | IntType):
                found += proposer.propose_links(column.name)
    return rank_candidates(found)


@dataclass(frozen=True, slots=True)
class _Proposer:
    """Properties of one table."""

    catalog: Catalog
    vocabulary: Vocabulary
    terms: Terms
    table: Stream | Relation

    @property
    def _class(self) -> str | None:
        """The class of the table's rows, if it is one of the ontology."""
        term = self.terms.classes[self.table.name]
        return None if self.terms.is_own(term) else term.iri

    def _match(self, iri: str, name: str) -> Match | None:
        around = [self.table.name, local_name(self.terms.classes[self.table.name].iri)]
        return match_names(iri, self.vocabulary.labels.get(iri, ()), name, around)

    def propose_time(self, stream: Stream) -> Iterator[Candidate]:
        """Properties of the stream's time."""
        asked = _Asked("column", stream.name, stream.timestamp)
        for iri in sorted(self.vocabulary.tbox.data_properties):
            match = self._match(iri, stream.timestamp)
            if iri == RESULT_TIME and match is None:
                match = Match(3, "a stream's time is that of its results")
            only = self.vocabulary.datatypes.get(iri)
            doubt = self._doubt(iri, None) or _doubt_type(iri, only, TimestampType())
            if match is None and only == {f"{_XSD}dateTime"}:
                match = Match(_ABBREVIATED, "its values are times")
            if match is not None:
                yield _candidate(asked, iri, match, doubt)

    def propose_column(self, column: str, kind: ColumnType) -> Iterator[Candidate]:
        """Properties of the values of a column."""
        for iri in sorted(self.vocabulary.tbox.data_properties):
            match = self._match(iri, column)
            if match is not None:
                doubt = self._doubt(iri, None) or _doubt_type(
                    iri, self.vocabulary.datatypes.get(iri), kind
                )
                yield _candidate(_Asked("column", self.table.name, column), iri, match, doubt)

    def propose_about(self, stream: Stream, entity: str) -> Iterator[Candidate]:
        """Properties from the stream's rows to what they are about."""
        term = self.terms.entities[stream.name]
        target = None if self.terms.is_own(term) else term.iri
        asked = _Asked("about", stream.name, entity)
        for iri in sorted(self.vocabulary.tbox.object_properties):
            match = self._match(iri, without_id(entity)) or self._between(iri, target)
            if match is not None:
                yield _candidate(asked, iri, match, self._doubt(iri, target, known=True))

    def propose_links(self, column: str) -> Iterator[Candidate]:
        """Properties from rows to what a column names, by their name, or by that of their range."""
        name = without_id(column)
        named = [c for c in sorted(self.vocabulary.tbox.classes) if _is_called(self, c, name)]
        for iri in sorted(self.vocabulary.tbox.object_properties):
            match = self._match(iri, name)
            for kind in named:
                match = match or self._between(iri, kind)
            if match is not None:
                asked = _Asked("link", self.table.name, column)
                yield _candidate(asked, iri, match, self._doubt(iri, None))

    def _between(self, prop: str, target: str | None) -> Match | None:
        """That a property leads from the table's class to another one."""
        mine = self._class
        if mine is None or target is None:
            return None
        fits = mine in self.vocabulary.domains(prop) and target in self.vocabulary.ranges(prop)
        if not fits:
            return None
        show = self.terms.show
        return Match(3, f"it leads from {show(mine)} to {show(target)}")

    def _doubt(self, prop: str, target: str | None, *, known: bool = False) -> str | None:
        """Of which classes the property would make the rows, or what they lead to (`known`: whether
        it is of a class of ours)."""
        made = self.vocabulary.domains(prop) - self.vocabulary.above(self._class)
        show: Callable[[str], str] = self.terms.show
        if made:
            return f"all rows of {self.table.name} would be {show(min(made))}"
        if known and (made := self.vocabulary.ranges(prop) - self.vocabulary.above(target)):
            return f"all that it leads to would be {show(min(made))}"
        return None


def _is_called(proposer: _Proposer, cls: str, name: str) -> bool:
    match = match_names(cls, proposer.vocabulary.labels.get(cls, ()), name)
    return match is not None and match.grade < _ABBREVIATED


def _doubt_type(iri: str, only: set[str] | None, kind: ColumnType) -> str | None:
    """Of which type values would have to be, and are not."""
    if only is None:
        return None
    fits = {f"{_XSD}{name}" for name in _DATATYPES[type(kind)]}
    others = {d for d in only if d.startswith(_XSD)} - fits
    return f"its values are xsd:{min(others).removeprefix(_XSD)}" if others else None


def _candidate(asked: _Asked, iri: str, match: Match, doubt: str | None) -> Candidate:
    if match.grade >= _ABBREVIATED:
        doubt = doubt or "it may mean something else"
    return Candidate(asked.part, asked.table, asked.column, iri, match.grade, match.because, doubt)
