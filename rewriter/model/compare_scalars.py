"""Comparisons of constants."""

from typing import assert_never

from ontoweir.mappings.model.catalog import Scalar
from ontoweir.rewriter.model.spj import Op


def compare_scalars(left: Scalar, op: Op, right: Scalar) -> bool:
    """`left op right` for constants of one type."""
    if isinstance(left, str) != isinstance(right, str):
        return op is Op.NE
    before, equal = left < right, left == right  # type: ignore[operator]
    match op:
        case Op.EQ:
            return equal
        case Op.NE:
            return not equal
        case Op.LT:
            return before
        case Op.LE:
            return before or equal
        case Op.GE:
            return not before
        case Op.GT:
            return not before and not equal
        case _ as unreachable:
            assert_never(unreachable)
