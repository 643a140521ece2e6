"""The values of derived columns, of a chunk's rows and of static relations."""

from collections.abc import Mapping, Set

import pyarrow as pa

from ontoweir.mappings.expressions.derive_column import read_columns as read_behind
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.mappings.model.expression import Expression, Field, fields_of
from ontoweir.runtime.columnar.convert_column import convert_column
from ontoweir.runtime.columnar.frame import Array


def derive_values(
    expression: Expression, stream: Stream, steps: Array, table: pa.Table
) -> "pa.ChunkedArray":
    """A derived column of a stream's rows.

    Args:
        expression: what is computed.
        stream: the stream.
        steps: the rows' timestamps.
        table: their columns.

    Raises:
        DataError: the expression has no value for a row.
    """
    columns = {}
    for name, field in fields_of(expression).items():
        if name == stream.timestamp:
            times = pa.array(steps * stream.step_us)
            columns[name] = times.cast(pa.timestamp("us"))
        else:
            columns[name] = _as_declared(table.column(name), field)
    made = evaluate(expression, columns, len(steps), stream.source)
    return pa.chunked_array([made])


def derive_relation(relation: Relation, table: pa.Table) -> pa.Table:
    """A static relation's rows with those derived columns whose columns are there.

    Raises:
        DataError: an expression has no value for a row.
    """
    for column in relation.columns:
        if column.expression is None or column.name in table.column_names:
            continue
        fields = fields_of(column.expression)
        if not fields.keys() <= set(table.column_names):
            continue
        columns = {name: _as_declared(table.column(name), f) for name, f in fields.items()}
        made = evaluate(column.expression, columns, table.num_rows, relation.source)
        table = table.append_column(column.name, made)
    return table


def derived_columns(
    catalog: Catalog, columns: Mapping[str, Set[str]]
) -> frozenset[tuple[str, str]]:
    """Those of some tables' columns that are derived."""
    return frozenset(
        (table, column.name)
        for table, names in columns.items()
        for column in catalog.table(table).columns
        if column.name in names and column.expression is not None
    )


def read_columns(catalog: Catalog, columns: Mapping[str, Set[str]]) -> dict[str, set[str]]:
    """The columns of the data behind some tables' columns."""
    return {t: read_behind(catalog.table(t), names) for t, names in columns.items()}


def _as_declared(column: "pa.ChunkedArray", field: Field) -> "pa.Array":
    """A column of the data as the type declared of it."""
    kind = value_type(field.type)
    if column.type != kind and not pa.types.is_null(column.type):
        column, _ = convert_column(column, field.type)
    return column.combine_chunks()
