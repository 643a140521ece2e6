"""Hashes of rows, equal where rows are."""

from collections.abc import Sequence

import numpy as np

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.row_index import hash_words


def hash_rows(columns: Sequence[Array]) -> Array:
    """A number for each row of columns of whole numbers or doubles, of which there is at least
    one; -0.0 equals 0.0, and what is not a number itself."""
    return hash_words([_words(column) for column in columns])


def _words(column: Array) -> Array:
    if column.dtype != np.float64:
        return column.astype(np.int64, copy=False)
    whole = column + 0.0
    return np.where(np.isnan(whole), np.nan, whole).view(np.int64)
