"""The values of derived columns, of a chunk's rows and of static relations."""

import pyarrow as pa

from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.mappings.model.expression import Expression, Field, fields_of
from ontoweir.runtime.columnar.convert_column import convert_column
from ontoweir.runtime.ingest.admit_rows import Admitted


def derive_values(expression: Expression, stream: Stream, rows: Admitted) -> "pa.ChunkedArray":
    """A derived column of admitted rows.

    Raises:
        DataError: the expression has no value for a row.
    """
    columns = {}
    for name, field in fields_of(expression).items():
        if name == stream.timestamp:
            times = pa.array(rows.steps * stream.step_us)
            columns[name] = times.cast(pa.timestamp("us"))
        else:
            columns[name] = _as_declared(rows.table.column(name), field)
    made = evaluate(expression, columns, len(rows.steps), stream.source)
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


def _as_declared(column: "pa.ChunkedArray", field: Field) -> "pa.Array":
    """A column of the data as the type declared of it."""
    kind = value_type(field.type)
    if column.type != kind and not pa.types.is_null(column.type):
        column, _ = convert_column(column, field.type)
    return column.combine_chunks()
