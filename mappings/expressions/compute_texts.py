"""Functions of texts."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Scalar
from ontoweir.mappings.model.expression import Call, Expression, Function, Value


def compute_text(call: Call, evaluate: "Callable[[Expression], pa.Array]") -> "pa.Array":
    """A function of texts.

    Args:
        call: what is computed.
        evaluate: gives the values of an argument; constants are taken as they are.
    """
    if call.function is Function.CONCAT:
        return pc.binary_join_element_wise(*map(evaluate, call.arguments), "")
    values, rest = evaluate(call.arguments[0]), call.arguments[1:]
    match call.function:
        case Function.UPPER:
            return pc.utf8_upper(values)
        case Function.LOWER:
            return pc.utf8_lower(values)
        case Function.UCASE:
            return _map_values(values, str.upper)
        case Function.LCASE:
            return _map_values(values, str.lower)
        case Function.TRIM:
            return pc.utf8_trim(values, " ")
        case Function.LTRIM:
            return pc.utf8_ltrim(values, " ")
        case Function.RTRIM:
            return pc.utf8_rtrim(values, " ")
        case Function.LENGTH:
            return pc.utf8_length(values).cast(pa.int64())
        case Function.SUBSTRING:
            start, *size = (_number(a) for a in rest)
            stop = start - 1 + size[0] if size else None
            return pc.utf8_slice_codeunits(values, start - 1, stop)
        case Function.RIGHT:
            return pc.utf8_slice_codeunits(values, -_number(rest[0]))
        case Function.REPLACE:
            return pc.replace_substring(values, _text(rest[0]), _text(rest[1]))
        case Function.CONTAINS:
            return pc.match_substring(values, _text(rest[0]))
        case Function.STARTS_WITH:
            return pc.starts_with(values, _text(rest[0]))
        case Function.ENDS_WITH:
            return pc.ends_with(values, _text(rest[0]))
        case Function.POSITION:
            return _position(values, _text(rest[0]))
        case Function.LIKE:
            return pc.match_like(values, _text(rest[0]))
        case Function.ILIKE:
            return pc.match_like(values, _text(rest[0]), ignore_case=True)
        case Function.MATCHES:
            return pc.match_substring_regex(values, _text(rest[0]))
        case Function.REGEX_REPLACE:
            return pc.replace_substring_regex(values, _text(rest[0]), _text(rest[1]))
        case _:
            raise AssertionError(f"{call.function} is no function of texts")


def _map_values(values: "pa.Array", change: Callable[[str], str]) -> "pa.Array":
    """Each distinct text changed once."""
    distinct = values.unique().drop_null()
    made = pa.array([change(text) for text in distinct.to_pylist()], pa.string())
    return made.take(pc.index_in(values, distinct))


def _position(values: "pa.Array", text: str) -> "pa.Array":
    if not text:
        return pc.if_else(pc.is_valid(values), pa.scalar(1), pa.scalar(None, pa.int64()))
    before = pc.list_element(pc.split_pattern(values, text, max_splits=1), 0)
    place = pc.add(pc.utf8_length(before).cast(pa.int64()), 1)
    return pc.if_else(pc.match_substring(values, text), place, pa.scalar(0))


def _constant(argument: Expression) -> Scalar | None:
    assert isinstance(argument, Value)
    return argument.value


def _number(argument: Expression) -> int:
    constant = _constant(argument)
    assert isinstance(constant, int)
    return constant


def _text(argument: Expression) -> str:
    constant = _constant(argument)
    assert isinstance(constant, str)
    return constant
