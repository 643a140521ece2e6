"""That there was a row, where windows show none any more."""

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.groups.list_matches import FOREVER
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL


def split_mark(held: "pa.Table | None") -> "tuple[pa.Table | None, bool]":
    """The rows that are held, and whether one says that there was a row (add_mark)."""
    if held is None or MULTIPLICITY not in held.column_names:
        return held, False
    rows = held.column(MULTIPLICITY).to_numpy() > 0
    left = held.filter(pa.array(rows))
    return left if left.num_rows else None, not rows.all()


def add_mark(held: "pa.Table | None", row: pa.Table) -> pa.Table:
    """The rows that are held, and one, as of long ago, that holds no times and never ends."""
    if held is not None:
        row = row.select(held.column_names)
    times = {AT: LONG_AGO, UNTIL: FOREVER}
    for name, value in {**times, MULTIPLICITY: 0}.items():
        place, field = row.column_names.index(name), row.schema.field(name)
        column = pa.array(np.array([value])).cast(INSTANT if name in times else field.type)
        row = row.set_column(place, field, column.cast(field.type))
    return row if held is None else pa.concat_tables([held, row]).combine_chunks()
