"""Sort the rows of Parquet files by time, in bounded memory."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.columnar.runs import order_rows

AT_ONCE = 2_000_000
"""About how many rows are sorted at once."""
_SAMPLE = 100_000
"""So many times at most say where to part the rows."""
_BEFORE_ALL = np.iinfo(np.int64).min
_GROUP = 500_000


def sort_parts(parts: Sequence[Path], time: str, target: Path, at_once: int = AT_ONCE) -> None:
    """Write the rows of all parts to one file, in the order of a column of whole numbers, those
    without a number first; equal ones stay in the order of the parts.

    Many rows are first parted into spans of time, each in a file beside the target, in one pass;
    each is then sorted by itself. Rows of one time are in memory together.

    Args:
        parts: Parquet files of one schema.
        time: the column.
        target: the file to write.
        at_once: about how many rows may be in memory.

    Raises:
        OSError: the disk does not take it.
    """
    cuts = _find_cuts(parts, time, at_once)
    spans = _part_rows(parts, time, cuts, target) if cuts else [list(parts)]
    with _open(target, pq.read_schema(parts[0])) as writer:
        for files in spans:
            rows = pa.concat_tables([_read(file) for file in files])
            if rows.num_rows:
                order = pa.array(_order(_fill(rows.column(time))))
                writer.write_table(rows.take(order), row_group_size=_GROUP)
            if cuts:
                files[0].unlink()


def _part_rows(
    parts: Sequence[Path], time: str, cuts: Sequence[int], target: Path
) -> list[list[Path]]:
    """A file for each span of time between cuts, with its rows in the order of the parts."""
    spans = [target.with_name(f"{target.name}-{n:06d}") for n in range(len(cuts) + 1)]
    schema = pq.read_schema(parts[0])
    with ExitStack() as stack:
        writers = [stack.enter_context(_open(s, schema)) for s in spans]
        for part in parts:
            opened = stack.enter_context(pq.ParquetFile(part))
            for group in range(opened.num_row_groups):
                rows = opened.read_row_group(group)
                span = np.searchsorted(cuts, _fill(rows.column(time)), side="right")
                rows = rows.take(pa.array(np.argsort(span, kind="stable")))
                start = 0
                for writer, count in zip(writers, np.bincount(span), strict=False):
                    if count:
                        writer.write_table(rows.slice(start, count))
                    start += count
            opened.close()
    return [[span] for span in spans]


def _open(target: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """What writes rows that are read again soon: only texts by dictionaries, nothing packed."""
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return pq.ParquetWriter(str(target), schema, compression="none", use_dictionary=texts)


def _order(times: Array) -> Array:
    """The order of some times, equal ones as they are."""
    there = times > _BEFORE_ALL
    low, high = (
        (int(e) for e in (times[there].min(), times[there].max())) if there.any() else (0, 0)
    )
    span = high - low + 2
    if span > 1 << 62:
        return np.argsort(times, kind="stable")
    return order_rows(np.where(there, times - (low - 1), 0), span)


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
    return _fill(_read(part, [time]).column(time))


def _read(part: Path, columns: list[str] | None = None) -> pa.Table:
    with pq.ParquetFile(part) as opened:  # unlike read_table, it makes nothing of folders' names
        return opened.read(columns=columns)


def _fill(column: "pa.ChunkedArray") -> Array:
    times: Array = pc.fill_null(column, int(_BEFORE_ALL)).to_numpy()
    return times
