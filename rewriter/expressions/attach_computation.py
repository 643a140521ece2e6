"""Attach what a query computes to the disjuncts that its patterns were unfolded into."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.expressions import build
from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.materialize.write_value import write_value
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    IntType,
    Scalar,
    Stream,
)
from ontoweir.mappings.model.column_types import natural_datatype
from ontoweir.mappings.model.expression import (
    Expression,
    Field,
    Value,
    fields_of,
    map_fields,
)
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types
from ontoweir.rewriter.expressions.compare_rows import RoundedError, compare_rows
from ontoweir.rewriter.expressions.not_exact import LazyValues, refusing_inexact
from ontoweir.rewriter.expressions.term_value import term_value
from ontoweir.rewriter.expressions.type_expression import TermTypes, truth, type_expression
from ontoweir.rewriter.expressions.type_term import attribute_of
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.query import Computation, ComputedVariable, Variable
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Op,
    Output,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.rounded.wrap_sums import ComparedSumError


class SeveralRowsError(QueryError):
    """An expression is of several rows."""


class RoundedRowsError(SeveralRowsError, ComparedSumError):
    """A sum of doubles is of several rows."""


_NONE = Column("", IntType())


_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
NEVER = NullOutput(Attribute("", ""))
"""A computed variable that has no value in a disjunct."""


def attach_computation(
    union: SpjUnion, catalog: Catalog, computation: Computation, *, optional: bool = False
) -> SpjUnion:
    """The union whose outputs are the answer variables, computed or not, of the solutions that the
    filters leave.

    Args:
        union: the patterns' disjuncts, whose outputs are all that expressions read.
        catalog: its tables, with its views.
        computation: what is computed.
        optional: what never has a value in a disjunct is `NEVER` there, and no error.

    Raises:
        QueryError: an expression is of several rows, or not computed exactly as SPARQL has it; a
            variable that must have a value may have none.
    """
    derived: dict[tuple[str, Expression], None] = {}
    groups = () if union.aggregation is None else union.aggregation.aggregates
    read = frozenset(n for one in groups if one.function not in _COUNTS for n in one.arguments)
    disjuncts = [
        made
        for query in union.disjuncts
        for made in _Attacher(query, catalog, computation, derived, optional, read).attach()
    ]
    return replace(
        union,
        variables=computation.variables,
        disjuncts=tuple(disjuncts),
        derived=tuple(dict.fromkeys((*union.derived, *derived))),
    )


@dataclass(frozen=True, slots=True)
class _Attacher:
    """One disjunct."""

    query: SpjQuery
    catalog: Catalog
    computation: Computation
    derived: dict[tuple[str, Expression], None]
    optional: bool
    aggregated: frozenset[str]
    """Aggregates compute with these variables, which are columns then, constant or not."""

    def attach(self) -> Iterator[SpjQuery]:
        """The disjunct with what is computed: several where a variable may have no value."""
        types = Types(self.catalog, self.query.occurrences)
        outputs = dict(self.query.outputs)
        values: dict[str, Expression] = {}
        sources = {c.variable.name: c.source for c in self.computation.computed}
        computed = {c.variable.name: c for c in self.computation.computed}
        conditions: list[Condition] = []
        for one in self.computation.computed:
            same = (
                outputs.get(one.expression.name) if isinstance(one.expression, Variable) else None
            )
            if same is not None and not one.bound:
                outputs[one.variable.name] = same
            else:
                values[one.variable.name] = self._type(one, outputs, values, types)
        for expression, source in self.computation.filters:
            whole = ComputedVariable(_FILTER, expression, source)
            made = truth(self._type(whole, outputs, values, types))
            if isinstance(made, Value) or not fields_of(made):
                if self._constant(made) is not True:
                    return
                continue
            conditions.append(self._condition(made, source))
        cases: list[tuple[tuple[Condition, ...], dict[str, Output]]] = [(tuple(conditions), {})]
        for name in dict.fromkeys((*self.computation.variables, *_required(computed))):
            if name in values:
                shown = [*self._show(name, values[name], sources[name])]
                if computed[name].bound and any(isinstance(o, NullOutput) for _, o in shown):
                    raise _unbound(name, sources[name])
                cases = [
                    ((*given, *more), {**chosen, name: output})
                    for given, chosen in cases
                    for more, output in shown
                ]
        for given, chosen in cases:
            yield replace(
                self.query,
                conditions=tuple(dict.fromkeys((*self.query.conditions, *given))),
                outputs=tuple((v, chosen.get(v) or outputs[v]) for v in self.computation.variables),
            )

    def _type(
        self,
        one: ComputedVariable,
        outputs: Mapping[str, Output],
        values: Mapping[str, Expression],
        types: Types,
    ) -> Expression:
        """An expression over columns, whose names say their aliases."""
        with refusing_inexact(one.source):
            known = {name: term_value(output, types) for name, output in outputs.items()}
            lazy = LazyValues(known, values)
            terms = TermTypes(lazy, outputs, types, self.catalog.functions)
            return type_expression(one.expression, terms)

    def _show(
        self, name: str, value: Expression, source: Source | None
    ) -> Iterator[tuple[tuple[Condition, ...], Output]]:
        """A computed variable's outputs, and when it has each."""
        constant = None if fields_of(value) else self._constant(value)
        column = bool(fields_of(value)) or (constant is not None and name in self.aggregated)
        if not column or not self.query.occurrences:
            if constant is None and self.optional:
                yield (), NEVER
                return
            if constant is None:
                raise QueryError(
                    "an expression never has a value",
                    why="it is an error for every solution, or all that one triples map makes, as "
                    "of types that do not go together",
                    fix="correct it, or leave it out",
                    source=source,
                )
            datatype = natural_datatype(value.type)
            text = str(constant).lower() if isinstance(constant, bool) else write_value(constant)
            yield (), ConstantOutput(text, is_iri=False, datatype=datatype)
            return
        attribute = self._derive(value, source)
        output = LiteralOutput(attribute, natural_datatype(value.type))
        yield (NotNull(attribute, source),), output
        if may_be_null(value, set(fields_of(value))):
            yield (IsNull(attribute, source),), NullOutput(attribute)

    def _by_timestamp(self, table: str, expression: Expression) -> dict[str, Expression]:
        """The fields of an expression, the time of the row as the timestamp of its stream."""
        stream = self.catalog.table(table)
        return {
            name: Field(stream.timestamp, field.type)
            if isinstance(stream, Stream) and (stream.column(name) or _NONE).bucket is not None
            else field
            for name, field in fields_of(expression).items()
        }

    def _by_mapping(self, table: str, expression: Expression) -> dict[str, Expression]:
        """The fields that a mapping's SQL computes, as it computes them."""
        columns = ((name, self.catalog.table(table).column(name)) for name in fields_of(expression))
        return {n: c.expression for n, c in columns if c is not None and c.expression is not None}

    def _constant(self, value: Expression) -> Scalar | None:
        from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
        from ontoweir.mappings.expressions.value_types import to_scalars

        made = to_scalars(evaluate(value, {}, 1), value.type)
        return made[0] if made else None

    def _condition(self, made: Expression, source: Source | None) -> Condition:
        """A filter: of one row, a derived column that is true; or a comparison of two rows."""
        column = self._find(made)
        if column is not None:
            return Compare(column, Op.EQ, Constant(True), source=source)
        try:
            compared = compare_rows(made, self._locate, lambda e: self._derive(e, source), source)
        except RoundedError:
            raise RoundedRowsError(
                "a filter adds up doubles of several rows",
                why="a sum of doubles is rounded: moved to the other side, it could be another one",
                fix="compare an expression of one row with one of another, as in ?a > ?b * 2 + 5; "
                "or declare decimal(p,s)",
                source=source,
            ) from None
        except build.TypeClash as clash:
            raise QueryError(
                f"a filter adds up numbers of too many digits: {clash}",
                why="terms of one row are added up exactly",
                fix="compute with doubles: xsd:double(?x)",
                source=source,
            ) from None
        if compared is None:
            return Compare(self._derive(made, source), Op.EQ, Constant(True), source=source)
        return compared

    def _derive(self, value: Expression, source: Source | None) -> Attribute:
        """The derived column of an expression, whose columns are of one row.

        Raises:
            QueryError: they are of several.
        """
        found = self._find(value)
        if found is not None:
            return found
        read = (attribute_of(name) for name in fields_of(value))
        shown = " and ".join(sorted(str(a) for a in read))
        raise SeveralRowsError(
            f"an expression computes with values of several rows, {shown}",
            why="an expression is of one row, or of a match whose patterns are all in GRAPH; "
            "without windows, and buckets of time beside it",
            fix="declare a key of the stream, where both are of one row; compare an expression of "
            "one with an expression of the other; or select the variables, and compute with them "
            "in the results",
            source=source,
        )

    def _locate(self, value: Expression) -> str | None:
        """The alias of the row that an expression is of."""
        found = self._place(value)
        return None if found is None else found[0]

    def _find(self, value: Expression) -> Attribute | None:
        """The derived column of an expression; None: its columns are of several rows."""
        found = self._place(value)
        if found is None:
            return None
        alias, expression = found
        if isinstance(expression, Field):
            return Attribute(alias, expression.column)
        table = next(o.table for o in self.query.occurrences if o.alias == alias)
        expression = map_fields(expression, self._by_mapping(table, expression))
        expression = map_fields(expression, self._by_timestamp(table, expression))
        self.derived[table, expression] = None
        return Attribute(alias, write_expression(expression))

    def _place(self, value: Expression) -> tuple[str, Expression] | None:
        """The alias of the row that an expression is of, and the expression over its columns."""
        classes = EqualityClasses(self.query.occurrences, self.query.conditions)
        read = {name: attribute_of(name) for name in fields_of(value)}
        aliases = [o.alias for o in self.query.occurrences]
        wanted = {a.alias for a in read.values()}
        for alias in [*sorted(wanted), *(a for a in aliases if a not in wanted)]:
            own = {name: _equal_in(alias, a, classes) for name, a in read.items()}
            if any(a is None for a in own.values()):
                continue
            fields = fields_of(value)
            renamed: dict[str, Expression] = {
                name: Field(a.column, fields[name].type) for name, a in own.items() if a is not None
            }
            return alias, map_fields(value, renamed)
        return None


_FILTER = Variable("_filter")


def _equal_in(alias: str, attribute: Attribute, classes: EqualityClasses) -> Attribute | None:
    """The attribute, or an equal one, of an alias."""
    if attribute.alias == alias:
        return attribute
    head = classes.find(attribute)
    for representative, others in classes.members():
        if representative == head:
            mine = (a for a in (representative, *others) if a.alias == alias)
            return next(mine, None)
    return None


def _required(computed: Mapping[str, ComputedVariable]) -> list[str]:
    return [name for name, one in computed.items() if one.bound]


def _unbound(name: str, source: Source | None) -> QueryError:
    return QueryError(
        "what is aggregated may have no value",
        why="an error in an aggregate is one of the whole group (SPARQL 1.1, 18.5.1)",
        fix="aggregate COALESCE(…, 0), or BIND it and FILTER(BOUND(?v))"
        if name.startswith("_")
        else f"give ?{name} a value in every solution, as by COALESCE",
        source=source,
    )
