"""The Arrow types that expressions compute with, and values of the catalog as these."""

from collections.abc import Sequence
from decimal import Decimal
from typing import assert_never

import pyarrow as pa

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
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


def to_array(values: "Sequence[Scalar | None]", kind: ColumnType) -> "pa.Array":
    """Values as the catalog has them, as an Arrow column."""
    wanted = value_type(kind)
    if isinstance(kind, DecimalType):
        exact = [None if v is None else Decimal(str(v)) for v in values]
        return pa.array(exact, wanted)
    if isinstance(kind, DateType | TimestampType):
        return pa.array(values, pa.string()).cast(wanted)
    if isinstance(kind, FloatType):
        return pa.array([None if v is None else float(v) for v in values], wanted)
    return pa.array(values, wanted)


def to_scalars(made: "pa.Array", kind: ColumnType) -> "list[Scalar]":
    """The values of a column that are not NULL, as the catalog has them."""
    values = [v for v in made.to_pylist() if v is not None]
    match kind:
        case DateType():
            return [v.isoformat() for v in values]
        case TimestampType():
            return [v.isoformat(" ", timespec="microseconds") for v in values]
        case DecimalType():
            return [int(v) if v == v.to_integral_value() else v for v in values]
        case _:
            return values
