"""Columns with what stands for NULL where there is no value."""

import numpy as np

from ontoweir.errors import DataError
from ontoweir.runtime.columnar.encode import Encoded
from ontoweir.runtime.columnar.frame import Array


def fill_null(column: Encoded, null: int | float, name: str) -> Array:
    """The values of a column, with what stands for NULL where there is none.

    Raises:
        DataError: a value is what stands for NULL.
    """
    if (column.valid & (column.values == null)).any():
        raise DataError(
            f"{name} holds the value that stands for NULL here",
            why="NULL and it would be one value in the answers",
            fix="add IS NOT NULL for the column to WHERE, or correct the data",
        )
    if column.valid.all():
        return column.values
    kind = np.float64 if isinstance(null, float) else column.values.dtype
    return np.where(column.valid, column.values, np.asarray(null, dtype=kind))
