"""Which values of a column a computed condition leaves, as conditions of a query."""

from collections.abc import Iterator

from ontoweir.mappings.model.catalog import IntType, Scalar, StringType
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.model.spj import Attribute, Compare, Condition, Constant, OneOf, Op

_OPS: dict[Function, Op] = {Function(op): op for op in Op if op is not Op.NE}
_TURNED = {Op.EQ: Op.EQ, Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}


def imply_conditions(expression: Expression, alias: str) -> Iterator[Condition]:
    """Conditions that hold wherever an expression is true: comparisons of whole numbers and texts
    with constants, and alternatives of equalities (IN). What else it says is left out.

    Args:
        expression: over the columns of one table.
        alias: of that table.
    """
    match expression:
        case Call(function=Function.AND, arguments=arguments):
            for one in arguments:
                yield from imply_conditions(one, alias)
        case Call(function=Function.OR):
            columns, values = set[str](), dict[Scalar, None]()
            for one in _list_choices(expression):
                equal = _read_comparison(one)
                if equal is None or equal[1] is not Op.EQ:
                    return
                columns.add(equal[0])
                values[equal[2]] = None
            if len(columns) == 1 and len(values) > 1:
                yield OneOf(Attribute(alias, columns.pop()), tuple(values))
        case _:
            if (found := _read_comparison(expression)) is not None:
                column, op, value = found
                yield Compare(Attribute(alias, column), op, Constant(value))


def _list_choices(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Call(function=Function.OR, arguments=arguments):
            for one in arguments:
                yield from _list_choices(one)
        case _:
            yield expression


def _read_comparison(expression: Expression) -> tuple[str, Op, Scalar] | None:
    """A column compared with a constant of its type (texts: by equality)."""
    match expression:
        case Call(function=function, arguments=(Field() as field, Value() as value)):
            op = _OPS.get(function)
        case Call(function=function, arguments=(Value() as value, Field() as field)):
            turned = _OPS.get(function)
            op = None if turned is None else _TURNED[turned]
        case _:
            return None
    if op is None:
        return None
    match field.type, value.value:
        case IntType(), int() as number if not isinstance(number, bool):
            return field.column, op, number
        case StringType(), str() as text if op is Op.EQ:
            return field.column, op, text
        case _:
            return None
