"""Rows of which the latest of each key hold, as changes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.results.render_results import AT


def keep_latest(
    held: pa.Table, answers: pa.Table, key: Sequence[str]
) -> tuple[pa.Table, Array, pa.Table, pa.Table]:
    """What ends and when (µs), what begins, and what holds afterwards.

    The rows of a key and a time take the place of those of the key's time before, together.

    Args:
        held: the rows that hold, with their time.
        answers: new ones, all later, in order of time.
        key: the columns that tell keys apart.
    """
    whole = pa.concat_tables([held, answers])
    codes, _ = code_rows(whole, key)
    times = whole.column(AT).cast(pa.int64()).to_numpy()
    order = np.lexsort((times, codes))
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (np.diff(codes[order]) != 0) | (np.diff(times[order]) != 0)
    starts = np.flatnonzero(begins)
    batch = np.cumsum(begins) - 1
    # the time of the batch after, if that is of the same key
    later = np.full(len(starts), np.iinfo(np.int64).max)
    if len(starts) > 1:
        same = np.diff(codes[order[starts]]) == 0
        later[:-1][same] = times[order[starts[1:]]][same]
    until = np.empty(len(order), dtype=np.int64)
    until[order] = later[batch]
    ended = np.flatnonzero(until < np.iinfo(np.int64).max)
    standing = np.flatnonzero(until == np.iinfo(np.int64).max)
    gone = whole.take(pa.array(ended))
    return gone, until[ended], answers, whole.take(pa.array(standing)).combine_chunks()
