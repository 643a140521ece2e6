"""The columns that have a value wherever a condition is true."""

from ontoweir.mappings.model.expression import Call, Expression, Field, Function

_COMPARE = {
    Function.EQUAL,
    Function.UNEQUAL,
    Function.LESS,
    Function.AT_MOST,
    Function.GREATER,
    Function.AT_LEAST,
}
_STRICT = _COMPARE | {
    Function.ADD,
    Function.SUBTRACT,
    Function.MULTIPLY,
    Function.DIVIDE,
    Function.INTEGER_DIVIDE,
    Function.FLOOR,
    Function.CEIL,
    Function.ROUND,
    Function.NEGATE,
    Function.ABS,
    Function.EPOCH_US,
    Function.ADD_US,
    Function.TRUNCATE,
    Function.BIN,
    Function.CAST,
    Function.TRY_CAST,
}
"""They are NULL where an argument is."""


def wants_values(condition: Expression) -> frozenset[str]:
    """The columns that are not NULL in rows in which a condition is true.

    >>> from ontoweir.mappings.model.catalog import BooleanType, IntType
    >>> x, y = Field("x", IntType()), Field("y", IntType())
    >>> sorted(wants_values(Call(Function.LESS, (x, y), BooleanType())))
    ['x', 'y']
    >>> wants_values(Call(Function.IS_NULL, (x,), BooleanType()))
    frozenset()
    """
    match condition:
        case Call(function=Function.AND, arguments=arguments):
            return frozenset().union(*map(wants_values, arguments))
        case Call(function=Function.OR, arguments=(first, *others)):
            return wants_values(first).intersection(*map(wants_values, others))
        case _:
            return list_strict(condition)


def list_strict(expression: Expression) -> frozenset[str]:
    """The columns where which one is NULL it is NULL."""
    match expression:
        case Field(column=name):
            return frozenset({name})
        case Call(function=function, arguments=arguments) if function in _STRICT:
            return frozenset().union(*map(list_strict, arguments))
        case _:
            return frozenset()
