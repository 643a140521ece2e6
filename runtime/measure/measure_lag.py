"""Measure how long rows come after the rows of another stream that they join."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.measure.measured import MeasuredLag, ValueSpans

SHARES = (0.5, 0.99, 0.999)
"""Of so many of the values the greatest lag is told."""


def measure_lag(mine: ValueSpans, others: ValueSpans) -> MeasuredLag | None:
    """How long after rows of another stream those with their value come.

    Args:
        mine: the values of a stream's column, and where their rows lie in time.
        others: those of a column of the other stream.

    Returns:
        None: the values are of kinds that are not compared.
    """
    values, known = mine.values, others.values
    if pa.types.is_integer(values.type) and pa.types.is_integer(known.type):
        values, known = values.cast(pa.int64()), known.cast(pa.int64())
    if values.type != known.type:
        return None
    places = pc.index_in(values, value_set=known)
    met = pc.is_valid(places).to_numpy(zero_copy_only=False)
    if not met.any():
        return MeasuredLag(0, 0, ())
    begun = others.first[places.filter(pa.array(met)).to_numpy()]
    after = np.sort(np.maximum(mine.last[met] - begun, 0))
    quantiles = tuple(int(after[int(np.ceil(share * len(after))) - 1]) for share in SHARES)
    return MeasuredLag(len(after), int(after[-1]), quantiles)
