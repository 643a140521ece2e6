"""Evaluate an expression over whole columns, by the compute functions of Arrow.

This is the one evaluation: of rows that are replayed or arrive, of static relations, of the rows
of a witness, and of the values from which a domain is derived.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeAlias, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.errors import DataError, Source
from ontoweir.mappings.expressions.cast_values import cast_values
from ontoweir.mappings.expressions.compute_dates import compute_date_part, compute_time
from ontoweir.mappings.expressions.compute_numbers import compute_number
from ontoweir.mappings.expressions.compute_texts import compute_text
from ontoweir.mappings.expressions.functions import DATE_PARTS, NUMBERS, TEXTS, TIMES
from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.functions.call_function import call_function
from ontoweir.mappings.model.catalog import FloatType, IntType, StringType
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
)

Columns: TypeAlias = "Mapping[str, pa.Array]"
"""The columns that an expression reads, by name."""


def evaluate(
    expression: Expression, columns: Columns, rows: int, source: Source | None = None
) -> "pa.Array":
    """The value of each row, of the Arrow type that `value_type` gives.

    Args:
        expression: what to compute.
        columns: the columns that it reads, of types that hold those it states.
        rows: how many rows there are.
        source: where it is written, for messages.

    Raises:
        DataError: a result is beyond its type, or not a number (NaN).
    """
    try:
        made = _evaluate(expression, columns, rows)
        if isinstance(expression.type, FloatType):
            made = pc.add(made, 0.0)  # -0.0 is 0.0
            if pc.any(pc.is_nan(made)).as_py():
                raise _failed(expression, "it is not a number (NaN) for a row", source)
    except (pa.ArrowInvalid, OverflowError) as error:
        why = str(error).splitlines()[0]
        raise _failed(expression, f"a row's value is beyond its type: {why}", source) from None
    return made


def _failed(expression: Expression, why: str, source: Source | None) -> DataError:
    return DataError(
        f"{write_expression(expression)} has no value",
        why=why,
        fix="declare min and max of the columns that it reads, so that such rows are rejected; or "
        "write it with CASE or TRY_CAST",
        source=source,
    )


def _evaluate(expression: Expression, columns: Columns, rows: int) -> "pa.Array":
    match expression:
        case Field(column=name, type=kind):
            return _typed(columns[name], value_type(kind))
        case Value(value=constant, type=kind):
            return pa.repeat(_scalar(constant, value_type(kind)), rows)
        case Case():
            return _evaluate_case(expression, columns, rows)
        case Call(function=Function.COALESCE, arguments=arguments):
            made = _evaluate(arguments[0], columns, rows)
            for argument in arguments[1:]:
                if made.null_count == 0:
                    break
                other = _evaluate_where(argument, pc.is_null(made), columns, rows)
                made = pc.coalesce(made, other)
            return made
        case Call():
            return _evaluate_call(expression, columns, rows)
        case UserCall(function=called, arguments=arguments):
            given = [_evaluate(a, columns, rows) for a in arguments]
            return call_function(called, given, value_type(expression.type))
        case _:
            assert_never(expression)


def _evaluate_case(case: Case, columns: Columns, rows: int) -> "pa.Array":
    left = pa.repeat(pa.scalar(True), rows)
    made = pa.nulls(rows, value_type(case.type))
    for condition, value in case.branches:
        holds = pc.and_(
            left, pc.fill_null(_evaluate_where(condition, left, columns, rows), fill_value=False)
        )
        made = pc.if_else(holds, _evaluate_where(value, holds, columns, rows), made)
        left = pc.and_not(left, holds)
    return pc.if_else(left, _evaluate_where(case.otherwise, left, columns, rows), made)


def _evaluate_where(
    expression: Expression, wanted: "pa.Array", columns: Columns, rows: int
) -> "pa.Array":
    """The values where they are wanted: elsewhere nothing is beyond its type."""
    try:
        return _evaluate(expression, columns, rows)
    except (pa.ArrowInvalid, OverflowError, DataError):
        index = pc.indices_nonzero(wanted).cast(pa.int64())
        some = {name: column.take(index) for name, column in columns.items()}
        made = _evaluate(expression, some, len(index))
        return pc.replace_with_mask(pa.nulls(rows, made.type), wanted, made)


def _evaluate_call(call: Call, columns: Columns, rows: int) -> "pa.Array":
    function, kind = call.function, call.type
    if function in NUMBERS:
        given = [_evaluate(a, columns, rows) for a in call.arguments]
        return compute_number(call, given)
    if function in TEXTS:
        return compute_text(call, lambda a: _evaluate(a, columns, rows))
    if function in DATE_PARTS:
        return compute_date_part(function, _evaluate(call.arguments[0], columns, rows))
    if function in TIMES:
        time = next(a for a in call.arguments if not isinstance(a.type, IntType | StringType))
        return compute_time(call, _evaluate(time, columns, rows))
    if function in (Function.CAST, Function.TRY_CAST):
        inner = call.arguments[0]
        values = _evaluate(inner, columns, rows)
        return cast_values(values, inner.type, kind, trying=function is Function.TRY_CAST)
    given = [_evaluate(a, columns, rows) for a in call.arguments]
    if function in _COMPARISONS:
        return _COMPARISONS[function](*given)
    match function:
        case Function.AND:
            return pc.and_kleene(*given)
        case Function.OR:
            return pc.or_kleene(*given)
        case Function.NOT:
            return pc.invert(given[0])
        case Function.IS_NULL:
            return pc.is_null(given[0])
        case _:
            raise AssertionError(f"{function} is in no group of functions")


_COMPARISONS: "dict[Function, Callable[[pa.Array, pa.Array], pa.Array]]" = {
    Function.EQUAL: pc.equal,
    Function.UNEQUAL: pc.not_equal,
    Function.LESS: pc.less,
    Function.AT_MOST: pc.less_equal,
    Function.GREATER: pc.greater,
    Function.AT_LEAST: pc.greater_equal,
}


def _typed(column: "pa.Array | pa.ChunkedArray", kind: pa.DataType) -> "pa.Array":
    """A column of the data in the type that expressions compute with."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if column.type == kind else column.cast(kind)


def _scalar(constant: object, kind: pa.DataType) -> "pa.Scalar":
    if constant is None:
        return pa.scalar(None, kind)
    if pa.types.is_decimal(kind):
        return pa.scalar(Decimal(str(constant)), kind)
    if isinstance(constant, str) and not pa.types.is_string(kind):
        return pa.scalar(constant).cast(kind)
    return pa.scalar(constant, kind)
