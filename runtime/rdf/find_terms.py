"""Which kinds of RDF terms the columns of a query's answers have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from ontoweir.errors import Source, UsageError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import Call, Case, Expression, Field, Function
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import (
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.standing.take_shown import take_shown

XSD = "http://www.w3.org/2001/XMLSchema#"
RdfFormat: TypeAlias = Literal["srj", "nq"]
RDF_FORMATS: tuple[RdfFormat, ...] = ("srj", "nq")
"""SPARQL's JSON, and N-Quads: by what names of files end with."""


@dataclass(frozen=True, slots=True)
class TermKind:
    """A kind of term. `datatype`, `language`: of literals; neither: a text. Of a value of a column
    without a datatype, it is that of the column's type, as R2RML has it."""

    kind: Literal["iri", "blank", "literal"]
    datatype: str | None = None
    language: str | None = None

    def __str__(self) -> str:
        if self.kind == "iri":
            return "an IRI"
        if self.kind == "blank":
            return "a blank node"
        return f"a literal of {self.language or self.datatype or 'text'}".replace(XSD, "xsd:")


@dataclass(frozen=True, slots=True)
class AnswerTerms:
    """Of the query `name`, by column, the kinds of terms that it has; none: of its values."""

    name: str = ""
    columns: Mapping[str, frozenset[TermKind]] = field(default_factory=dict)


def find_terms(union: SpjUnion, catalog: Catalog) -> AnswerTerms:
    """The kinds of terms of a query's answers.

    Args:
        union: the unfolded query.
        catalog: its tables, views included.
    """
    union = take_shown(union)
    found: dict[str, set[TermKind]] = {name: set() for name in union.variables}
    for query in union.disjuncts:
        types, outputs = Types(catalog, query.occurrences), dict(query.outputs)
        for name in union.variables:
            kind = _kind_of(outputs[name], types)
            if kind is not None:
                found[name].add(kind)
    grouped = union.aggregation
    if grouped is not None:
        for one in grouped.aggregates:
            kinds = {TermKind("literal", _INTEGER)}
            if one.function in (AggregateFunction.MIN, AggregateFunction.MAX):
                assert one.argument is not None
                kinds = found[one.argument]
                kinds = kinds if len(kinds) == 1 else set()
            elif one.function not in _COUNTS:
                kinds = set()  # of its type
            found[one.name] = kinds
        if grouped.panes is not None:  # of their type, times
            found[grouped.panes.variable] = found[grouped.panes.ends or ""] = set()
        for name, expression in grouped.computed:
            found[name] = set(_computed(expression, found))
    return AnswerTerms(union.name, {n: frozenset(kinds) for n, kinds in found.items() if kinds})


_INTEGER = f"{XSD}integer"
_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)


def _kind_of(output: Output, types: Types) -> TermKind | None:
    """The kind of an output's terms (None: it has no value)."""
    match output:
        case IriOutput() | ConstantOutput(is_iri=True):
            return TermKind("iri")
        case BlankOutput():
            return TermKind("blank")
        case LiteralOutput(value=value, datatype=None, language=None):
            return TermKind("literal", datatype_of(types.type_of(value)))
        case ConstantOutput(datatype=None, language=None, kind=kind) if kind is not None:
            return TermKind("literal", datatype_of(kind))  # of SQL
        case (
            LiteralOutput(datatype=datatype, language=language)
            | TemplateLiteralOutput(datatype=datatype, language=language)
            | ConstantOutput(datatype=datatype, language=language)
        ):
            text = datatype if language is None and datatype != f"{XSD}string" else None
            return TermKind("literal", text, language)
        case NullOutput():
            return None
        case _:
            assert_never(output)


def _computed(expression: Expression, found: Mapping[str, set[TermKind]]) -> Iterator[TermKind]:
    """The kinds of what is computed of a group's row: of a choice, those of what it chooses."""
    match expression:
        case Field(column=name) if name in found:
            yield from found[name]
        case Case(branches=branches, otherwise=otherwise):
            for value in (*(v for _, v in branches), otherwise):
                yield from _computed(value, found)
        case Call(function=Function.COALESCE, arguments=arguments):
            for value in arguments:
                yield from _computed(value, found)
        case _:
            yield TermKind("literal", datatype_of(expression.type))


def datatype_of(kind: ColumnType) -> str | None:
    """The datatype of a column's values (None: texts), as R2RML has it."""
    match kind:
        case IntType():
            return _INTEGER
        case DecimalType():
            return f"{XSD}decimal"
        case FloatType():
            return f"{XSD}double"
        case BooleanType():
            return f"{XSD}boolean"
        case DateType():
            return f"{XSD}date"
        case TimestampType():
            return f"{XSD}dateTime"
        case StringType():
            return None
        case _:
            assert_never(kind)


_TRIPLE = (("s", "p", "o"), ("subject", "predicate", "object"))


def name_triple(columns: "list[str]") -> tuple[str, str, str] | None:
    """The columns that are subject, predicate and object, if answers have these alone."""
    shown = {c for c in columns if c not in ("at", "multiplicity")}
    return next((names for names in _TRIPLE if set(names) == shown), None)


def require_terms(terms: AnswerTerms, columns: "list[str]", form: str) -> None:
    """Refuse answers that cannot be written as RDF.

    Args:
        terms: of the answers.
        columns: their names.
        form: how they are to be written.

    Raises:
        UsageError: a column has terms of several kinds, which its values do not tell apart; or of
            quads a subject is a literal, or a predicate no IRI.
    """
    for name, kinds in terms.columns.items():
        if len(kinds) > 1 and name in columns:
            raise UsageError(
                f"the answers of {terms.name} cannot be written as {form}",
                why=f"{name} is {' or '.join(sorted(map(str, kinds)))}, and its values do not say "
                "which",
                fix="select terms of one kind, or write them as Parquet, CSV or JSON lines",
            )
    triple = name_triple(columns)
    if form != "nq" or triple is None:
        return
    for name, known in zip(triple, ({"iri", "blank"}, {"iri"}), strict=False):
        kinds = terms.columns.get(name, frozenset())
        wrong = next((k for k in kinds if k.kind not in known), None)
        if wrong is not None or not kinds:
            raise UsageError(
                f"the answers of {terms.name} are no quads",
                why=f"{name} is {wrong or 'no IRI'}, and quads are made of {', '.join(triple)}",
                fix=f"give {name} another name, or write them as srj",
                source=Source("--format"),
            )
