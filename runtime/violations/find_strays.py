"""Rows that refer to what is not there."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Reference
from ontoweir.runtime.columnar.frame import Array


def find_strays(
    table: pa.Table, name: str, reference: Reference, to: pa.Table
) -> tuple[str, Array] | None:
    """The rows whose values are not among those that they refer to, and why (None: the types
    differ, so that nothing can be said); a row with a NULL refers to nothing.

    Args:
        table: the rows.
        name: theirs, in messages.
        reference: what is declared.
        to: the relation that is referred to.
    """
    columns, known = table.select(list(reference.columns)), to.select(list(reference.to))
    if columns.schema.types != known.schema.types:
        return None
    there = ", ".join(f"{reference.relation}.{c}" for c in reference.to)
    mine = ", ".join(f"{name}.{c}" for c in reference.columns)
    if len(reference.columns) == 1:
        held = pc.is_in(columns.column(0), value_set=known.column(0).combine_chunks())
        strays = ~held.to_numpy() & pc.is_valid(columns.column(0)).to_numpy()
        return f"{mine} is not in {there}", strays
    pairs = set(zip(*(c.to_pylist() for c in known.columns), strict=True))
    rows = zip(*(c.to_pylist() for c in columns.columns), strict=True)
    strays = np.array([None not in row and row not in pairs for row in rows], dtype=np.bool_)
    return f"({mine}) is not in ({there})", strays
