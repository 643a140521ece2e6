"""Functions of texts."""

import hashlib
import re
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.functions.percent_encode import percent_encode
from ontoweir.mappings.model.catalog import Scalar
from ontoweir.mappings.model.expression import Call, Expression, Function, Value

_INFINITE = "1e999"
"""More than any double; as a double it is infinite again."""


def _write_exactly(values: "pa.Array") -> "pa.Array":
    """Values as texts that are read as the same ones (Function.EXACT_TEXT)."""
    if pa.types.is_floating(values.type):
        return pc.replace_substring(values.cast(pa.string()), "inf", _INFINITE)
    if not pa.types.is_decimal(values.type) or values.type.scale <= 0:
        return values.cast(pa.string())
    # Arrow writes small ones with an exponent, as 1E-8
    scale, kind = values.type.scale, pa.decimal128(38, 0)
    values = values.cast(pa.decimal128(38, scale))
    whole = pa.Array.from_buffers(
        kind, len(values), values.buffers(), values.null_count, values.offset
    )
    texts = whole.cast(pa.string())
    digits = pc.utf8_lpad(pc.utf8_ltrim(texts, "-"), scale + 1, "0")
    before, after = (
        pc.utf8_slice_codeunits(digits, *ends) for ends in ((0, -scale), (-scale, None))
    )
    made = pc.binary_join_element_wise(before, after, ".")
    minus = pc.binary_join_element_wise("-", made, "")
    return pc.if_else(pc.starts_with(texts, "-"), minus, made)


def compute_text(call: Call, evaluate: "Callable[[Expression], pa.Array]") -> "pa.Array":
    """A function of texts.

    Args:
        call: what is computed.
        evaluate: gives the values of an argument; constants are taken as they are.
    """
    if call.function is Function.CONCAT:
        return pc.binary_join_element_wise(*map(evaluate, call.arguments), "")
    if call.function is Function.CONCAT_WS:
        between, *parts = call.arguments
        # Arrow 26 leaves a row out in which all are NULL, so an empty text is before them
        joined = ("", *map(evaluate, parts), _text(between))
        made = pc.binary_join_element_wise(*joined, null_handling="skip")
        return pc.utf8_slice_codeunits(made, len(_text(between)))
    values, rest = evaluate(call.arguments[0]), call.arguments[1:]
    match call.function:
        case Function.EXACT_TEXT:
            return _write_exactly(values)
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
            return _compute_part(call, values)


_DIGESTS = frozenset(
    {Function.MD5, Function.SHA1, Function.SHA256, Function.SHA384, Function.SHA512}
)


def _compute_part(call: Call, values: "pa.Array") -> "pa.Array":
    """A part of texts, or what is made of each of them."""
    rest = call.arguments[1:]
    match call.function:
        case Function.REVERSE:
            return pc.utf8_reverse(values)
        case Function.LEFT_PAD | Function.RIGHT_PAD:
            pad = pc.utf8_lpad if call.function is Function.LEFT_PAD else pc.utf8_rpad
            length = _number(rest[0])
            short = pc.utf8_slice_codeunits(values, 0, length)
            return pad(short, width=length, padding=_text(rest[1]))
        case Function.REPEAT:
            return pc.binary_repeat(values, _number(rest[0]))
        case Function.SPLIT_PART:
            return _list_part(values, _text(rest[0]), _number(rest[1]) - 1)
        case Function.BEFORE:
            there = pc.match_substring(values, _text(rest[0]))
            first = _list_part(values, _text(rest[0]), 0, max_splits=1)
            return pc.if_else(there, first, pc.if_else(pc.is_valid(values), "", None))
        case Function.AFTER:
            return _list_part(values, _text(rest[0]), 1, max_splits=1)
        case Function.URL_ENCODE:
            return _map_values(values, partial(quote, safe=""))
        case Function.IRI_ENCODE:
            return _map_values(values, percent_encode)
        case function if function in _DIGESTS:
            return _map_values(values, partial(_digest, call.function.value.lower()))
        case Function.REGEX_EXTRACT:
            found = partial(_extract, _as_re2(_text(rest[0])), _number(rest[1]))
            return _map_values(values, found)
        case _:
            raise AssertionError(f"{call.function} is no function of texts")


def _list_part(
    values: "pa.Array", text: str, place: int, max_splits: int | None = None
) -> "pa.Array":
    """A part between texts; empty where there are fewer."""
    if not text:  # before it there is nothing, and all is after it
        return values if place else pc.if_else(pc.is_valid(values), "", None)
    parts = pc.split_pattern(values, text, max_splits=max_splits)
    many = pc.fill_null(pc.greater(pc.list_value_length(parts), place), fill_value=False)
    enough = parts.filter(many)
    empty = pc.if_else(pc.is_valid(values), "", pa.scalar(None, pa.string()))
    if not len(enough):
        return empty
    return pc.replace_with_mask(empty, many, pc.list_element(enough, place))


def _digest(name: str, text: str) -> str:
    return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()


def _as_re2(pattern: str) -> "re.Pattern[str]":
    """A pattern of RE2 whose classes are those of ASCII, as there; `$` is the end of the text."""
    made, inside, n = [], False, 0
    while n < len(pattern):
        sign = pattern[n]
        if sign == "\\":
            made.append(pattern[n : n + 2])
            n += 2
            continue
        inside = (inside or sign == "[") and sign != "]"
        made.append(r"\Z" if sign == "$" and not inside else sign)
        n += 1
    return re.compile("".join(made), re.ASCII)


def _extract(pattern: "re.Pattern[str]", group: int, text: str) -> str:
    found = pattern.search(text)
    return "" if found is None else found[group] or ""


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
