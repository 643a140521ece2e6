"""Rows repeated, instead of counted."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ontoweir.runtime.results.render_results import MULTIPLICITY

_AT_ONCE = 1 << 20
"""Rows repeated at once."""


def repeat_rows(table: pa.Table) -> Iterator[pa.Table]:
    """The rows of a table with counts, each as often as it counts."""
    counts = table.column(MULTIPLICITY).to_numpy()
    rows = table.drop_columns([MULTIPLICITY])
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for first in range(0, total, _AT_ONCE):
        position = np.arange(first, min(first + _AT_ONCE, total))
        yield rows.take(pa.array(np.searchsorted(ends, position, side="right")))
