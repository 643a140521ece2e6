"""The rows of groups as the query asks for them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.runtime.columnar.frame import Array, first_of, group_codes, pack
from ontoweir.runtime.columnar.runs import order_rows
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.pool.text_columns import order_columns
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.render_results import AT, result_type


def shape_schema(aggregation: Aggregation, rows: pa.Schema) -> pa.Schema:
    """The columns of answers, where groups have those of `rows`: as selected, then `at`."""
    computed = {name: result_type(made.type) for name, made in aggregation.computed}
    fields = [
        pa.field(name, computed[name]) if name in computed else rows.field(name)
        for name in aggregation.columns
    ]
    return pa.schema([*fields, rows.field(AT)])


def shape_rows(aggregation: Aggregation, rows: pa.Table) -> pa.Table:
    """The answers that rows of groups make, in their order: those of which HAVING is true, with
    what is computed of them.

    Args:
        aggregation: of the query.
        rows: the group's variables, all aggregates, and `at`.

    Raises:
        DataError: what is computed of a row is beyond its type.
    """
    schema = shape_schema(aggregation, rows.schema)
    if aggregation.shows_rows:
        return rows.select(schema.names)
    if rows.num_rows == 0:
        return schema.empty_table()
    if aggregation.having is not None:
        rows = rows.filter(find_holding(aggregation, rows))
    columns = _columns(rows)
    for name, made in aggregation.computed:
        kind = schema.field(name).type
        columns[name] = evaluate(made, columns, rows.num_rows).cast(kind)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def find_fresh(aggregation: Aggregation, rows: pa.Table, groups: Array, old: int) -> "Array":
    """Which rows of groups, from row `old` on, make an answer that is another than the one before
    in their group: a mask.

    Args:
        aggregation: of the query.
        rows: of groups; the first `old` are what was there before, at most one of a group.
        groups: the group of every row; those from `old` on are in order of groups, then of time.
    """
    held = np.arange(rows.num_rows)
    if aggregation.having is not None:
        held = np.flatnonzero(find_holding(aggregation, rows).to_numpy(zero_copy_only=False))
    answers = shape_rows(replace(aggregation, having=None), rows.take(pa.array(held)))
    codes, _ = code_rows(answers, list(aggregation.columns))
    mine = groups[held]
    order = np.lexsort((held, mine))
    mine, codes = mine[order], codes[order]
    repeated = np.zeros(len(order), dtype=np.bool_)
    repeated[1:] = (mine[1:] == mine[:-1]) & (codes[1:] == codes[:-1])
    fresh = np.zeros(rows.num_rows, dtype=np.bool_)
    fresh[held[order[~repeated]]] = True
    return fresh[old:]


def find_holding(aggregation: Aggregation, rows: pa.Table) -> "pa.Array":
    """Of which rows HAVING is true."""
    assert aggregation.having is not None
    source = aggregation.having_source
    holds = evaluate(aggregation.having, _columns(rows), rows.num_rows, source)
    return pc.fill_null(holds, fill_value=False)


def _columns(rows: pa.Table) -> "dict[str, pa.Array]":
    return {name: rows.column(name).combine_chunks() for name in rows.column_names}


def order_groups(keys: pa.Table, places: Array, at: Array, texts: TextTable) -> Array:
    """The order of groups at some places, which may repeat, by `at`, then by what they are of:
    texts, which are codes of `texts`, by their code points."""
    kinds = keys.schema.types
    if all(map(pa.types.is_signed_integer, kinds)) and not any(c.null_count for c in keys.columns):
        found = (c.take(pa.array(places)).to_numpy() for c in keys.columns)
        return order_rows(*pack([at, *(c.astype(np.int64, copy=False) for c in found)], len(at)))
    codes, count = group_codes([places], len(places))
    ranks = np.zeros(count, dtype=np.int64)
    once = keys.take(pa.array(places[first_of(codes, count)]))
    ranks[order_columns(once, texts)] = np.arange(count)
    return order_rows(*pack([at, ranks[codes]], len(codes)))
