"""Whether a condition on a group's row, once true, stays true whatever matches come."""

from collections.abc import Mapping

from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.mappings.model.column_types import type_family
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value, fields_of
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion

_RISING = {
    AggregateFunction.COUNT: 1,
    AggregateFunction.COUNT_DISTINCT: 1,
    AggregateFunction.MAX: 1,
    AggregateFunction.MIN: -1,
}
_NEGATED = {
    Function.LESS: Function.AT_LEAST,
    Function.AT_MOST: Function.GREATER,
    Function.GREATER: Function.AT_MOST,
    Function.AT_LEAST: Function.LESS,
}
_MONOTONE = (Function.CAST, Function.FLOOR, Function.CEIL, Function.ROUND, Function.ROUND_UP)


def stays_true(condition: Expression, union: SpjUnion, catalog: Catalog) -> bool:
    """Whether it does, as far as is known from the functions and their arguments' domains.

    Counts and maxima only rise, minima only fall, sums of what is not negative only rise; a value
    that is there stays there. `COUNT(*) > 3 AND MIN(x) < 0` stays true, `AVG(x) > 3` need not.

    Args:
        condition: on the row of a group of `union`.
        union: an aggregate query.
        catalog: with its views, buckets and derived columns.
    """
    assert union.aggregation is not None
    directions: dict[str, int | None] = dict.fromkeys(union.aggregation.row, 0)
    for aggregate in union.aggregation.aggregates:
        direction = _RISING.get(aggregate.function)
        if aggregate.function is AggregateFunction.SUM:
            direction = 1 if _is_positive(aggregate.argument, union, catalog) else None
        directions[aggregate.name] = direction
    return _stays(condition, directions, value=True)


def _is_positive(argument: str | None, union: SpjUnion, catalog: Catalog) -> bool:
    """Whether an argument is declared to be nowhere less than 0."""
    for query in union.disjuncts:
        output = dict(query.outputs)[argument or ""]
        assert isinstance(output, LiteralOutput | NullOutput)  # check_aggregates saw to it
        table = Types(catalog, query.occurrences).tables[output.value.alias]
        column = table.column(output.value.column)
        if column is None or not _has_no_negatives(column):
            return False
    return True


def _has_no_negatives(column: Column) -> bool:
    least = [column.minimum] if column.minimum is not None else list(column.enum or ())
    return bool(least) and all(not isinstance(v, str) and v >= 0 for v in least)


def _stays(condition: Expression, directions: Mapping[str, int | None], *, value: bool) -> bool:
    """Whether a condition that is `value` (true or false) stays so."""
    if _is_constant(condition, directions):
        return True
    match condition:
        case Call(function=Function.NOT, arguments=(inner,)):
            return _stays(inner, directions, value=not value)
        case Call(function=Function.AND | Function.OR, arguments=sides):
            return all(_stays(side, directions, value=value) for side in sides)
        case Call(function=Function.IS_NULL, arguments=(Field(),)):
            return not value  # an aggregate that has a value keeps one
        case Call(function=function, arguments=(left, right)) if function in _NEGATED:
            said = function if value else _NEGATED[function]
            if said in (Function.LESS, Function.AT_MOST):
                left, right = right, left
            return _direction(left, directions) in (0, 1) and _direction(right, directions) in (
                0,
                -1,
            )
        case _:
            return False


def _is_constant(expression: Expression, directions: Mapping[str, int | None]) -> bool:
    """Whether it is the same for all rows of a group."""
    return all(directions[name] == 0 for name in fields_of(expression))


def _direction(expression: Expression, directions: Mapping[str, int | None]) -> int | None:
    """1: it only rises once it has a value, which it keeps; -1: it only falls; 0: it is constant;
    None: nothing is known."""
    if _is_constant(expression, directions):
        return 0
    match expression:
        case Field(column=name):
            return directions[name]
        case Call(function=Function.ADD, arguments=(left, right)):
            return _add(_direction(left, directions), _direction(right, directions))
        case Call(function=Function.SUBTRACT, arguments=(left, right)):
            return _add(_direction(left, directions), _times(_direction(right, directions), -1))
        case Call(function=Function.NEGATE, arguments=(inner,)):
            return _times(_direction(inner, directions), -1)
        case Call(function=Function.MULTIPLY, arguments=(left, right)):
            if isinstance(left, Value):
                left, right = right, left
            return _times(_direction(left, directions), _sign(right))
        case Call(function=Function.DIVIDE, arguments=(left, right)):
            return _times(_direction(left, directions), _sign(right) or None)
        case Call(function=Function.EPOCH_US, arguments=(inner,)):
            return _direction(inner, directions)
        case Call(function=function, arguments=(inner, *_)) if function in _MONOTONE:
            numbers = type_family(inner.type) == type_family(expression.type) == "number"
            return _direction(inner, directions) if numbers else None
        case _:
            return None


def _sign(factor: Expression) -> int | None:
    """Of a constant number; None: it is none."""
    if not isinstance(factor, Value) or factor.value is None or isinstance(factor.value, str):
        return None
    return (factor.value > 0) - (factor.value < 0)


def _add(left: int | None, right: int | None) -> int | None:
    if left is None or right is None or left * right < 0:
        return None
    return left or right


def _times(direction: int | None, sign: int | None) -> int | None:
    return None if direction is None or sign is None else direction * sign
