"""What SPARQL computes, and groups, of joined solutions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    StringType,
)
from ontoweir.mappings.model.column_types import natural_datatype
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    fields_of,
    map_fields,
)
from ontoweir.rewriter.aggregates.row_union import ROW, row_union
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.expressions.not_exact import LazyValues, refusing_inexact
from ontoweir.rewriter.expressions.term_value import term_value
from ontoweir.rewriter.expressions.type_expression import TermTypes, truth, type_expression
from ontoweir.rewriter.expressions.type_term import attribute_of
from ontoweir.rewriter.groups.attach_group_terms import attach_group_terms
from ontoweir.rewriter.model.aggregation import AggregateFunction, Aggregation
from ontoweir.rewriter.model.joined import JoinedRow
from ontoweir.rewriter.model.query import (
    ConjunctiveQuery,
    Iri,
    Literal,
    Operation,
    TermExpression,
    Variable,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates

_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
_END = "ends"
Filters: TypeAlias = Sequence[tuple[TermExpression, Source | None]]
"""Conditions, and where they are written."""


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A variable of joined solutions: its type, what term it is, and whether it has a value in
    all."""

    kind: ColumnType
    term: Output
    sure: bool


def make_column(
    name: str, kind: ColumnType | None, terms: Sequence[Output], *, sure: bool
) -> RowColumn | None:
    """A variable of joined solutions (None: it is terms of several kinds).

    Args:
        name: the variable.
        kind: its type (None: it is shown as a text).
        terms: that it may be.
        sure: whether it has a value in all solutions.
    """
    made = {_place(name, term) for term in terms}
    if len(made) != 1:
        return None
    return RowColumn(StringType() if kind is None else kind, made.pop(), sure)


def _place(name: str, term: Output) -> Output:
    """A term of the column of joined rows that has its value."""
    column = Attribute(ROW, name)
    match term:
        case IriOutput() | ConstantOutput(is_iri=True):
            return IriOutput((column,))
        case BlankOutput():
            return BlankOutput((column,))
        case LiteralOutput() | TemplateLiteralOutput() | ConstantOutput():
            return LiteralOutput(column, term.datatype, term.language, optional=True)
        case _:
            return replace(term, value=column)


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads expressions over the `columns` of joined solutions."""

    columns: Mapping[str, RowColumn]
    catalog: Catalog

    def condition(self, filters: Filters) -> Expression | None:
        """What holds of a row if all FILTERs do (None: there are none).

        Raises:
            QueryError: one is not computed exactly as SPARQL has it.
        """
        return self._connect(filters, {})

    def _connect(self, filters: Filters, values: Mapping[str, Expression]) -> Expression | None:
        having: Expression | None = None
        for expression, source in filters:
            holds = truth(self._type(expression, values, source))
            having = holds if having is None else Call(Function.AND, (having, holds), BooleanType())
        return having

    def _type(
        self,
        expression: TermExpression,
        values: Mapping[str, Expression],
        source: Source | None,
    ) -> Expression:
        kinds = [(n, c.kind) for n, c in self.columns.items()]
        wide = row_union(kinds, None, self.catalog)[1]
        types = Types(wide, (Occurrence(ROW, ROW),))
        outputs = {n: c.term for n, c in self.columns.items()}
        texts = {_text(n): Field(n, StringType()) for n in self._texts}
        columns = {n: term_value(o, types) for n, o in outputs.items()}
        with refusing_inexact(source):
            terms = TermTypes(
                LazyValues(columns, {**values, **texts}), outputs, types, self.catalog.functions
            )
            made = type_expression(self._open_iris(expression), terms)
        return map_fields(
            made, {n: Field(_name(n), field.type) for n, field in fields_of(made).items()}
        )

    @property
    def _iris(self) -> set[str]:
        return {n for n, c in self.columns.items() if isinstance(c.term, IriOutput)}

    @property
    def _languages(self) -> set[str]:
        return (
            self._texts
            - self._iris
            - {n for n, c in self.columns.items() if isinstance(c.term, BlankOutput)}
        )

    @property
    def _texts(self) -> set[str]:
        """The variables whose column has a text that is not their value."""
        return {n for n, c in self.columns.items() if _is_text(c.term)}

    def _open_iris(self, expression: TermExpression) -> TermExpression:
        """An expression in which IRIs that are compared with each other are their texts, as is all
        of which it is asked whether there is one, or what its text is."""
        if not isinstance(expression, Operation):
            return expression
        name, arguments = expression.name, expression.arguments
        if name == "BOUND" and (text := _read_text(arguments[0], self._texts)) is not None:
            return Operation(name, (text,))
        if name == "STR" and (text := _read_text(arguments[0], self._languages)) is not None:
            return text
        texts = [_read_text(a, self._iris) for a in arguments]
        known = [t for t in texts if t is not None]
        if name == "STR" and isinstance(arguments[0], Variable) and known:
            return known[0]
        if name in _EQUAL and len(known) == len(texts):
            return Operation("=" if name == "SAMETERM" else name, tuple(known))
        return Operation(name, tuple(map(self._open_iris, arguments)))

    def show(self, name: str, names: Sequence[str], filters: Filters) -> JoinedRow[SpjUnion]:
        """The rows of which FILTERs hold, as they are.

        Args:
            name: what the query is called.
            names: the columns that are shown.
            filters: what holds.

        Raises:
            QueryError: one is not computed exactly as SPARQL has it.
        """
        shown = {n: self._show(n, {}) for n in names}
        return self._make(name, shown, (self._connect(filters, {}), None))

    def compute(self, query: ConjunctiveQuery, more: Filters) -> JoinedRow[SpjUnion] | None:
        """What a query makes of one row of joined solutions (None: it groups by times, or is of
        several branches).

        Args:
            query: over one row of the columns.
            more: other FILTERs.

        Raises:
            QueryError: an expression is not computed exactly as SPARQL has it; or a value cannot be
                aggregated.
        """
        if query.filters or query.choices or query.buckets:
            return None
        computation, made = query.computation, query.aggregation
        sure = {n for n, c in self.columns.items() if c.sure}
        filters = [*more]
        values: dict[str, Expression] = {}
        for constant, term in query.constants:
            values[constant.name] = self._type(term, values, query.source)
        for one in () if computation is None else computation.computed:
            made_of = self._type(one.expression, values, one.source)
            values[one.variable.name] = made_of
            if one.bound and may_be_null(made_of, sure):
                raise QueryError(
                    f"?{one.variable.name}, which is aggregated or grouped by, may have no value",
                    why="an error in an aggregate is one of the whole group (SPARQL 1.1, 18.5.1)",
                    fix="give it a value with COALESCE, or write FILTER(BOUND(…)) in the pattern "
                    "that may not match",
                    source=one.source,
                )
        filters += [] if computation is None else computation.filters
        having = self._connect(filters, values)
        names = _list_names(query) if made is None else made.variables
        shown = {n: self._show(n, values) for n in names}
        _refuse_unbound(query, shown, sure)
        row = self._make(query.name, shown, (having, filters[0][1] if filters else None))
        return row if made is None else self._group(row, query, made)

    def _make(
        self,
        name: str,
        shown: Mapping[str, tuple[Expression, Output]],
        having: tuple[Expression | None, Source | None],
    ) -> JoinedRow[SpjUnion]:
        """The rows of which a condition holds, with what is shown of them."""
        kinds = tuple((n, made.type) for n, (made, _) in shown.items())
        computed = tuple((n, made) for n, (made, _) in shown.items())
        shape = Aggregation(tuple(self.columns), (), tuple(shown), computed, *having)
        terms = tuple((n, name_text(n, term)) for n, (_, term) in shown.items())
        row = SpjQuery((), (), terms)
        return JoinedRow(shape, kinds, None, SpjUnion(name, tuple(shown), (row,), distinct=False))

    def _show(self, name: str, values: Mapping[str, Expression]) -> tuple[Expression, Output]:
        """A variable's value in a row, and what term it is."""
        column = self.columns.get(name)
        if name not in values and column is not None:
            return Field(name, column.kind), column.term
        made = values[name]
        datatype = natural_datatype(made.type)
        return made, LiteralOutput(Attribute(ROW, name), datatype, optional=True)

    def _group(
        self, row: JoinedRow[SpjUnion], query: ConjunctiveQuery, made: Aggregation
    ) -> JoinedRow[SpjUnion]:
        """The groups of rows, with what is computed of them."""
        assert row.terms is not None
        union, wide = row_union(row.columns, made, self.catalog, query.source)
        union = replace(union, disjuncts=_open_texts(row.terms), ends=(_END,))
        check_aggregates(union, wide)
        union = attach_group_terms(union, wide, query.group_terms)
        groups = union.aggregation
        return replace(row, groups=groups, terms=replace(row.terms, aggregation=groups))


def _open_texts(union: SpjUnion) -> tuple[SpjQuery, ...]:
    """Rows whose texts are those of a column."""
    outputs = tuple(
        (n, LiteralOutput(Attribute(ROW, n), optional=True))
        if isinstance(o, TemplateLiteralOutput)
        else (n, o)
        for n, o in union.disjuncts[0].outputs
    )
    return (SpjQuery((Occurrence(ROW, ROW),), (), outputs),)


def name_text(name: str, term: Output) -> Output:
    """A term whose kind is known without the table.

    Args:
        name: of the column of joined rows.
        term: of it.
    """
    plain = isinstance(term, LiteralOutput) and term.datatype is None and term.language is None
    return TemplateLiteralOutput((Attribute(ROW, name),)) if plain else term


def _is_text(term: Output) -> bool:
    match term:
        case IriOutput() | BlankOutput():
            return True
        case LiteralOutput(language=language):
            return language is not None
        case _:
            return False


_EQUAL = ("=", "!=", "SAMETERM", "IN")


def _text(name: str) -> str:
    return f"text {name}"


def _read_text(argument: TermExpression, iris: set[str]) -> TermExpression | None:
    """An IRI as a text (None: it is none)."""
    match argument:
        case Variable(name=name) if name in iris:
            return Variable(_text(name))
        case Iri(value=value):
            return Literal(value)
        case _:
            return None


def _list_names(query: ConjunctiveQuery) -> tuple[str, ...]:
    """The variables that a query without aggregates shows, in order."""
    if query.computation is not None:
        return query.computation.variables
    return tuple(v.name for v in query.head)


def _name(field: str) -> str:
    """The column of joined rows that a field is (type_term.name_field)."""
    return attribute_of(field).column or field


def _refuse_unbound(
    query: ConjunctiveQuery, shown: Mapping[str, tuple[Expression, Output]], sure: set[str]
) -> None:
    """Raise QueryError for what is aggregated, and not only counted, where it may have no value."""
    for one in () if query.aggregation is None else query.aggregation.aggregates:
        for argument in one.arguments:
            if one.function in _COUNTS or not may_be_null(shown[argument][0], sure):
                continue
            raise QueryError(
                f"{one} aggregates what may have no value",
                why="an error in an aggregate is one of the whole group (SPARQL 1.1, 18.5.1)",
                fix=f"aggregate COALESCE(?{argument}, 0), or write FILTER(BOUND(?{argument}))",
                source=one.source or query.source,
            )
