"""All values of an expression of columns with few values."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from math import isfinite

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import BooleanType, Column, IntType, Scalar
from ontoweir.mappings.model.expression import Expression, fields_of

LARGEST = 4096
"""Of columns that have at most so many combinations of values, each is evaluated."""


@dataclass(frozen=True, slots=True)
class Finite:
    """One of some values, or NULL."""

    values: frozenset[Scalar]


def evaluate_all(expression: Expression, declared: dict[str, Column]) -> Finite | None:
    """All values of an expression, where those of the columns that it reads can be listed (None:
    they cannot, or of some it has none).

    Args:
        expression: of one row, without users' functions.
        declared: the columns, by name.
    """
    inputs: list[list[Scalar | None]] = []
    size = 1
    fields = fields_of(expression)
    for name in fields:
        values = _list_values(declared.get(name))
        if values is None:
            return None
        inputs.append([*values, None])
        size *= len(inputs[-1])
        if size > LARGEST:
            return None
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array, to_scalars

    rows = list(product(*inputs))
    arrays = {}
    for n, (name, field) in enumerate(fields.items()):
        arrays[name] = to_array([row[n] for row in rows], field.type)
    try:
        made = evaluate(expression, arrays, len(rows))
    except DataError:  # of some of them it has no value: of which cannot be told here
        return None
    values = to_scalars(made.unique(), expression.type)
    if any(isinstance(v, float) and not isfinite(v) for v in values):
        return None
    return Finite(frozenset(values))


def _list_values(column: Column | None) -> Sequence[Scalar] | None:
    """The values of a small domain; None: it is not small."""
    if column is None or column.bucket is not None:
        return None
    if column.enum is not None:
        return column.enum
    if isinstance(column.type, BooleanType):
        return (True, False)
    low, high = column.minimum, column.maximum
    if isinstance(column.type, IntType) and low is not None and high is not None:
        least, most = _whole(low, ROUND_CEILING), _whole(high, ROUND_FLOOR)
        if most - least < LARGEST:
            return range(least, most + 1)
    return None


def _whole(number: Scalar, rounding: str) -> int:
    return int(Decimal(str(number)).to_integral_value(rounding=rounding))
