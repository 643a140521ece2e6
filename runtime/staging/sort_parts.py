"""Sort the rows of Parquet files by time, in bounded memory."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array

AT_ONCE = 2_000_000
"""About how many rows are sorted at once."""
_SAMPLE = 100_000
"""So many times at most say where to part the rows."""
_BEFORE_ALL = np.iinfo(np.int64).min
_GROUP = 500_000


def sort_parts(parts: Sequence[Path], time: str, target: Path, at_once: int = AT_ONCE) -> None:
    """Write the rows of all parts to one file, in the order of a column of whole numbers, those
    without a number first; equal ones stay in the order of the parts.

    Many rows are parted into spans of time, each sorted by itself, for which the parts are read
    again and again. Rows of one time are in memory together.

    Args:
        parts: Parquet files of one schema.
        time: the column.
        target: the file to write.
        at_once: about how many rows may be in memory.

    Raises:
        OSError: the disk does not take it.
    """
    cuts = _find_cuts(parts, time, at_once)
    with pq.ParquetWriter(str(target), pq.read_schema(parts[0])) as writer:
        for low, high in zip([None, *cuts], [*cuts, None], strict=True):
            spans = [_read_span(part, time, low, high) for part in parts]
            rows = pa.concat_tables(spans)
            order = pc.sort_indices(rows, sort_keys=[(time, "ascending", "at_start")])
            if rows.num_rows:
                writer.write_table(rows.take(order), row_group_size=_GROUP)


def _find_cuts(parts: Sequence[Path], time: str, at_once: int) -> list[int]:
    """Times that part the rows into spans of about as many."""
    rows = sum(pq.read_metadata(part).num_rows for part in parts)
    if rows <= at_once:
        return []
    step = max(1, rows // _SAMPLE)
    sample: Array = np.sort(np.concatenate([_times(p, time)[::step] for p in parts]))
    wanted = -(-rows // at_once)
    places = [len(sample) * n // wanted for n in range(1, wanted)]
    return sorted({int(sample[p]) for p in places} - {_BEFORE_ALL})


def _times(part: Path, time: str) -> Array:
    column = pq.read_table(part, columns=[time]).column(time)
    times: Array = pc.fill_null(column, int(_BEFORE_ALL)).to_numpy()
    return times


def _read_span(part: Path, time: str, low: int | None, high: int | None) -> pa.Table:
    """The rows of a part in [low, high); with the first come those without a time."""
    with pq.ParquetFile(part) as opened:
        tables = [opened.schema_arrow.empty_table()]
        for index in range(opened.num_row_groups):
            rows = opened.read_row_group(index)
            times = rows.column(time)
            if low is not None:
                rows = rows.filter(pc.fill_null(pc.greater_equal(times, low), False))
                times = rows.column(time)
            if high is not None:
                rows = rows.filter(pc.fill_null(pc.less(times, high), low is None))
            tables.append(rows)
    return pa.concat_tables(tables)
