"""Numbers as decimals of a declared type, and whole numbers of units as decimals."""

from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import DecimalType
from ontoweir.runtime.columnar.frame import Array


def fit_decimal(number: Decimal, declared: DecimalType) -> Decimal | None:
    """A number as the declared decimal, if it is one."""
    with localcontext() as context:
        context.prec = 120  # 81 digits before the point, 38 after it
        if not number.is_finite() or number.adjusted() > 80:
            return None
        exact = round(number, declared.scale)
        fits = exact == number and abs(exact) < 10 ** (declared.precision - declared.scale)
        return exact if fits else None


def encode_decimals(column: "pa.Array") -> Array:
    """The units of 10^-scale that decode_decimals made decimals of, where there is a number.

    >>> encode_decimals(decode_decimals(np.array([1250, -1]), pa.decimal128(19, 2))).tolist()
    [1250, -1]
    """
    words = np.frombuffer(column.buffers()[1], dtype="<i8")
    mine = words[2 * column.offset : 2 * (column.offset + len(column))]
    low: Array = mine[::2].astype(np.int64)
    return low


def decode_decimals(
    units: Array, kind: "pa.Decimal128Type", valid: Array | None = None
) -> "pa.Array":
    """Numbers of units of 10^-scale as decimals of a type, which has as many digits as they need.

    Args:
        units: int64; anything where not valid.
        kind: the type.
        valid: where there is a number (None: everywhere).

    >>> decode_decimals(np.array([1250, -1]), pa.decimal128(19, 2)).to_pylist()
    [Decimal('12.50'), Decimal('-0.01')]
    """
    words = np.empty((len(units), 2), dtype="<i8")
    words[:, 0], words[:, 1] = units, units >> 63
    mask = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(units), [mask, pa.py_buffer(words)])
