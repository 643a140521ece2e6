"""An aggregate as a column of Arrow."""

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.exact_decimals import decode_decimals
from ontoweir.runtime.results.aggregate_columns import ArgumentScale
from ontoweir.runtime.results.update_groups import AggregateValues


def render_aggregate(
    shown: AggregateValues, kind: pa.DataType, scale: ArgumentScale | None
) -> "pa.Array":
    """An aggregate as a column of the results."""
    column, absent = shown.values, None if shown.valid.all() else ~shown.valid
    if column.dtype == object:
        return pa.array(column, kind, mask=absent)
    if absent is not None:
        column = np.where(absent, 0, column)
    if pa.types.is_decimal(kind):
        assert scale is not None
        assert scale.scale == kind.scale
        return decode_decimals(column, kind, None if absent is None else ~absent)
    if pa.types.is_date(kind):
        return pa.array(column.astype(np.int32), mask=absent).cast(kind)
    return pa.array(column, mask=absent).cast(kind)
