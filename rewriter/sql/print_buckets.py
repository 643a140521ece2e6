"""Buckets of time in printed SQL: expressions of the timestamp in the place of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Stream
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.buckets.print_bucket import SPARK, print_bucket, refuse_dialect
from ontoweir.rewriter.model.aggregation import Panes
from ontoweir.rewriter.sql.print_condition import needs_quotes

if TYPE_CHECKING:
    from sqlglot import exp


def print_buckets(tree: exp.Expr, types: Types, dialect: str) -> None:
    """Replace the columns that are buckets, in place; `types`: of the tree's tables.

    Raises:
        QueryError: the dialect is neither Spark's nor DuckDB's, and has no word for the bucket.
    """
    from sqlglot import exp

    for column in list(tree.find_all(exp.Column)):
        if not is_bucket(column.name):
            continue
        table = types.tables[column.table]
        assert isinstance(table, Stream)
        declared = table.column(column.name)
        assert declared is not None
        assert declared.bucket is not None
        name = table.timestamp
        time = exp.Column(
            this=exp.to_identifier(name, quoted=needs_quotes(name)), table=column.args.get("table")
        )
        column.replace(print_bucket(declared.bucket, time, dialect))


def print_sliding(matches: str, variables: Sequence[str], panes: Panes, dialect: str) -> str:
    """Matches with the panes they lie in, once for each bucket of its pane: with the bucket's start
    in the place of the pane, and its end, if that is asked for.

    Args:
        matches: SQL whose columns are `variables`, one of which is the pane's.
        variables: names of columns.
        panes: what they are panes of.
        dialect: of the SQL.

    Raises:
        QueryError: the dialect is neither Spark's nor DuckDB's.
    """
    if dialect in SPARK:
        read, make, whole = "unix_micros", "timestamp_micros", "CAST(FLOOR({0}) AS BIGINT)"
        numbers = f"SELECT EXPLODE(SEQUENCE(0, {panes.buckets.most - 1})) AS n"
    elif dialect == "duckdb":
        read, make, whole = "EPOCH_US", "MAKE_TIMESTAMP", "FLOOR({0})::BIGINT"
        numbers = f"SELECT UNNEST(RANGE(0, {panes.buckets.most})) AS n"
    else:
        raise refuse_dialect(dialect)

    def quote(name: str) -> str:
        return _identifier(name).sql(dialect=dialect)

    buckets, pane = panes.buckets, f"{read}({quote(panes.variable)})"
    period, origin = buckets.period_us, buckets.origin_us
    start = f"{whole.format(f'({pane} - {origin}) / {period}')} * {period} + {origin}"
    if buckets.grows:
        end = f"{start} + (n + 1) * {buckets.slide_us}"
    else:
        start = f"{start} - n * {buckets.slide_us}"
        end = f"{start} + {buckets.size_us}"
    columns = [quote(v) for v in variables if v != panes.variable]
    columns.append(f"{make}({start}) AS {quote(panes.variable)}")
    if panes.ends is not None:
        columns.append(f"{make}({end}) AS {quote(panes.ends)}")
    inner = f"FROM (\n{indent(matches, '  ')}\n) AS panes CROSS JOIN ({numbers}) AS buckets"
    return f"SELECT {', '.join(columns)}\n{inner}\nWHERE {end} > {pane}"


def _identifier(name: str) -> exp.Identifier:
    from sqlglot import exp

    return exp.to_identifier(name, quoted=needs_quotes(name))
