"""The Arrow types that expressions compute with."""

from typing import assert_never

import pyarrow as pa

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)


def value_type(kind: ColumnType) -> pa.DataType:
    """The Arrow type of a type's values: timestamps in UTC, without a zone."""
    match kind:
        case IntType():
            return pa.int64()
        case DecimalType(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case FloatType():
            return pa.float64()
        case StringType():
            return pa.string()
        case BooleanType():
            return pa.bool_()
        case DateType():
            return pa.date32()
        case TimestampType():
            return pa.timestamp("us")
        case _:
            assert_never(kind)
