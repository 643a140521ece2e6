"""Rows, each with from when to when it holds."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array

NEVER = np.iinfo(np.int64).max
"""As an end: there is none so far."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Rows that hold, or held since the last time. `rows`: with all columns; `begins`, `ends`:
    from when on and until when (µs; LONG_AGO: since before, NEVER: nothing has ended it);
    `weights`: how often."""

    rows: pa.Table
    begins: Array
    ends: Array
    weights: Array

    def take(self, index: Array) -> "Spans":
        """Some of them."""
        rows = self.rows.take(pa.array(index))
        return Spans(rows, self.begins[index], self.ends[index], self.weights[index])


def no_spans(rows: pa.Table) -> Spans:
    """Of rows with such columns, none."""
    none = np.zeros(0, dtype=np.int64)
    return Spans(rows.slice(0, 0), none, none, none)
