"""Formulas of bounds leave out columns of one value, such as the names that UNPIVOT makes."""

import pytest

from ontoweir.checker.plans.bound_table import _product
from ontoweir.checker.sizes.size_key import Factor

ONE, ROADS, BUCKETS = (
    Factor(1, "|s.kind| = 1"),
    Factor(55, "|road.id| = 55"),
    Factor(2, "2 buckets"),
)
STEP = Factor(1, "1 steps of s")


@pytest.mark.parametrize(
    ("factors", "rows", "formula"),
    [
        ([BUCKETS, ONE], 2, "2 buckets"),
        ([ONE, ROADS, BUCKETS, ONE], 110, "(|road.id| = 55) · (2 buckets)"),
        ([Factor(None, "|s.x|"), ONE], None, "|s.x|"),
        # twins: there is nothing else; it is no column; it has several values, or none
        ([ONE], 1, "|s.kind| = 1"),
        ([ROADS, STEP], 55, "(|road.id| = 55) · (1 steps of s)"),
        ([Factor(2, "|s.kind| = 2"), BUCKETS], 4, "(|s.kind| = 2) · (2 buckets)"),
        ([Factor(0, "|s.kind| = 0"), BUCKETS], 0, "(|s.kind| = 0) · (2 buckets)"),
    ],
)
def test_formulas(factors: list[Factor], rows: int | None, formula: str) -> None:
    bound = _product(factors)
    assert (bound.rows, bound.formula) == (rows, formula)
