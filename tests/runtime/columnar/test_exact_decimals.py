"""Numbers of units as decimals, as Python's own decimals have them."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.runtime.columnar.exact_decimals import decode_decimals


@pytest.mark.parametrize("kind", [pa.decimal128(19, 0), pa.decimal128(19, 2), pa.decimal128(38, 9)])
def test_decimals_of_units(kind: pa.Decimal128Type) -> None:
    units = np.array([0, 1, -1, 1250, 1 << 62, -(1 << 63), (1 << 63) - 1])
    valid = np.array([True, False, True, True, True, True, True])
    exact = [Decimal(n).scaleb(-kind.scale) for n in units.tolist()]
    whole = decode_decimals(units, kind)
    whole.validate(full=True)
    assert whole.equals(pa.array(exact, kind))
    some = decode_decimals(units, kind, valid)
    some.validate(full=True)
    assert some.equals(pa.array(exact, kind, mask=~valid))
    assert decode_decimals(units[:0], kind).equals(pa.array([], kind))
