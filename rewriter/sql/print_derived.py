"""Derived columns in printed SQL: their expressions in the place of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.time_bucket import TimeBucket
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.print_bucket import print_bucket
from ontoweir.rewriter.windows.read_sql_grid import read_sql_grid

if TYPE_CHECKING:
    from sqlglot import exp


def print_derived(tree: exp.Expr, types: Types, dialect: str) -> None:
    """Replace the columns that are derived, in place; `types`: of the tree's tables.

    Raises:
        QueryError: the dialect is neither Spark's nor DuckDB's, and has no word for a bucket.
    """
    from sqlglot import exp, parse_one

    for column in list(tree.find_all(exp.Column)):
        table = types.tables.get(column.table)
        declared = None if table is None else table.column(column.name)
        if declared is None or declared.expression is None:
            continue
        made = parse_one(write_expression(declared.expression, column.table), dialect="duckdb")
        made = made.transform(_round_relative).transform(_exact_text)
        made = made.transform(_print_bin, dialect)
        if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
            made = exp.alias_(made, column.name, quoted=True)  # a column of a view
        elif isinstance(made, (exp.Binary, exp.Unary, exp.Between, exp.In)):
            made = exp.Paren(this=made)
        column.replace(made)


def _print_bin(node: exp.Expr, dialect: str) -> exp.Expr:
    """A node; where the bucket of a time begins, in words of the dialect."""
    from sqlglot import exp

    if not isinstance(node, exp.DateBin):
        return node
    made = read_sql_grid(node)
    return print_bucket(TimeBucket(made.grid), made.time, dialect)


def _round_relative(node: exp.Expr) -> exp.Expr:
    """A node; ROUND_RELATIVE, for which databases have no function, in words of theirs."""
    from sqlglot import exp, parse_one

    if not isinstance(node, exp.Anonymous) or node.name != "ROUND_RELATIVE":
        return node
    x = node.expressions[0].sql("duckdb")
    near = f"POWER(2, FLOOR(LOG2(ABS({x}))))"  # rounds up just below a power of 2
    power = f"(CASE WHEN {near} > ABS({x}) THEN {near} / 2 ELSE {near} END)"
    middle = f"SIGN({x}) * (FLOOR(ABS({x}) / {power} * 64) + 0.5) / 64 * {power}"
    return parse_one(f"CASE WHEN {x} = 0 THEN 0 ELSE {middle} END", dialect="duckdb")


def _exact_text(node: exp.Expr) -> exp.Expr:
    """A node; EXACT_TEXT as a cast, whose texts may look otherwise but say the same."""
    from sqlglot import exp

    if not isinstance(node, exp.Anonymous) or node.name != "EXACT_TEXT":
        return node
    return exp.cast(node.expressions[0].copy(), "TEXT")
