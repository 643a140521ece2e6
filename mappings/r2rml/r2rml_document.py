"""An R2RML document as it stands: the triples maps of https://www.w3.org/TR/r2rml/.

Read by read_r2rml. materialize_triples runs it on a database; load_mappings compiles it over a
catalog.
"""

from dataclasses import dataclass
from typing import TypeAlias

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.assertion import RefusedMap, TermKind

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DEFAULT_GRAPH = "http://www.w3.org/ns/r2rml#defaultGraph"


@dataclass(frozen=True, slots=True)
class RdfTerm:
    """A constant: an IRI's text, or a literal's lexical form with datatype or language."""

    value: str
    kind: TermKind
    datatype: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class RowTerm:
    """A term made from a row: of a column (one part) or of a template's parts (is column, text).

    `text` of a column is its name as it is written, quotes included. `datatype` and `language`
    only where `kind` is "literal".
    """

    parts: tuple[tuple[bool, str], ...]
    is_template: bool
    kind: TermKind
    datatype: str | None
    language: str | None
    source: Source


AnyTerm: TypeAlias = RdfTerm | RowTerm
"""A term map."""


@dataclass(frozen=True, slots=True)
class JoinCondition:
    """Equal columns of the child's and the parent's logical table, each with its place."""

    child: str
    parent: str
    child_source: Source
    parent_source: Source


@dataclass(frozen=True, slots=True)
class ParentReference:
    """A referencing object map: the subject of `parent`, whose row is joined."""

    parent: str
    joins: tuple[JoinCondition, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class PredicateObjectMap:
    """All predicates times all objects, in the given graphs."""

    predicates: tuple[AnyTerm, ...]
    objects: tuple[AnyTerm | ParentReference, ...]
    graphs: tuple[AnyTerm, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A table's or view's name as it is written, or a query; exactly one of both."""

    name: str | None
    query: str | None
    source: Source


@dataclass(frozen=True, slots=True)
class TriplesMap:
    """One triples map; `name` is its node's, by which references find it, `shown` its name in
    messages."""

    name: str
    shown: str
    table: LogicalTable
    subject: AnyTerm
    classes: tuple[str, ...]
    graphs: tuple[AnyTerm, ...]
    predicate_objects: tuple[PredicateObjectMap, ...]
    source: Source

    def error(self, what: str, *, why: str, fix: str, at: Source | None = None) -> MappingError:
        """An error in this triples map, at a place in it."""
        return MappingError(f"{self.shown}: {what}", why=why, fix=fix, source=at or self.source)


@dataclass(frozen=True, slots=True)
class R2rmlDocument:
    """All triples maps of a file; relative IRIs that rows make are prefixed with `base`.

    `refused`: those that are not R2RML, by the names of their nodes; `doubtful`: of which it
    is unknown what they could be about, if they are refused.
    """

    maps: tuple[TriplesMap, ...]
    base: str
    refused: tuple[tuple[str, RefusedMap], ...] = ()
    doubtful: frozenset[str] = frozenset()
