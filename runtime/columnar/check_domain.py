"""Declared column domains, on Arrow columns."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import (
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
from ontoweir.runtime.columnar.exact_decimals import fit_decimal
from ontoweir.runtime.columnar.frame import Array

_TABLE = 1 << 20
"""Whole numbers up to so far apart are looked up in a table of bits."""


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
    if pa.types.is_dictionary(values.type):
        return pa.chunked_array([_check_coded(c, column) for c in values.chunks], pa.bool_())
    good = pc.is_valid(values) if column.enum is None else _listed(values, column.enum)
    if column.minimum is not None:
        side, bound = _comparable(values, column.minimum, column.type)
        good = pc.and_(good, pc.fill_null(pc.greater_equal(side, bound), False))
    if column.maximum is not None:
        side, bound = _comparable(values, column.maximum, column.type)
        good = pc.and_(good, pc.fill_null(pc.less_equal(side, bound), False))
    return pc.or_(good, pc.is_null(values))


def _check_coded(values: "pa.DictionaryArray", column: Column) -> "pa.Array":
    """As check_domain, of texts by their dictionary, each of which is looked at once."""
    good = check_domain(pa.chunked_array([values.dictionary]), column).combine_chunks()
    return pc.fill_null(good.take(values.indices), True)


def lies_inside(values: "pa.ChunkedArray", column: Column) -> bool:
    """Whether all values lie in the column's domain, where their extremes show it; False says
    nothing."""
    if column.enum is not None or not pa.types.is_integer(values.type):
        return False
    if isinstance(column.minimum, str) or isinstance(column.maximum, str):
        return False
    ends = pc.min_max(values).as_py()
    low, high = ends["min"], ends["max"]
    return low is None or (
        (column.minimum is None or low >= column.minimum)
        and (column.maximum is None or high <= column.maximum)
    )


def find_held(values: "pa.ChunkedArray", among: "pa.ChunkedArray | pa.Array") -> Array | None:
    """Which values are NULL or among others (None: all)."""
    if values.null_count == len(values) or _all_held(values, among):  # none have no type
        return None
    if pa.types.is_signed_integer(values.type) and pa.types.is_integer(among.type):
        values = values.cast(pa.int64())  # a narrower type would cut off what is looked for
    held = pc.is_in(values, among.cast(values.type, safe=False))
    mask: Array = pc.or_(held, pc.is_null(values)).to_numpy()
    return None if mask.all() else mask


def _all_held(values: "pa.ChunkedArray", among: "pa.ChunkedArray | pa.Array") -> bool:
    """Whether all values are among others, by a table of whole numbers; False says nothing."""
    kinds = (values.type, among.type)
    if not all(map(pa.types.is_signed_integer, kinds)) or values.null_count or among.null_count:
        return False
    if not len(among) or not len(values):
        return False
    ends, spans = pc.min_max(values).as_py(), pc.min_max(among).as_py()
    low, high = spans["min"], spans["max"]
    if ends["min"] < low or ends["max"] > high or high - low > _TABLE:
        return False
    there = np.zeros(high - low + 1, dtype=np.bool_)
    there[among.to_numpy().astype(np.int64, copy=False) - low] = True
    return all(
        bool(there[np.subtract(chunk.to_numpy(), low, dtype=np.int64)].all())
        for chunk in values.chunks
    )


def _listed(values: "pa.ChunkedArray", enum: tuple[Scalar, ...]) -> "pa.ChunkedArray":
    if pa.types.is_integer(values.type):
        whole = [int(v) for v in enum if not isinstance(v, str) and v == int(v)]
        return pc.is_in(values.cast(pa.int64()), pa.array(whole, pa.int64()))
    if pa.types.is_decimal(values.type):
        members = [Decimal(str(v)) for v in enum]  # 2 beside 0.5: Arrow wants one type
        kind = DecimalType(values.type.precision, values.type.scale)
        fitting = [d for d in members if fit_decimal(d, kind) is not None]
        return pc.is_in(values, pa.array(fitting, values.type))
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0
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
