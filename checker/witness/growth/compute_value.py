"""What an expression is of one row of a witness."""

from collections.abc import Mapping
from typing import Any

from ontoweir.errors import DataError
from ontoweir.mappings.model.expression import Expression, fields_of, has_user_calls


class NoRowError(Exception):
    """No row is known that has the values wanted."""


def compute_value(expression: Expression, content: Mapping[str, Any]) -> Any:
    """What an expression is of a row.

    Raises:
        NoRowError: it is not known.
    """
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array, to_scalars

    fields = fields_of(expression)
    # the time of a row; a user's function, which is not called to decide
    if not fields.keys() <= content.keys() or has_user_calls(expression):
        raise NoRowError
    try:
        columns = {name: to_array([content[name]], f.type) for name, f in fields.items()}
        made = to_scalars(evaluate(expression, columns, 1), expression.type)
    except (DataError, ValueError, TypeError, OverflowError, ArithmeticError):
        raise NoRowError from None
    return made[0] if made else None
