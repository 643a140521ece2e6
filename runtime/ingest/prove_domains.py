"""Columns that the statistics of Parquet files say enough of."""

from collections.abc import Sequence
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Column, DateType, IntType, StringType, TimestampType
from ontoweir.runtime.ingest.enforced_columns import has_domain
from ontoweir.runtime.sources.list_pieces import find_leaf, folder_constants, read_ends
from ontoweir.runtime.sources.read_source import unreadable


def prove_domains(files: Sequence[str], columns: Sequence[Column]) -> frozenset[str]:
    """The names of those columns whose values all lie in their declared domains, as every row
    group's least and greatest value show, or which the files lack: they need not be read.

    Raises:
        DataError: a file is not Parquet.
    """
    open_ = list(columns)
    for file in files:
        try:
            with pq.ParquetFile(file) as opened:
                metadata, names = opened.metadata, opened.schema_arrow.names
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(file, error) from error
        there = {*names, *folder_constants(file)}
        open_ = [c for c in open_ if c.name not in there or _lies_inside(metadata, c)]
        if not open_:
            break
    return frozenset(c.name for c in open_)


def _lies_inside(metadata: "pq.FileMetaData", column: Column) -> bool:
    place = find_leaf(metadata, column.name)
    dated = isinstance(column.type, DateType | TimestampType) and not has_domain(column)
    if place is None or not (dated or has_domain(column)):
        return False
    if dated and "nanoseconds" in str(metadata.schema.column(place).logical_type):
        return False  # the least and the greatest may be whole microseconds, but others not
    for index in range(metadata.num_row_groups):
        statistics = metadata.row_group(index).column(place).statistics
        ends = None if statistics is None else read_ends(statistics)
        held = _are_dated if dated else _holds
        if ends is None or not held(column, *ends):
            return False
    return True


def _are_dated(column: Column, low: object, high: object) -> bool:
    """Whether the ends of a column are dates or times as its type is: Python's are of the years 1
    to 9999."""
    times = isinstance(column.type, TimestampType)
    return all(isinstance(v, date) and isinstance(v, datetime) == times for v in (low, high))


def _holds(column: Column, low: object, high: object) -> bool:
    """Whether all values between two lie in the column's domain."""
    if isinstance(low, bool) or type(low) is not type(high):
        return False
    if isinstance(low, str):
        # a long text may be cut off in the statistics, but then its limits are not equal
        return isinstance(column.type, StringType) and low == high and low in (column.enum or ())
    if not (isinstance(low, int) and isinstance(high, int) and isinstance(column.type, IntType)):
        return False
    least, most = column.minimum, column.maximum
    if isinstance(least, str) or isinstance(most, str):
        return False
    if column.enum is not None and not (low == high and low in column.enum):
        return False
    return (least is None or low >= least) and (most is None or high <= most)
