"""Pushes constants to the sources: where x = y and x = 5, both tables are filtered by 5."""

from dataclasses import replace
from decimal import Decimal

from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    Op,
    SpjQuery,
)


def push_constants(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Replaces an attribute that has a constant value by the constant in comparisons with others.

    `x = y, x = 5` becomes `x = 5, y = 5`, and `x = 5, y < x + 2` becomes `x = 5, y < 7`: a filter
    of one source in place of a join condition. Keeps multiplicities: the selection stays
    equivalent. Only between attributes of one type: constants are written in that type.
    """
    classes = EqualityClasses(query.occurrences, query.conditions)
    if not classes.constants:
        return query
    types = Types(catalog, query.occurrences)
    pushed: dict[Condition, None] = {}
    for condition in query.conditions:
        for made in _push(condition, classes, types):
            pushed[made] = None
    return replace(query, conditions=tuple(pushed))


def _push(condition: Condition, classes: EqualityClasses, types: Types) -> tuple[Condition, ...]:
    if not isinstance(condition, Compare) or isinstance(condition.right, Constant):
        return (condition,)
    left, right = condition.left, condition.right
    if types.type_of(left) != types.type_of(right):
        return (condition,)
    a, b = _value(left, classes), _value(right, classes)
    if condition.op is Op.EQ and not condition.offset and a is not None and a == b:
        made = (Compare(left, Op.EQ, Constant(a)), Compare(right, Op.EQ, Constant(a)))
        return tuple(replace(c, source=condition.source) for c in made)
    if b is not None and (value := _add(b, condition.offset)) is not None:
        if a is not None:
            return () if compare_scalars(a, condition.op, value) else (condition,)
        return (Compare(left, condition.op, Constant(value), source=condition.source),)
    if a is not None and (value := _add(a, -condition.offset)) is not None:
        op = condition.op.flipped()
        return (Compare(right, op, Constant(value), source=condition.source),)
    return (condition,)


def _value(attribute: Attribute, classes: EqualityClasses) -> Scalar | None:
    """The one constant that an attribute equals."""
    known = classes.constants.get(classes.find(attribute), set())
    return next(iter(known)).value if len(known) == 1 else None


def _add(value: Scalar, offset: int | Decimal) -> Scalar | None:
    if not offset:
        return value
    if isinstance(value, (str, bool)):
        return None
    if isinstance(value, float):
        return value + float(offset)
    total = value + offset
    return int(total) if isinstance(value, int) and total == int(total) else total
