"""Calls a user's function over whole columns."""

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from math import isnan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import UserFunction

_HANDLE = "handle such values in it, or declare min and max, so that such rows are rejected"


def call_function(
    function: UserFunction, given: "Sequence[pa.Array]", kind: "pa.DataType"
) -> "pa.Array":
    """The value of each row. A row with NULL for a parameter that is not Optional is NULL.

    Args:
        function: what is called.
        given: a column for each parameter, as long as there are rows.
        kind: the Arrow type of the result.

    Raises:
        DataError: it raised an exception, or returned what its annotation does not say.
        UsageError: its module is not there any more, or another one than was read.
    """
    called = _load(function)
    absent: pa.Array | None = None
    for column, parameter in zip(given, function.parameters, strict=True):
        if column.null_count and not parameter.optional:
            null = pc.is_null(column)
            absent = null if absent is None else pc.or_(absent, null)
    if function.arrays:
        return _call_once(function, called, given, absent, kind)
    skipped = [False] * len(given[0]) if absent is None else absent.to_pylist()
    rows = zip(*(column.to_pylist() for column in given), strict=True)
    values = [
        None if skip else _call(function, called, row)
        for skip, row in zip(skipped, rows, strict=True)
    ]
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError) as error:
        raise _failed(
            function,
            f"returned what is beyond its type: {str(error).splitlines()[0]}",
            "whole numbers have 64 bits, and decimals six places",
        ) from None


def _call(function: UserFunction, called: Callable[..., Any], row: tuple[Any, ...]) -> Any:
    try:
        made = called(*row)
    except Exception as error:
        shown = f"{type(error).__name__}: {error}".splitlines()[0]
        raise _failed(function, f"raised {shown}, for {_show(row)}", _HANDLE) from error
    if made is None and function.result.optional:
        return None
    match function.result.type, made:
        case (BooleanType(), bool()) | (StringType(), str()):
            return made
        case (IntType(), int()) if not isinstance(made, bool):
            return made
        case FloatType(), int() | float() if not isinstance(made, bool) and not isnan(made):
            return float(made) + 0.0  # -0.0 is 0.0
        case (DecimalType(), Decimal()) if made.is_finite():
            return made
        case TimestampType(), datetime():
            return made if made.tzinfo is None else made.astimezone(UTC).replace(tzinfo=None)
        case _:
            pass
    raise _failed(
        function,
        f"returned {made!r}, of type {type(made).__name__}, for {_show(row)}",
        "return what its annotation says, or annotate what it returns; None needs Optional",
    )


def _call_once(
    function: UserFunction,
    called: Callable[..., Any],
    given: "Sequence[pa.Array]",
    absent: "pa.Array | None",
    kind: "pa.DataType",
) -> "pa.Array":
    """The function of whole columns."""
    rows = len(given[0])
    try:
        made = called(*given)
    except Exception as error:
        shown = f"{type(error).__name__}: {error}".splitlines()[0]
        raise _failed(function, f"raised {shown}, for {rows} rows", _HANDLE) from error
    if isinstance(made, pa.ChunkedArray):
        made = made.combine_chunks()
    fix = "return an Arrow array as long as those that it is given, of the type annotated"
    if not isinstance(made, pa.Array) or len(made) != rows:
        size = f" with {len(made)} values" if isinstance(made, pa.Array) else ""
        raise _failed(function, f"returned {type(made).__name__}{size} for {rows} rows", fix)
    if not _fits(made.type, function) and not pa.types.is_null(made.type):
        raise _failed(function, f"returned an array of {made.type}", fix)
    try:
        made = made.cast(kind)
    except pa.ArrowInvalid as error:
        why = str(error).splitlines()[0]
        raise _failed(function, f"returned what is beyond its type: {why}", fix) from None
    if absent is not None:
        made = pc.if_else(absent, pa.scalar(None, kind), made)
    left = made.null_count - (0 if absent is None else pc.sum(absent).as_py() or 0)
    if left and not function.result.optional:
        raise _failed(function, "returned NULL for a row", "annotate the result as Optional")
    if pa.types.is_floating(kind):
        made = pc.add(made, 0.0)  # -0.0 is 0.0
        if pc.any(pc.is_nan(made)).as_py():
            raise _failed(function, "returned NaN for a row", "return NULL, annotated as Optional")
    return made


def _fits(kind: "pa.DataType", function: UserFunction) -> bool:
    """Whether an Arrow type is one of the annotated type."""
    is_type = pa.types
    whole = bool(is_type.is_integer(kind))
    match function.result.type:
        case IntType():
            return whole
        case FloatType():
            return whole or bool(is_type.is_floating(kind))
        case DecimalType():
            return whole or bool(is_type.is_decimal(kind))
        case StringType():
            return bool(is_type.is_string(kind) or is_type.is_large_string(kind))
        case BooleanType():
            return bool(is_type.is_boolean(kind))
        case _:
            return bool(is_type.is_timestamp(kind))


def _show(row: tuple[Any, ...]) -> str:
    shown = f"({', '.join(map(repr, row))})"
    return shown if len(shown) <= 120 else f"{shown[:117]}…)"


def _failed(function: UserFunction, what: str, fix: str) -> DataError:
    return DataError(
        f"the function {function.name} {what}",
        why="it is computed for each row",
        fix=fix,
        source=Source(function.file, function.line),
    )


@cache
def _load(function: UserFunction) -> Callable[..., Any]:
    """The function itself, of a module made from the very source that was read: a module of the
    same name that Python has imported may be an older one.

    Raises:
        UsageError: its module is not as it was read, or does not run.
    """
    file, here = Path(function.file), Source(function.file, function.line)
    content = file.read_bytes() if file.is_file() else b""
    if sha256(content).hexdigest() != function.digest:
        raise UsageError(
            f"the module {function.module} is not the one that was read",
            why="its source has changed, or is not on this machine: Spark's tasks read it where "
            "they run",
            fix="start again; on a cluster, put the module at the same path on every machine",
            source=here,
        )
    steps, whole = function.module.split("."), file.name == "__init__.py"
    root = str(file.parents[len(steps) if whole else len(steps) - 1])
    if root not in sys.path:
        sys.path.insert(0, root)  # for what it imports
    name = f"{function.module}@{function.digest[:12]}"
    spec = spec_from_file_location(
        name, file, submodule_search_locations=[str(file.parent)] if whole else None
    )
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)
        called: Callable[..., Any] = getattr(module, function.name)
    except Exception as error:
        raise UsageError(
            f"the module {function.module} does not run: {type(error).__name__}: {error}",
            why=f"the function {function.name} is in it",
            fix="mend it, or install what it imports",
            source=here,
        ) from error
    return called
