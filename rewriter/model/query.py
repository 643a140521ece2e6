"""Conjunctive queries in the words of an ontology, over states at points in time."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

from ontoweir.errors import Source
from ontoweir.mappings.model.time_bucket import TimeBucket
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import Op


class Counts(StrEnum):
    """What SELECT without DISTINCT, COUNT, SUM and AVG count: solutions over the RDF graph, a set
    of triples, as SPARQL 1.1 has it; or matches in the rows that mappings read."""

    SPARQL = "sparql"
    MATCHES = "matches"


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """A variable; `name` without the question mark. Names that start with `_` are made by us."""

    name: str


@dataclass(frozen=True, slots=True, order=True)
class Iri:
    """An IRI."""

    value: str


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A literal: lexical form, datatype IRI (None for a plain string), language tag."""

    lexical: str
    datatype: str | None = None
    language: str | None = None


Term: TypeAlias = Variable | Iri | Literal
"""An argument of an atom."""


@dataclass(frozen=True, slots=True)
class ClassAtom:
    """`cls(term)`, in the state at `time` (None: outside GRAPH, of what has held at any time so
    far). `always`: of what holds at every time."""

    cls: str
    term: Term
    time: Variable | None = None
    source: Source | None = None
    always: bool = False


@dataclass(frozen=True, slots=True)
class PropertyAtom:
    """`prop(subject, object)`, in the state at `time` (None: outside GRAPH, of what has held at any
    time so far). `always`: of what holds at every time."""

    prop: str
    subject: Term
    object: Term
    time: Variable | None = None
    source: Source | None = None
    always: bool = False


Atom: TypeAlias = ClassAtom | PropertyAtom
"""An atom of a conjunctive query."""


def atom_terms(atom: Atom) -> tuple[Term, ...]:
    """The arguments of an atom."""
    return (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)


@dataclass(frozen=True, slots=True)
class ValueFilter:
    """`left op right + offset` over values; offset is a number and only with a Variable."""

    left: Variable
    op: Op
    right: Variable | Literal | Iri
    offset: str = "0"
    """A decimal number in text."""
    source: Source | None = None
    moved: bool = False
    """Numbers are added to a variable as it is written, which was made an offset or a constant:
    exact for whole numbers and decimals."""


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """`left op right + offset` over times: variables of GRAPH, and those that mappings bind to a
    stream's timestamp; `right` may be a fixed point in time, an xsd:dateTime literal (without a
    zone: UTC)."""

    left: Variable
    op: Op
    right: Variable | Literal
    offset: timedelta = timedelta(0)
    source: Source | None = None


Filter: TypeAlias = ValueFilter | TimeFilter
"""A conjunct of FILTER."""


@dataclass(frozen=True, slots=True)
class AnyFilter:
    """One of several conjunctions holds: at least two `cases`, which exclude each other where
    answers count (split_cases)."""

    cases: tuple[tuple[Filter, ...], ...]

    @property
    def variables(self) -> frozenset[Variable]:
        """The variables that are compared, values and times."""
        return frozenset(v for case in self.cases for f in case for v in filter_variables(f))


def filter_variables(f: Filter) -> tuple[Variable, ...]:
    """The variables of a comparison."""
    return (f.left, f.right) if isinstance(f.right, Variable) else (f.left,)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or function of SPARQL, by its name in capitals, or a cast by its datatype."""

    name: str
    arguments: "tuple[TermExpression, ...]"


TermExpression: TypeAlias = Variable | Iri | Literal | Operation
"""An expression of SPARQL. An error is no value."""


@dataclass(frozen=True, slots=True)
class ComputedVariable:
    """A variable that an expression gives a value; `bound`: it must have one in every solution."""

    variable: Variable
    expression: TermExpression
    source: Source | None = None
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Computation:
    """What is computed of each solution of the patterns.

    `variables`: the answer variables (of aggregates: of the characteristic query), computed or not;
    `computed`: in an order in which each uses earlier ones only; `filters`: hold of a solution.
    """

    variables: tuple[str, ...]
    computed: tuple[ComputedVariable, ...]
    filters: tuple[tuple[TermExpression, Source | None], ...]


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """What is computed of the rows of groups, whose variables are those of the group, aggregates,
    and what is computed before. `having`: conditions on them, all of which must hold."""

    computed: tuple[ComputedVariable, ...] = ()
    having: tuple[TermExpression, ...] = ()
    having_source: Source | None = None


def expression_variables(expression: TermExpression) -> frozenset[Variable]:
    """The variables of an expression."""
    match expression:
        case Variable():
            return frozenset({expression})
        case Operation(arguments=arguments):
            return frozenset(v for a in arguments for v in expression_variables(a))
        case Iri() | Literal():
            return frozenset()


@dataclass(frozen=True, slots=True)
class NamedBuckets:
    """The bucket of a time as a variable of the group; or a time as an answer variable, which
    stands at a `place` in SELECT."""

    name: str
    time: Variable
    bucket: TimeBucket
    place: int | None = None


@dataclass(frozen=True, slots=True)
class ConjunctiveQuery:
    """SELECT [DISTINCT] head WHERE atoms, filters. Each answer variable
    occurs in an atom or is a constant."""

    name: str
    head: tuple[Variable, ...]
    atoms: tuple[Atom, ...]
    filters: tuple[Filter, ...]
    distinct: bool
    source: Source | None = None
    axioms: tuple[tuple[str, Source | None], ...] = ()
    """The axioms (functional syntax, place) that led to this disjunct of a rewriting."""
    constants: tuple[tuple[Variable, Iri | Literal], ...] = ()
    """Answer variables with a fixed value (BIND, VALUES); they occur in no atom."""
    branch: int = 0
    """The number of the branch of the user's union that this is, or came from."""
    graphs: tuple[str, ...] = ()
    """The graphs that FROM names; none: the default graph."""
    choices: tuple[AnyFilter, ...] = ()
    """Filters with ||, IN or ! that are not branches of their own, as these would be many."""
    aggregation: Aggregation | None = None
    """What is computed of the matches; the head is then that of the characteristic query, without
    what `buckets` gives."""
    buckets: tuple[NamedBuckets, ...] = ()
    """Groups of times, times that are shown, and when rows leave their windows: they are not in the
    head, which is of values."""
    computation: Computation | None = None
    """What is computed of the solutions; the head is then what is needed for it."""
    group_terms: GroupTerms = GroupTerms()
    """What is computed of the groups of an aggregate query."""
    inner: "tuple[InnerSelect, ...]" = ()
    """The aggregate queries within it, whose rows it reads."""


ANSWERS = "urn:ontoweir:answers/"
"""How the properties of rows of aggregate queries begin."""


@dataclass(frozen=True, slots=True)
class InnerSelect:
    """An aggregate SELECT within a query: its branches, and what it shows.

    The query around it, whose text is `text`, reads its rows as subjects, `row`, of a property for
    each variable, in the graphs of the times `at` which they are final. `times`: variables that it
    has as times, which are so long before `at` if they are."""

    branches: tuple[ConjunctiveQuery, ...]
    variables: tuple[str, ...]
    prefix: str
    row: Variable
    at: Variable
    text: str
    times: tuple[str, ...] = ()
    values: frozenset[str] = frozenset()
    """The properties that the query is read with as values, and no times."""

    def predicate(self, variable: str) -> str:
        """The property of a variable."""
        return f"{self.prefix}{variable}"
