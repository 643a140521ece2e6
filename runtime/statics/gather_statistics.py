"""What is known of the static data, for the planner."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from math import isfinite

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import ColumnStatistics, Statistics
from ontoweir.mappings.model.catalog import Scalar


def gather_statistics(tables: Mapping[str, pa.Table]) -> Statistics:
    """Rows of static relations, and of their columns the distinct values (NULL is none) and, for
    numbers and times, the extremes."""
    columns = {
        (name, column): _describe(table.column(column))
        for name, table in tables.items()
        for column in table.column_names
    }
    return Statistics({name: table.num_rows for name, table in tables.items()}, columns)


def _describe(column: "pa.ChunkedArray") -> ColumnStatistics:
    distinct = len(pc.unique(column)) - (column.null_count > 0)
    kind = column.type
    if distinct == 0 or pa.types.is_string(kind) or pa.types.is_boolean(kind):
        return ColumnStatistics(distinct)
    if pa.types.is_floating(kind):
        column = column.filter(pc.invert(pc.is_nan(column)))
    ends = pc.min_max(column).as_py()
    return ColumnStatistics(distinct, _scalar(ends["min"]), _scalar(ends["max"]))


def _scalar(value: object) -> Scalar | None:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return None  # an infinite extreme is not a limit
    return value if isinstance(value, int | float | Decimal | str) else None
