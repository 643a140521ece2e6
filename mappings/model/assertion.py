"""Mapping assertions: which rows of the catalog's tables make which triples, at which time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.catalog import Scalar
from ontoweir.mappings.model.expression import Expression
from ontoweir.ontology.tbox import Because

CompareOp: TypeAlias = Literal["<", "<=", "=", ">=", ">", "<>"]
"""A comparison operator in a mapping's source."""

TermKind: TypeAlias = Literal["iri", "blank", "literal"]
"""What kind of RDF term a term map makes."""


@dataclass(frozen=True, slots=True, order=True)
class SourceColumn:
    """`alias.column` of a mapping's source; aliases are local to the mapping."""

    alias: str
    column: str


@dataclass(frozen=True, slots=True, order=True)
class SourceTable:
    """A table of the catalog in a mapping's source, under an alias."""

    alias: str
    table: str


@dataclass(frozen=True, slots=True)
class SourceConstant:
    """A constant; compared with a stream's timestamp it is steps since 1970-01-01T00:00:00Z."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class SourceCompare:
    """`left op right + offset`; offset in steps for timestamps, only with a column on the right."""

    left: SourceColumn
    op: CompareOp
    right: SourceColumn | SourceConstant
    offset: int | Decimal = 0
    line: int | None = field(default=None, compare=False)  # of the text of SQL


@dataclass(frozen=True, slots=True)
class SourceNotNull:
    """`column IS NOT NULL`."""

    column: SourceColumn


@dataclass(frozen=True, slots=True)
class SourceOneOf:
    """`column IN (values)`: constants of its type, at least two, each once. (Never a stream's
    timestamp.)"""

    column: SourceColumn
    values: tuple[Scalar, ...]


SourceCondition: TypeAlias = SourceCompare | SourceNotNull | SourceOneOf
"""A conjunct of a mapping's source."""


@dataclass(frozen=True, slots=True)
class MappingSource:
    """The rows of the product of `tables` that satisfy all `conditions`: a logical table,
    flattened."""

    tables: tuple[SourceTable, ...]
    conditions: tuple[SourceCondition, ...] = ()
    derived: tuple[tuple[str, Expression], ...] = ()
    """Tables (by name), and the expressions of their rows that conditions or terms read as columns
    (derive_column)."""


@dataclass(frozen=True, slots=True)
class TemplateMap:
    """A term made from text and columns in turn. In IRIs the values are percent-encoded (R2RML
    section 7.3), except that a single column alone (rr:column of type IRI) is taken as it is."""

    parts: tuple[str | SourceColumn, ...]
    kind: TermKind
    datatype: str | None = None
    language: str | None = None

    @property
    def shown(self) -> str:
        """As it is written, with columns in braces."""
        return "".join(p if isinstance(p, str) else f"{{{p.column}}}" for p in self.parts)


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """A literal with a column's value; `datatype` is given or the column's natural one."""

    column: SourceColumn
    datatype: str | None = None
    language: str | None = None

    @property
    def shown(self) -> str:
        """The column in braces, with what tells the literal from others of its text."""
        named = None if self.datatype is None else self.datatype.rpartition("#")[2]
        tag = f"@{self.language}" if self.language else f"^^{named}" if named else ""
        return f"{{{self.column.column}}}{tag}"


@dataclass(frozen=True, slots=True)
class ConstantMap:
    """A constant term: an IRI's text or a literal's lexical form."""

    value: str
    is_iri: bool
    datatype: str | None = None
    language: str | None = None

    @property
    def shown(self) -> str:
        """Its text."""
        return self.value if self.is_iri else f'"{self.value}"'


TermMap: TypeAlias = TemplateMap | ColumnMap | ConstantMap
"""How a term is made from a row."""


@dataclass(frozen=True, slots=True, order=True)
class TriplesMapName:
    """A triples map by its name, and where it is written."""

    id: str
    place: Source


@dataclass(frozen=True, slots=True)
class MappingAssertion:
    """Every row of `source` whose columns in the term maps are not NULL makes one triple.

    With `object` None it is `subject rdf:type predicate`. The triple holds at the timestamp of
    `stream_alias`'s row, or always when that is None. `because` are the axioms that turned the
    user's assertion into this one (T-mappings); `id` and `place` stay the triples map's.
    `others` are the triples maps whose rows it makes too: their assertions and this one differed
    in the constants of one column, and became one (merge_assertions).
    """

    id: str
    predicate: str
    source: MappingSource
    subject: TermMap
    object: TermMap | None
    place: Source
    stream_alias: str | None = None
    because: tuple[Because, ...] = ()
    graphs: tuple[TermMap, ...] = ()
    """The named graphs the triple is in (rr:defaultGraph among them is the default graph); () is
    the default graph alone."""
    repeats: str | None = None
    """Why the rows of `source` may make a triple more often than those of the logical table do,
    which has DISTINCT or UNION; None: they do not."""
    others: tuple[TriplesMapName, ...] = ()

    @property
    def shown(self) -> str:
        """The name of the triples map, and how many there are more."""
        return f"{self.id} and {len(self.others)} more" if self.others else self.id

    @property
    def triple(self) -> str:
        """What a row makes, as in N-Triples, with columns in braces."""
        if self.object is None:
            return f"{self.subject.shown} a <{self.predicate}>"
        return f"{self.subject.shown} <{self.predicate}> {self.object.shown}"


@dataclass(frozen=True, slots=True)
class RefusedMap:
    """A triples map that is refused, or a whole file: why, and the IRIs of the classes and
    properties that it could be about (None: any); and how others could end, whose beginning is
    not known."""

    id: str
    error: MappingError
    predicates: frozenset[str] | None = None
    endings: frozenset[str] = frozenset()

    def concerns(self, iri: str) -> bool:
        """Whether it could make triples of a class or property."""
        return (
            self.predicates is None or iri in self.predicates or iri.endswith(tuple(self.endings))
        )


def refuse(refused: RefusedMap) -> None:
    """Raise the error of a triples map: nothing is decided on a part of the mappings."""
    raise refused.error.again()


Admit: TypeAlias = Callable[
    [str | None, tuple[MappingAssertion, ...]], tuple[MappingAssertion, ...]
]


@dataclass(frozen=True, slots=True)
class MappingSet:
    """All assertions; `compiled` says that the ontology's hierarchy is already in them.

    `refused`: triples maps that were refused. Whoever asks for what one of them could be about is
    refused, by its error (`on_refused`), unless the caller would have it named and goes on.
    """

    assertions: tuple[MappingAssertion, ...]
    compiled: bool = False
    refused: tuple[RefusedMap, ...] = ()
    on_refused: Callable[[RefusedMap], None] = field(default=refuse, repr=False, compare=False)
    admit: Admit | None = field(default=None, repr=False, compare=False)
    """Which assertions a pattern of a time sees, by its variable's name (None, and None: one that
    is outside GRAPH; all)."""
    windowed: bool = False
    """Each time is one of a window, whose graph is one set of triples, of all its times."""
    _index: dict[tuple[str, bool], list[MappingAssertion]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        for assertion in self.assertions:
            key = (assertion.predicate, assertion.object is None)
            self._index.setdefault(key, []).append(assertion)

    def classes_of(self, iri: str) -> tuple[MappingAssertion, ...]:
        """The assertions that make members of the class `iri`.

        Raises:
            MappingError: a triples map is refused that could make some.
        """
        self._require(iri)
        return tuple(self._index.get((iri, True), ()))

    def properties_of(self, iri: str) -> tuple[MappingAssertion, ...]:
        """The assertions that make triples of the property `iri`.

        Raises:
            MappingError: a triples map is refused that could make some.
        """
        self._require(iri)
        return tuple(self._index.get((iri, False), ()))

    def require_all(self) -> None:
        """Raise MappingError where any triples map is refused."""
        for refused in self.refused:
            self.on_refused(refused)

    def _require(self, iri: str) -> None:
        for refused in self.refused:
            if refused.concerns(iri):
                self.on_refused(refused)

    def knows(self, iri: str) -> bool:
        """Whether a class or property is mapped, or could be by a triples map that is refused."""
        return any((iri, is_class) in self._index for is_class in (True, False)) or any(
            refused.concerns(iri) for refused in self.refused
        )

    @property
    def derived(self) -> tuple[tuple[str, Expression], ...]:
        """Tables, and the expressions of their rows that assertions read as columns."""
        return tuple(dict.fromkeys(d for a in self.assertions for d in a.source.derived))

    def predicates(self) -> frozenset[str]:
        """All class and property IRIs that are mapped."""
        return self.classes() | self.properties()

    def classes(self) -> frozenset[str]:
        """All class IRIs that are mapped."""
        return frozenset(iri for iri, is_class in self._index if is_class)

    def properties(self) -> frozenset[str]:
        """All property IRIs that are mapped."""
        return frozenset(iri for iri, is_class in self._index if not is_class)


def term_columns(term: TermMap | None) -> tuple[SourceColumn, ...]:
    """The columns that a term map reads, in order."""
    match term:
        case TemplateMap(parts=parts):
            return tuple(p for p in parts if isinstance(p, SourceColumn))
        case ColumnMap(column=column):
            return (column,)
        case ConstantMap() | None:
            return ()


def condition_columns(condition: SourceCondition) -> tuple[SourceColumn, ...]:
    """The columns that a condition reads."""
    match condition:
        case SourceNotNull(column=column) | SourceOneOf(column=column):
            return (column,)
        case SourceCompare(left=left, right=right):
            return (left, right) if isinstance(right, SourceColumn) else (left,)
