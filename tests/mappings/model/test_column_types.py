"""Which numbers a column can hold."""

from decimal import Decimal

import pytest

from ontoweir.mappings.model.catalog import ColumnType, DecimalType, FloatType, IntType, Scalar
from ontoweir.mappings.model.column_types import is_value, parse_constant


@pytest.mark.parametrize(
    ("number", "kind", "held"),
    [
        ((1 << 63) - 1, IntType(), True),
        (-(1 << 63), IntType(), True),
        (1 << 63, IntType(), False),
        (Decimal("1.5"), IntType(), False),
        (Decimal("999.99"), DecimalType(5, 2), True),
        (-999, DecimalType(5, 2), True),
        (1000, DecimalType(5, 2), False),
        (Decimal("1.505"), DecimalType(5, 2), False),
        (0, DecimalType(2, 2), True),
        (1e300, FloatType(), True),
    ],
)
def test_numbers_of_a_type(number: Scalar, kind: ColumnType, held: bool) -> None:
    assert is_value(number, kind) is held


def test_no_double_is_that_large() -> None:
    assert parse_constant("1e308", FloatType()) == 1e308
    assert parse_constant("1e309", FloatType()) is None
