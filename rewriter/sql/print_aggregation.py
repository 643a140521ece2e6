"""GROUP BY and its aggregates in SQL: of the matches of one SELECT, or of a derived table."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from typing import TYPE_CHECKING, assert_never

from ontoweir.mappings.model.catalog import Catalog, FloatType
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import (
    ConstantOutput,
    Output,
    SpjQuery,
    output_attributes,
)
from ontoweir.rewriter.sql.print_condition import needs_quotes, print_column, print_output
from ontoweir.rewriter.sql.print_select import name_column, print_select
from ontoweir.rewriter.sql.unite_filters import Selection

if TYPE_CHECKING:
    from sqlglot import exp


def can_group(query: SpjQuery, aggregation: Aggregation) -> bool:
    """Whether the groups of a disjunct's matches can be said in its own SELECT: it has a table,
    and no group is a constant, which GROUP BY would take for the position of a column."""
    outputs = dict(query.outputs)
    constant = any(isinstance(outputs[name], ConstantOutput) for name in aggregation.group)
    return bool(query.occurrences) and not constant


def print_groups(
    selection: Selection,
    aggregation: Aggregation,
    catalog: Catalog,
    *,
    dialect: str,
    short: bool,
) -> str:
    """The groups of a disjunct's matches (`can_group`) and their aggregates, as one SELECT."""
    query = selection.query
    types, outputs = Types(catalog, query.occurrences), dict(query.outputs)
    calls = {
        a.name: _call(a, lambda name: print_output(outputs[name], types))
        for a in aggregation.aggregates
    }
    columns = [
        name_column(calls.get(name) or print_output(outputs[name], types), name)
        for name in aggregation.columns
    ]
    groups = [_group(outputs[name], types) for name in aggregation.group]
    tree = print_select(
        selection,
        columns,
        catalog,
        distinct=False,
        dialect=dialect,
        groups=groups,
        short=short,
    )
    return tree.sql(dialect=dialect, pretty=True, copy=False)


def aggregate_matches(matches: str, aggregation: Aggregation, *, dialect: str) -> str:
    """GROUP BY over the matches, as a derived table."""
    from sqlglot import exp

    def column(name: str) -> exp.Column:
        return exp.column(exp.to_identifier(name, quoted=needs_quotes(name)))

    calls = {a.name: _call(a, column) for a in aggregation.aggregates}
    columns = [
        exp.alias_(calls[name], name, quoted=needs_quotes(name)) if name in calls else column(name)
        for name in aggregation.columns
    ]
    head = exp.select(*columns).sql(dialect=dialect, pretty=True)
    text = f"{head}\nFROM (\n{indent(matches, '  ')}\n) AS matches"
    if aggregation.group:
        names = ", ".join(column(name).sql(dialect=dialect) for name in aggregation.group)
        text += f"\nGROUP BY {names}"
    return text


def _group(output: Output, types: Types) -> exp.Expr:
    """What a group is told by: of a term that one value makes, the value. (Of numbers with two
    zeros, and of several values, the text.)"""
    attributes = output_attributes(output)
    if len(attributes) == 1 and not isinstance(types.type_of(attributes[0]), FloatType):
        return print_column(attributes[0])
    return print_output(output, types)


def _call(aggregate: Aggregate, value_of: Callable[[str], exp.Expr]) -> exp.Expr:
    from sqlglot import exp

    if aggregate.argument is None:
        return exp.Count(this=exp.Star())
    value = value_of(aggregate.argument)
    match aggregate.function:
        case AggregateFunction.COUNT:
            return exp.Count(this=value)
        case AggregateFunction.COUNT_DISTINCT:
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case AggregateFunction.SUM:
            return exp.Sum(this=value)
        case AggregateFunction.AVG:
            return exp.Avg(this=value)
        case AggregateFunction.MIN:
            return exp.Min(this=value)
        case AggregateFunction.MAX:
            return exp.Max(this=value)
        case AggregateFunction.MEDIAN:
            return exp.Median(this=value)
        case _ as unreachable:
            assert_never(unreachable)
