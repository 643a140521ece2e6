"""Attach what a SPARQL query computes of its groups, typed by the tables they are made of."""

from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import BooleanType, Catalog, IntType
from ontoweir.mappings.model.expression import Call, Case, Expression, Function, Value
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.slide_buckets import slide_buckets
from ontoweir.rewriter.expressions.not_exact import NotExactError, refusing_inexact
from ontoweir.rewriter.expressions.type_expression import (
    TermTypes,
    truth,
    type_expression,
)
from ontoweir.rewriter.groups.check_having import check_having
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.model.aggregation import (
    Aggregation,
    FirstRows,
    NumberedGroups,
    Numbering,
)
from ontoweir.rewriter.model.query import GroupTerms, TermExpression, expression_variables
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.sum_nothing import sum_nothing

_TOLD = "of the groups: whether it is told"
"""How the column is called that is 1 where HAVING holds."""


def attach_group_terms(union: SpjUnion, catalog: Catalog, terms: GroupTerms) -> SpjUnion:
    """The query with its HAVING, with what is computed of its groups, and by the panes of buckets
    that overlap.

    Args:
        union: a query over tables; one that has no groups stays as it is.
        catalog: with its views, buckets and derived columns.
        terms: what was written.

    Raises:
        QueryError: an expression is not computed exactly as SPARQL has it, or what is not grouped
            may leave what HAVING lets through.
    """
    union = slide_buckets(union, catalog)
    if union.aggregation is None:
        return union
    row = type_group_row(union, catalog, terms=True)
    if not (terms.computed or terms.having):
        return replace(union, aggregation=sum_nothing(union.aggregation, row))
    values: dict[str, Expression] = {}

    def read(expression: TermExpression, source: Source | None) -> Expression:
        known = dict(values)
        with refusing_inexact(source, "an expression of groups"):
            for variable in sorted(expression_variables(expression)):
                if variable.name in known:
                    continue
                value = row[variable.name]
                if isinstance(value, NotExactError):
                    raise value
                known[variable.name] = value
            none = TermTypes(known, {}, Types(catalog, ()), catalog.functions)
            return type_expression(expression, none)

    for one in terms.computed:
        values[one.variable.name] = read(one.expression, one.source)
    computed = tuple(values.items())
    having: Expression | None = None
    values = {}  # HAVING does not see what SELECT computes
    for condition in terms.having:
        holds = truth(read(condition, terms.having_source))
        having = holds if having is None else Call(Function.AND, (having, holds), BooleanType())
    made = replace(
        union.aggregation, computed=computed, having=having, having_source=terms.having_source
    )
    union = replace(union, aggregation=made)
    try:
        check_having(union, catalog)
    except QueryError:
        leaving = _let_leave(made)
        if leaving is None:
            raise
        made = leaving
    return replace(union, aggregation=sum_nothing(made, row))


def _let_leave(made: Aggregation) -> Aggregation | None:
    """Groups that HAVING lets through, and later not, as changes: each is the first of its key, and
    told where HAVING holds (None: they are not told apart by what is shown)."""
    having, group = made.having, made.group
    if having is None or not group or not {*group} <= {*made.columns} or made.panes is not None:
        return None
    one, none = (Value(n, IntType()) for n in (1, 0))
    told = Case(((having, one),), none, IntType())
    first = FirstRows(Numbering.RANKS, 1, tuple((v, False, False) for v in group), told=_TOLD)
    return replace(
        made,
        having=None,
        columns=(*made.columns, _TOLD),
        computed=(*made.computed, (_TOLD, told)),
        numbered=NumberedGroups(group, first, made.columns),
    )
