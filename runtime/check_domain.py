"""Declared column domains, on Arrow columns."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    StringType,
    TimestampType,
)


def arrow_type(kind: ColumnType) -> pa.DataType:
    """The Arrow type of a declared type's values."""
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
            return pa.timestamp("us", tz="UTC")


def check_domain(values: "pa.ChunkedArray", column: Column) -> "pa.ChunkedArray":
    """Which values lie in the column's declared domain (NULL does): a boolean column."""
    good = pc.is_valid(values) if column.enum is None else _listed(values, column.enum)
    if column.minimum is not None:
        side, bound = _comparable(values, column.minimum, column.type)
        good = pc.and_(good, pc.fill_null(pc.greater_equal(side, bound), False))
    if column.maximum is not None:
        side, bound = _comparable(values, column.maximum, column.type)
        good = pc.and_(good, pc.fill_null(pc.less_equal(side, bound), False))
    return pc.or_(good, pc.is_null(values))


def _listed(values: "pa.ChunkedArray", enum: tuple[Scalar, ...]) -> "pa.ChunkedArray":
    if pa.types.is_integer(values.type):
        whole = [int(v) for v in enum if not isinstance(v, str) and v == int(v)]
        return pc.is_in(values, pa.array(whole, values.type))
    return pc.is_in(values, pa.array(enum).cast(values.type))


def _comparable(
    values: "pa.ChunkedArray", bound: Scalar, kind: ColumnType
) -> tuple["pa.ChunkedArray", "pa.Scalar"]:
    """Values and bound as types that Arrow compares."""
    if isinstance(kind, TimestampType):
        zoned = pa.timestamp("us", tz="UTC")
        naive = pa.scalar(str(bound)).cast(pa.timestamp("us"))
        return values.cast(zoned), naive.cast(pa.int64()).cast(zoned)
    if isinstance(bound, str):
        return values.cast(pa.date32()), pa.scalar(bound).cast(pa.date32())
    if pa.types.is_floating(values.type):
        return values, pa.scalar(float(bound))
    if isinstance(bound, Decimal | float) and pa.types.is_integer(values.type):
        return values.cast(pa.float64()), pa.scalar(float(bound))
    return values, pa.scalar(bound if isinstance(bound, int) else Decimal(str(bound)))
