"""Select-project-join queries over the catalog: what the rewriter hands to the checker. [S] Def. 4:
Π_L( σ_P( R1 × … × S1 × … ) ). Π is duplicate-preserving (bag) or -eliminating (set)."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from ontoweir.diagnostics import Reason
from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import TriplesMapName
from ontoweir.mappings.model.catalog import Column, ColumnType, Meeting, Relation, Scalar, Stream
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.aggregation import Aggregation, Between, ClosedValues, Standing
from ontoweir.rewriter.model.joined import Joined


class Op(StrEnum):
    """A comparison operator."""

    LT = "<"
    LE = "<="
    EQ = "="
    GE = ">="
    GT = ">"
    NE = "<>"

    def flipped(self) -> "Op":
        """The operator with its sides exchanged: a < b iff b > a."""
        return _FLIPPED[self]


_FLIPPED = dict(zip(Op, (Op.GT, Op.GE, Op.EQ, Op.LE, Op.LT, Op.NE), strict=True))


@dataclass(frozen=True, slots=True, order=True)
class Attribute:
    """A column of an occurrence, `alias.column`. A stream's timestamp column is one too."""

    alias: str
    column: str

    def __str__(self) -> str:
        return f"{self.alias}.{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """A stream or static relation (a name in the catalog) in FROM, under an alias."""

    alias: str
    table: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; for a timestamp the number of steps since 1970-01-01T00:00:00Z."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right + offset`, in steps for timestamps; only with an Attribute on the right."""

    left: Attribute
    op: Op
    right: Attribute | Constant
    offset: int | Decimal = 0
    source: Source | None = None
    line: int | None = field(default=None, compare=False)  # within the source, of SQL


@dataclass(frozen=True, slots=True)
class NotNull:
    """`attribute IS NOT NULL`."""

    attribute: Attribute
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class OneOf:
    """`attribute IN (values)`: two constants of its type or more, each once; of no timestamp."""

    attribute: Attribute
    values: tuple[Scalar, ...]
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class IsNull:
    """`attribute IS NULL`. No other condition of the query mentions the attribute."""

    attribute: Attribute
    source: Source | None = None


Condition: TypeAlias = Compare | NotNull | OneOf | IsNull
"""A conjunct of the selection."""


@dataclass(frozen=True, slots=True)
class IriOutput:
    """An IRI made from a template: text parts and attributes in turn (percent-encoded values)."""

    parts: tuple[str | Attribute, ...]


@dataclass(frozen=True, slots=True)
class LiteralOutput:
    """A literal with an attribute's value, of a datatype IRI (None: plain) or language; `optional`:
    where no condition mentions the attribute, NULL is shown too."""

    value: Attribute
    datatype: str | None = None
    language: str | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class TemplateLiteralOutput:
    """A string literal made from a template."""

    parts: tuple[str | Attribute, ...]
    datatype: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class BlankOutput:
    """A blank node made from a template."""

    parts: tuple[str | Attribute, ...]


@dataclass(frozen=True, slots=True)
class ConstantOutput:
    """A constant RDF term: an IRI's text, or a lexical form. Of SQL it has a `kind`, if no text."""

    value: str
    is_iri: bool
    datatype: str | None = None
    language: str | None = None
    kind: ColumnType | None = None


@dataclass(frozen=True, slots=True)
class NullOutput:
    """No value: `value` is NULL in every row that satisfies the conditions (IsNull)."""

    value: Attribute


Output: TypeAlias = (
    IriOutput | LiteralOutput | TemplateLiteralOutput | BlankOutput | ConstantOutput | NullOutput
)
"""How a projected variable is made from attributes."""


@dataclass(frozen=True, slots=True, order=True)
class Provenance:
    """Where a part of a disjunct came from: a triples map, and the axioms that led to it."""

    mapping: str
    mapping_source: Source | None = None
    axioms: tuple[str, ...] = ()
    axiom_sources: tuple[Source, ...] = ()
    query_source: Source | None = None
    time: str | None = None
    """The query's variable for the time at which it holds."""
    others: tuple[TriplesMapName, ...] = ()
    """Further triples maps that the same part came from."""

    @property
    def shown(self) -> str:
        """The name of the triples map, and how many there are more."""
        return f"{self.mapping} and {len(self.others)} more" if self.others else self.mapping

    @property
    def names(self) -> frozenset[str]:
        """The names of all its triples maps."""
        return frozenset((self.mapping, *(o.id for o in self.others)))


class FoldFunction(StrEnum):
    """What is computed of an attribute while matching, instead of projecting it."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Fold:
    """`function` of `attribute` over the matches of a group, as the column `name`."""

    name: str
    function: FoldFunction
    attribute: Attribute


@dataclass(frozen=True, slots=True)
class SpjQuery:
    """One SPJ query. Attributes used in `outputs` are guaranteed not NULL by `conditions`, but for
    optional ones and the arguments of aggregates in SQL (each takes the matches in which its own is
    not NULL). No timestamp is in `outputs` ([S] Def. 4). `folds`: None for a plain query; else its
    matches are grouped by `outputs` and folded ([A] section 8.2): a reduced characteristic query.
    """

    occurrences: tuple[Occurrence, ...]
    conditions: tuple[Condition, ...]
    outputs: tuple[tuple[str, Output], ...]
    provenance: tuple[tuple[str, Provenance], ...] = ()
    """(alias, where that occurrence came from); the alias of an ontology's fact is empty."""
    folds: tuple[Fold, ...] | None = None
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(stream, key): keys without the timestamp by which occurrences were merged into one."""
    closing: Attribute | None = None
    """The bucket of time by which groups are final, and forgotten; or the first of `closed`."""
    closed: ClosedValues | None = None
    added: tuple[str, ...] = ()
    """Outputs that are only added up: they tell no groups apart."""
    chosen: tuple[str, ...] = ()
    """Outputs of which the least, or greatest, alone is kept: they tell no groups apart."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A text that a template makes: parts and attributes in turn (`encoded`: percent-encoded)."""

    parts: tuple[str | Attribute, ...]
    encoded: bool


ViewColumn: TypeAlias = Attribute | Constant | TextColumn
"""Where a view's column comes from in a branch."""


@dataclass(frozen=True, slots=True)
class ViewBranch:
    """Rows of a view: those of the product of `occurrences` that satisfy `conditions`.

    `columns`: what each of the view's columns is, none of them NULL, in their order; `time`: the
    timestamp of the branch's stream (None: it reads static relations only).
    """

    occurrences: tuple[Occurrence, ...]
    conditions: tuple[Condition, ...]
    columns: tuple[ViewColumn, ...]
    time: Attribute | None
    provenance: tuple[tuple[str, Provenance], ...] = ()

    @property
    def query(self) -> SpjQuery:
        """The branch's rows as an SPJ query; columns that are constants are left out."""
        outputs: list[tuple[str, Output]] = []
        for n, column in enumerate(self.columns):
            if isinstance(column, Attribute):
                outputs.append((f"c{n}", LiteralOutput(column)))
            elif isinstance(column, TextColumn):
                outputs.append((f"c{n}", TemplateLiteralOutput(column.parts)))
        return SpjQuery(self.occurrences, self.conditions, tuple(outputs), self.provenance)


def column_attributes(column: ViewColumn) -> tuple[Attribute, ...]:
    """The attributes that a view's column is made from."""
    match column:
        case Attribute():
            return (column,)
        case TextColumn(parts=parts):
            return tuple(p for p in parts if isinstance(p, Attribute))
        case Constant():
            return ()


@dataclass(frozen=True, slots=True)
class View:
    """The union of branches, under a name that is a table's in queries.

    `table`: its columns, and what is declared of the branches' tables as far as it holds of its
    rows. `distinct`: equal rows are one (of a stream: of one timestamp). `why`: what they are.
    """

    table: Stream | Relation
    branches: tuple[ViewBranch, ...]
    distinct: bool
    why: str = ""
    without: tuple[ViewBranch, ...] = ()
    """Static branches of a view over streams: their rows, at any time, are not the view's."""

    @property
    def name(self) -> str:
        """The name of its table."""
        return self.table.name

    @property
    def timestamp(self) -> str | None:
        """The timestamp of a view over streams."""
        return self.table.timestamp if isinstance(self.table, Stream) else None

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of its branches, each once; other views may be among them."""
        branches = (*self.branches, *self.without)
        return tuple(dict.fromkeys(o.table for b in branches for o in b.occurrences))


@dataclass(frozen=True, slots=True)
class Deadline:
    """Until when something may come that belongs to a row: the earliest of times of the row (a
    variable, and how many µs after it), and of a time (µs since 1970)."""

    after: tuple[tuple[str, int], ...]
    fixed_us: int | None = None


@dataclass(frozen=True, slots=True)
class AbsencePart:
    """`hits`: keys beside which something must not be, or must (`present`), by `deadlines`."""

    hits: "SpjUnion"
    deadlines: tuple[Deadline, ...]
    present: bool = False


@dataclass(frozen=True, slots=True)
class Absence:
    """Which answers of a query count, by its variables `keys`; `held`: all at their deadlines."""

    keys: tuple[str, ...]
    parts: tuple[AbsencePart, ...]
    held: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A query whose answers are final, as a stream. `time`: a column, and how many µs after it each
    is final (None: it follows from none); `absence`: which answers count (None: all; `between`: how
    they are counted; `compared`: by readers); `meeting`: its rows meet others, joined in `union`"""

    stream: Stream
    union: "SpjUnion"
    time: tuple[str, int] | None = None
    absence: Absence | None = None
    meeting: Meeting | Preceding | None = None
    between: "Between[SpjUnion] | None" = None
    compared: tuple[Compare, ...] = ()

    @property
    def queries(self) -> "tuple[SpjUnion, ...]":
        """All whose answers its rows are made of: the query, and what decides which count."""
        if self.between is not None:
            return self.between.queries
        hits = (p.hits for p in (self.absence.parts if self.absence else ()))
        return () if self.meeting is not None else (self.union, *hits)


@dataclass(frozen=True, slots=True)
class SpjUnion:
    """A union of SPJ queries with the same variables: the unfolded query.

    `distinct`: set semantics (π, UNION), not bag semantics (π̇, UNION ALL). `aggregation`: of the
    matches, those of the characteristic query ([A] Th. 8.4): all ignore duplicates if `distinct`.
    """

    name: str
    variables: tuple[str, ...]
    disjuncts: tuple[SpjQuery, ...]
    distinct: bool
    source: Source | None = None
    aggregation: Aggregation | None = None
    views: tuple[View, ...] = ()
    statics: tuple[Relation, ...] = ()  # these, and `views`, are tables that are not in the catalog
    buckets: tuple[tuple[str, Column], ...] = ()
    """Streams (or views), and a column that says in which bucket of time each row lies."""
    derived: tuple[tuple[str, Expression], ...] = ()  # tables, and expressions that are columns
    ends: tuple[str, ...] = ()  # variables: an answer holds until the first of these times
    begins: tuple[str, ...] = ()  # variables: when rows are shown, if later than their own time
    step_us: int | None = None  # the steps of time of streams of different units (None: their unit)
    blocks: tuple[Block, ...] = ()  # the streams that are made of answers of other queries
    standing: Standing | None = None  # how later rows end answers (None: they do not)
    hidden: tuple[tuple[str, str], ...] = ()
    """Tables and columns that are selected, where only rows with a value there are results."""
    joined: "Joined[SpjUnion] | None" = None  # of which rows, that come and go, it is made
    told: str | None = None  # what is written, if not said otherwise (None: what fits)
    ties: tuple[str, ...] = ()  # sentences: how rows follow that are equal in an order
    excluded: tuple[Reason, ...] = ()  # why there are no disjuncts, where that is known


def output_attributes(output: Output) -> tuple[Attribute, ...]:
    """The attributes whose values an output is made from, in order, repeats kept."""
    match output:
        case LiteralOutput(value=value):
            return (value,)
        case ConstantOutput() | NullOutput():
            return ()
        case IriOutput() | TemplateLiteralOutput() | BlankOutput():
            return tuple(p for p in output.parts if isinstance(p, Attribute))
