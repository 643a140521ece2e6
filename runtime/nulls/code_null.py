"""The number that stands for NULL in columns of a class that has it."""

from math import floor

import numpy as np

from ontoweir.checker.model.normal_form import Kind, ValueClass
from ontoweir.runtime.pool.string_pool import StringPool

_TEXT = "\uffff\x00NULL\x00\uffff"
_WHOLE = -(1 << 62) - 1
_DOUBLE = float(np.finfo(np.float64).min)


def code_null(group: ValueClass, pool: StringPool) -> int | float:
    """What stands for NULL in columns of a class that has it (`optional`): next to the other
    values where these are few, as kernels compute faster then."""
    match group.kind:
        case Kind.STRING:
            return pool.code(_TEXT)
        case Kind.FLOAT:
            return _DOUBLE
        case Kind.BOOLEAN:
            return -1
        case _:
            low, high = group.domain.low, group.domain.high
            return _WHOLE if low is None or high is None else floor(low) - 1
