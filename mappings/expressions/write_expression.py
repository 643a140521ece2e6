"""An expression as SQL, in the words of DuckDB; also the name of a derived column."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import assert_never

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
)
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.mappings.model.time_bucket import MONDAY_US

_EPOCH = datetime(1970, 1, 1)
_BINDING = {
    Function.OR: 1,
    Function.AND: 2,
    Function.NOT: 3,
    Function.IS_NULL: 4,
    Function.LIKE: 4,
    Function.ILIKE: 4,
    Function.EQUAL: 4,
    Function.UNEQUAL: 4,
    Function.LESS: 4,
    Function.AT_MOST: 4,
    Function.GREATER: 4,
    Function.AT_LEAST: 4,
    Function.CONCAT: 4,
    Function.ADD: 5,
    Function.SUBTRACT: 5,
    Function.MULTIPLY: 6,
    Function.DIVIDE: 6,
    Function.MODULO: 6,
    Function.INTEGER_DIVIDE: 6,
    Function.BIT_AND: 4,
    Function.BIT_OR: 4,
    Function.NEGATE: 7,
}
"""How strongly operators bind; the others are written like functions."""
_OPERATORS = _BINDING.keys() - {
    Function.NOT,
    Function.IS_NULL,
    Function.DIVIDE,
    Function.MODULO,
    Function.INTEGER_DIVIDE,
    Function.NEGATE,
}
_PARTS = {
    Function.WEEK: "WEEK",
    Function.DAY_OF_WEEK: "ISODOW",
    Function.DAY_OF_YEAR: "DOY",
}


def write_expression(expression: Expression, alias: str = "") -> str:
    """The expression in SQL; two that differ are written differently.

    Args:
        expression: what to write.
        alias: stands before the names of columns.
    """
    match expression:
        case Field(column=column):
            return ".".join(map(_write_name, (alias, column) if alias else (column,)))
        case Value(value=constant, type=kind):
            return _write_value(constant, kind)
        case Case(branches=branches, otherwise=otherwise):
            inner = " ".join(
                f"WHEN {write_expression(c, alias)} THEN {write_expression(v, alias)}"
                for c, v in branches
            )
            return f"CASE {inner} ELSE {write_expression(otherwise, alias)} END"
        case Call():
            return _write_call(expression, alias)
        case UserCall(function=called, arguments=arguments):
            inner = ", ".join(write_expression(a, alias) for a in arguments)
            return f"{called.name}({inner})"
        case _:
            assert_never(expression)


def _write_name(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def _write_call(call: Call, alias: str) -> str:
    given = [write_expression(a, alias) for a in call.arguments]
    function = call.function
    closed = [_close(text, a, function) for text, a in zip(given, call.arguments, strict=True)]
    if function in _OPERATORS:
        return f" {function.value} ".join(closed)
    match function:
        case Function.DIVIDE | Function.MODULO | Function.INTEGER_DIVIDE:
            sign = "%" if function is Function.MODULO else function.value
            divisor = call.arguments[1]
            if isinstance(divisor, Value) and divisor.value:
                return f"{closed[0]} {sign} {closed[1]}"
            return f"{closed[0]} {sign} NULLIF({given[1]}, 0)"
        case Function.NEGATE:
            return f"- {closed[0]}"
        case Function.NOT:
            return f"NOT {closed[0]}"
        case Function.IS_NULL:
            return f"{closed[0]} IS NULL"
        case Function.CAST | Function.TRY_CAST:
            return f"{function.value}({given[0]} AS {name_sql_type(call.type)})"
        case Function.REGEX_REPLACE:
            return f"REGEXP_REPLACE({', '.join(given)}, 'g')"
        case Function.ROUND_UP:
            return f"FLOOR(({given[0]}) + 0.5)"
        case Function.LN | Function.LOG10 | Function.LOG2:
            return f"{function.value}(CASE WHEN {closed[0]} > 0 THEN {given[0]} END)"
        case Function.BEFORE:
            there, first = f"CONTAINS({given[0]}, {given[1]})", f"SPLIT_PART({', '.join(given)}, 1)"
            return f"CASE WHEN {there} THEN {first} ELSE '' END"
        case Function.ADD_US:
            micros = int(given[1])
            return f"({closed[0]} {'-' if micros < 0 else '+'} {_write_length(abs(micros))})"
        case Function.BIN:
            width, origin = int(given[1]), int(given[2])
            start = ""
            if (MONDAY_US - origin) % width:
                start = f", TIMESTAMP '{_EPOCH + timedelta(microseconds=origin)}'"
            return f"TIME_BUCKET({_write_length(width)}, {given[0]}{start})"
        case Function.SECONDS:
            return f"CAST(EXTRACT(MICROSECOND FROM {given[0]}) * 0.000001 AS DECIMAL(8, 6))"
        case Function.POSITION:
            return f"STRPOS({', '.join(given)})"
        case Function.WEEK | Function.DAY_OF_WEEK | Function.DAY_OF_YEAR:
            return f"EXTRACT({_PARTS[function]} FROM {given[0]})"
        case _:
            return f"{function.value}({', '.join(given)})"


def _write_length(micros: int) -> str:
    return f"INTERVAL '{show_duration(micros)}'"


def _close(text: str, inner: Expression, outer: Function) -> str:
    """In parentheses, where it does not bind stronger than what is around it."""
    if isinstance(inner, Value) and text.startswith("-"):
        return f"({text})"
    if not isinstance(inner, Call) or inner.function not in _BINDING:
        return text
    return text if _BINDING[inner.function] > _BINDING.get(outer, 0) else f"({text})"


def name_sql_type(kind: ColumnType) -> str:
    """The name of a type in SQL."""
    match kind:
        case IntType():
            return "BIGINT"
        case DecimalType(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case FloatType():
            return "DOUBLE"
        case StringType():
            return "VARCHAR"
        case BooleanType():
            return "BOOLEAN"
        case DateType():
            return "DATE"
        case TimestampType():
            return "TIMESTAMP"
        case _:
            assert_never(kind)


def _write_value(constant: Scalar | None, kind: ColumnType) -> str:
    if constant is None:
        return f"CAST(NULL AS {name_sql_type(kind)})"
    match kind:
        case IntType():
            return str(constant)
        case DecimalType(scale=scale):
            return f"{Decimal(str(constant)):.{scale}f}"
        case FloatType():
            text = repr(float(constant))
            return text if "e" in text else f"{text}e0"
        case BooleanType():
            return str(bool(constant)).upper()
        case StringType():
            return "'" + str(constant).replace("'", "''") + "'"
        case DateType() | TimestampType():
            return f"{name_sql_type(kind)} '{constant}'"
        case _:
            assert_never(kind)
