"""Arithmetic: whole numbers and decimals exactly, doubles as IEEE 754 has it."""

from collections.abc import Callable
from decimal import Decimal
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import DecimalType, FloatType, IntType
from ontoweir.mappings.model.expression import Call, Function, Value

_WIDEST = 76
"""So many digits have Arrow's widest decimals."""
_PARTS = 128
"""Half of them lie between a half and 1."""


def compute_number(call: Call, given: "list[pa.Array]") -> "pa.Array":
    """A function of numbers.

    Args:
        call: what is computed; its type is the result's.
        given: the arguments' values.

    Raises:
        pyarrow.ArrowInvalid: a result is beyond its type.
    """
    match call.function:
        case Function.ADD | Function.SUBTRACT | Function.MULTIPLY:
            return _compute(call, *given)
        case Function.DIVIDE:
            divisor = pc.if_else(pc.equal(given[1], 0.0), pa.scalar(None, pa.float64()), given[1])
            return pc.divide(given[0], divisor)
        case Function.MODULO:
            return _modulo(call, *given)
        case Function.POWER:
            return pc.power(*given)
        case Function.ROUND_RELATIVE:
            return _round_relative(given[0])
        case Function.SQRT:
            return pc.sqrt(given[0])
        case Function.INTEGER_DIVIDE:
            none = pa.scalar(None, pa.int64())
            return pc.divide_checked(given[0], pc.if_else(pc.equal(given[1], 0), none, given[1]))
        case Function.BIT_AND:
            return pc.bit_wise_and(*given)
        case Function.BIT_OR:
            return pc.bit_wise_or(*given)
        case Function.LN | Function.LOG10 | Function.LOG2:
            none = pa.scalar(None, pa.float64())
            return _LOGARITHMS[call.function](
                pc.if_else(pc.less_equal(given[0], 0.0), none, given[0])
            )
        case Function.SIGN:
            return pc.sign(given[0]).cast(pa.int64())
        case function if function in _OF_DOUBLES:
            return _of_doubles(_OF_DOUBLES[function], given)
        case Function.NEGATE:
            return pc.negate_checked(given[0])
        case Function.ABS:
            return pc.abs_checked(given[0])
        case Function.FLOOR | Function.CEIL:
            if isinstance(call.arguments[0].type, IntType):
                return given[0]
            rounded = (pc.floor if call.function is Function.FLOOR else pc.ceil)(
                _widened(given[0], call)
            )
            return rounded.cast(value_type(call.type))
        case Function.ROUND:
            return _round(call, given[0], "half_towards_infinity")
        case Function.ROUND_UP:
            return _round(call, given[0], "half_up")
        case Function.GREATEST:
            return pc.max_element_wise(*given, skip_nulls=True)
        case Function.LEAST:
            return pc.min_element_wise(*given, skip_nulls=True)
        case _:
            raise AssertionError(f"{call.function} is no function of numbers")


_LOGARITHMS: "dict[Function, Callable[[pa.Array], pa.Array]]" = {
    Function.LN: pc.ln,
    Function.LOG10: pc.log10,
    Function.LOG2: pc.log2,
}
_OF_DOUBLES: "dict[Function, Callable[..., np.ndarray[tuple[int], np.dtype[np.float64]]]]" = {
    Function.CBRT: np.cbrt,
    Function.EXP: np.exp,
    Function.SIN: np.sin,
    Function.COS: np.cos,
    Function.TAN: np.tan,
    Function.ASIN: np.arcsin,
    Function.ACOS: np.arccos,
    Function.ATAN: np.arctan,
    Function.ATAN2: np.arctan2,
    Function.DEGREES: np.degrees,
    Function.RADIANS: np.radians,
}


def _of_doubles(
    compute: "Callable[..., np.ndarray[tuple[int], np.dtype[np.float64]]]", given: "list[pa.Array]"
) -> "pa.Array":
    """A function of numpy's; NULL where an argument is."""
    valid = reduce(pc.and_, map(pc.is_valid, given))
    numbers = [pc.fill_null(side, 0.0).to_numpy(zero_copy_only=False) for side in given]
    with np.errstate(all="ignore"):
        made = pa.array(compute(*numbers))
    return pc.if_else(valid, made, pa.scalar(None, pa.float64()))


def _round_relative(values: "pa.Array") -> "pa.Array":
    """Doubles to the middles of 64 parts between powers of 2, which are doubles themselves: exact,
    so everywhere the same. 0, infinities and NaN stay."""
    numbers = pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False)
    part, exponent = np.frexp(np.abs(numbers))  # of a half to less than 1
    middle = np.ldexp((np.floor(part * _PARTS) + 0.5) / _PARTS, exponent)
    stays = (numbers == 0) | ~np.isfinite(numbers)
    made = pa.array(np.where(stays, numbers, np.copysign(middle, numbers)))
    return pc.if_else(pc.is_valid(values), made, pa.scalar(None, pa.float64()))


def _compute(call: Call, left: "pa.Array", right: "pa.Array") -> "pa.Array":
    checked = {
        Function.ADD: pc.add_checked,
        Function.SUBTRACT: pc.subtract_checked,
        Function.MULTIPLY: pc.multiply_checked,
    }
    compute = checked[call.function]
    if not isinstance(call.type, DecimalType):
        return compute(left, right)
    if call.function is Function.MULTIPLY:
        digits = left.type.precision + right.type.precision + 1
    else:
        scale = max(left.type.scale, right.type.scale)
        whole = max(s.type.precision - s.type.scale for s in (left, right))
        digits = whole + scale + 1
    if digits > 38:
        left, right = (
            s.cast(pa.decimal256(min(s.type.precision, _WIDEST // 2 - 1), s.type.scale))
            for s in (left, right)
        )
    return compute(left, right).cast(value_type(call.type))


def _modulo(call: Call, left: "pa.Array", right: "pa.Array") -> "pa.Array":
    kind = call.type
    if isinstance(kind, DecimalType):  # of at most 18 digits: as whole numbers of the last place
        left, right = (_count_places(side, kind.scale) for side in (left, right))
    right = pc.if_else(
        pc.equal(right, pa.scalar(0, right.type)), pa.scalar(None, right.type), right
    )
    valid = pc.and_(pc.is_valid(left), pc.is_valid(right))
    dividend = pc.fill_null(left, 0).to_numpy(zero_copy_only=False)
    divisor = pc.fill_null(right, 1).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        made = pa.array(np.fmod(dividend, divisor))
    made = pc.if_else(valid, made, pa.scalar(None, made.type))
    if not isinstance(kind, DecimalType):
        return made
    place = pa.scalar(Decimal(1).scaleb(-kind.scale), pa.decimal128(kind.scale + 1, kind.scale))
    return pc.multiply(made.cast(pa.decimal128(19, 0)), place).cast(value_type(kind))


def _count_places(values: "pa.Array", scale: int) -> "pa.Array":
    """Decimals as the whole numbers of their last places."""
    factor = pa.scalar(Decimal(10**scale), pa.decimal128(scale + 1, 0))
    return pc.multiply(values, factor).cast(pa.int64())


def _widened(values: "pa.Array", call: Call) -> "pa.Array":
    """Decimals with room for one digit more."""
    if not isinstance(call.type, DecimalType):
        return values
    return values.cast(pa.decimal256(min(values.type.precision + 1, _WIDEST), values.type.scale))


def _round(call: Call, values: "pa.Array", mode: str) -> "pa.Array":
    if isinstance(call.arguments[0].type, IntType):
        return values
    places = 0
    if len(call.arguments) > 1:
        constant = call.arguments[1]
        assert isinstance(constant, Value)
        assert isinstance(constant.value, int)
        places = constant.value
    if isinstance(call.type, FloatType):
        if places == 0:
            return pc.round(values, 0, mode)
        factor = 10.0**places
        moved = pc.divide(pc.round(pc.multiply(values, factor), 0, mode), factor)
        return pc.if_else(pc.is_finite(moved), moved, values)
    return pc.round(_widened(values, call), places, mode).cast(value_type(call.type))
