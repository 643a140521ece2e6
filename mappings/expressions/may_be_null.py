"""Whether an expression, or a column, may be NULL."""

from collections.abc import Set
from typing import assert_never

from ontoweir.mappings.model.catalog import DateType, Relation, Stream, StringType, TimestampType
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Field,
    Function,
    UserCall,
    Value,
)
from ontoweir.mappings.model.never_null import never_null


def may_be_null(expression: Expression, present: Set[str]) -> bool:
    """Whether it may be NULL in a row whose columns `present` are not.

    >>> from ontoweir.mappings.model.catalog import IntType
    >>> x = Field("x", IntType())
    >>> may_be_null(Call(Function.ADD, (x, x), IntType()), {"x"})
    False
    >>> may_be_null(Call(Function.MODULO, (x, x), IntType()), {"x"})
    True
    >>> may_be_null(Call(Function.TRY_CAST, (x,), StringType()), {"x"})
    False
    """
    match expression:
        case Field(column=column):
            return column not in present
        case Value(value=value):
            return value is None
        case Case(branches=branches, otherwise=otherwise):
            return any(may_be_null(v, present) for v in (*(v for _, v in branches), otherwise))
        case UserCall(function=called, arguments=arguments):
            pairs = zip(called.parameters, arguments, strict=True)
            return called.result.optional or any(
                not p.optional and may_be_null(a, present) for p, a in pairs
            )
        case Call(function=Function.IS_NULL):
            return False
        case Call(function=Function.TRY_CAST, type=StringType(), arguments=(inner,)):
            return may_be_null(inner, present)  # every value has a text
        case Call(function=Function.TRY_CAST, type=DateType(), arguments=(inner,)) if isinstance(
            inner.type, TimestampType
        ):
            return may_be_null(inner, present)  # every time is of a day
        case Call(function=Function.TRY_CAST | Function.LN | Function.LOG10 | Function.LOG2):
            return True
        case Call(function=Function.CONCAT_WS):
            return False
        case Call(
            function=Function.DIVIDE | Function.MODULO | Function.INTEGER_DIVIDE,
            arguments=(left, right),
        ):
            safe = isinstance(right, Value) and right.value not in (None, 0)
            return not safe or may_be_null(left, present)
        case Call(
            function=Function.COALESCE | Function.GREATEST | Function.LEAST, arguments=arguments
        ):
            return all(may_be_null(a, present) for a in arguments)
        case Call(arguments=arguments):
            return any(may_be_null(a, present) for a in arguments)
        case _:
            assert_never(expression)


def is_nullable(table: Stream | Relation, name: str) -> bool:
    """Whether a column is declared nullable, or is computed and may be NULL where the columns have
    values that are not declared so. Where any other one is NULL, a row is no result."""
    column = table.column(name)
    if column is None or column.bucket is not None or name in never_null(table):
        return False
    if column.expression is None:
        return column.nullable
    valued = {c.name for c in table.columns if not c.nullable}
    return may_be_null(column.expression, never_null(table) | valued)
