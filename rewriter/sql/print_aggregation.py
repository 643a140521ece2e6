"""GROUP BY and its aggregates in SQL: of the matches of one SELECT, or of a derived table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from textwrap import indent
from typing import TYPE_CHECKING, assert_never

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.materialize.write_value import write_value
from ontoweir.mappings.model.catalog import Catalog, FloatType
from ontoweir.mappings.model.expression import Expression
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Aggregation
from ontoweir.rewriter.model.spj import (
    ConstantOutput,
    Output,
    SpjQuery,
    output_attributes,
)
from ontoweir.rewriter.sql.print_buckets import print_sliding
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
    row = {name: print_output(outputs[name], types) for name in aggregation.group}
    for a in aggregation.aggregates:
        row[a.name] = _call(a, lambda name: print_output(outputs[name], types), dialect)
    made = _print_row(aggregation, row)
    columns = [name_column(made[name], name) for name in aggregation.columns]
    if aggregation.having is not None:  # the names in it are changed as those of a column
        columns.append(_print_over_row(aggregation.having, row))
    groups = [_group(outputs[name], types) for name in aggregation.group]
    from sqlglot import exp

    tree = print_select(
        selection,
        columns,
        catalog,
        distinct=False,
        dialect=dialect,
        groups=groups,
        short=short,
    )
    if aggregation.having is not None:
        *shown, having = tree.expressions
        tree.set("expressions", shown)
        tree.set("having", exp.Having(this=having))
    return tree.sql(dialect=dialect, pretty=True, copy=False)


def aggregate_matches(
    matches: str,
    aggregation: Aggregation,
    ends: Sequence[str],
    begins: Sequence[str],
    *,
    dialect: str,
) -> str:
    """GROUP BY over the matches, as a derived table; of sliding windows, over those of which all
    `ends` are still to come, and no `begins`."""
    from sqlglot import exp

    def column(name: str) -> exp.Column:
        return exp.column(exp.to_identifier(name, quoted=needs_quotes(name)))

    if aggregation.panes is not None:
        matches = print_sliding(matches, aggregation.variables, aggregation.panes, dialect)
    row: dict[str, exp.Expr] = {name: column(name) for name in aggregation.row}
    row |= {a.name: _call(a, column, dialect) for a in aggregation.aggregates}
    made = _print_row(aggregation, row)
    columns = [
        column(name)
        if name in aggregation.row
        else exp.alias_(made[name], name, quoted=needs_quotes(name))
        for name in aggregation.columns
    ]
    head = exp.select(*columns).sql(dialect=dialect, pretty=True)
    text = f"{head}\nFROM (\n{indent(matches, '  ')}\n) AS matches"
    if ends or begins:
        now = exp.Anonymous(this="NOW")
        shown: list[exp.Expr] = [exp.LT(this=now, expression=column(name)) for name in ends]
        shown += [exp.GTE(this=now, expression=column(name)) for name in begins]
        text += f"\nWHERE {' AND '.join(c.sql(dialect=dialect) for c in shown)}"
    if aggregation.row:
        names = ", ".join(column(name).sql(dialect=dialect) for name in aggregation.row)
        text += f"\nGROUP BY {names}"
    if aggregation.having is not None:
        text += f"\nHAVING {_print_over_row(aggregation.having, row).sql(dialect=dialect)}"
    return text


def _print_row(aggregation: Aggregation, row: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    """The columns of a group's row, and what is computed of it."""
    computed = {name: _print_over_row(made, row) for name, made in aggregation.computed}
    return {**row, **computed}


def _print_over_row(expression: Expression, row: Mapping[str, exp.Expr]) -> exp.Expr:
    """An expression over a group's row, with what its columns are in their places."""
    from sqlglot import exp, parse_one

    def replaced(node: exp.Expr) -> exp.Expr:
        return row[node.name].copy() if isinstance(node, exp.Column) else node

    tree = parse_one(write_expression(expression), dialect="duckdb")
    return tree.transform(replaced, copy=False)


def _group(output: Output, types: Types) -> exp.Expr:
    """What a group is told by: of a term that one value makes, the value. (Of numbers with two
    zeros, and of several values, the text.)"""
    attributes = output_attributes(output)
    if len(attributes) == 1 and not isinstance(types.type_of(attributes[0]), FloatType):
        return print_column(attributes[0])
    return print_output(output, types)


def _list(aggregate: Aggregate, value: exp.Expr, dialect: str) -> exp.Expr:
    """The values in order, put together."""
    from sqlglot import exp

    assert aggregate.listing is not None
    once, cut = aggregate.function is AggregateFunction.LIST_DISTINCT, aggregate.listing.unseen
    if dialect == "duckdb":
        shown = exp.Distinct(expressions=[value]) if once else value
        if cut:
            shown = exp.Substring(this=value.copy(), start=exp.Literal.number(cut + 1))
        by = exp.Ordered(this=value.copy(), desc=aggregate.listing.falls, nulls_first=False)
        ordered = exp.Order(this=shown, expressions=[by])
        return exp.GroupConcat(
            this=ordered, separator=exp.Literal.string(aggregate.listing.separator)
        )
    found = exp.Anonymous(this="COLLECT_SET" if once else "COLLECT_LIST", expressions=[value])
    rises = exp.Boolean(this=not aggregate.listing.falls)
    texts: exp.Expr = exp.Anonymous(this="SORT_ARRAY", expressions=[found, rises])
    if cut:
        one = exp.to_identifier("x")
        short = exp.Substring(this=exp.column("x"), start=exp.Literal.number(cut + 1))
        lambda_ = exp.Lambda(this=short, expressions=[one])
        texts = exp.Anonymous(this="TRANSFORM", expressions=[texts, lambda_])
    between = exp.Literal.string(aggregate.listing.separator)
    return exp.Anonymous(this="ARRAY_JOIN", expressions=[texts, between])


def _call(aggregate: Aggregate, value_of: Callable[[str], exp.Expr], dialect: str) -> exp.Expr:
    from sqlglot import exp

    if aggregate.argument is None:
        return exp.Count(this=exp.Star())
    value = value_of(aggregate.argument)
    if aggregate.second is not None:
        kinds = {
            AggregateFunction.COUNT: exp.RegrCount,
            AggregateFunction.AVG: exp.RegrAvgy,
            AggregateFunction.COVAR_POP: exp.CovarPop,
            AggregateFunction.REGR_SXX: exp.RegrSyy,
        }
        made = kinds[aggregate.function](this=value, expression=value_of(aggregate.second))
        if aggregate.function is AggregateFunction.COUNT:  # DuckDB's has 32 bits, and no sign
            return exp.Cast(this=made, to=exp.DataType.build("BIGINT"))
        return made
    match aggregate.function:
        case AggregateFunction.COUNT:
            return exp.Count(this=value)
        case AggregateFunction.COUNT_DISTINCT:
            return exp.Count(this=exp.Distinct(expressions=[value]))
        case AggregateFunction.SUM_DISTINCT:
            return exp.Sum(this=exp.Distinct(expressions=[value]))
        case AggregateFunction.AVG_DISTINCT:
            return exp.Avg(this=exp.Distinct(expressions=[value]))
        case AggregateFunction.SUM:
            return exp.Sum(this=value)
        case AggregateFunction.AVG:
            return exp.Avg(this=value)
        case AggregateFunction.VAR_POP:
            return exp.VariancePop(this=value)
        case AggregateFunction.VAR_SAMP:
            return exp.Variance(this=value)
        case AggregateFunction.COVAR_POP | AggregateFunction.REGR_SXX:
            raise AssertionError("they have two arguments")
        case AggregateFunction.MIN:
            return exp.Min(this=value)
        case AggregateFunction.MAX:
            return exp.Max(this=value)
        case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
            return _list(aggregate, value, dialect)
        case AggregateFunction.MEDIAN:
            return exp.Median(this=value)
        case AggregateFunction.QUANTILE | AggregateFunction.PERCENTILE:
            assert aggregate.fraction is not None
            kind = "DISC" if aggregate.function is AggregateFunction.QUANTILE else "CONT"
            shown = Decimal(aggregate.fraction.numerator) / aggregate.fraction.denominator
            fraction = exp.Literal.number(write_value(shown))
            order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
            if dialect == "duckdb":
                return exp.Anonymous(this=f"QUANTILE_{kind}", expressions=[value, fraction])
            call = exp.Anonymous(this=f"PERCENTILE_{kind}", expressions=[fraction])
            return exp.WithinGroup(this=call, expression=order)
        case _ as unreachable:
            assert_never(unreachable)
