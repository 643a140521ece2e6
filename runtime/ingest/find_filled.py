"""Columns without a NULL, as the statistics of Parquet files say."""

from collections.abc import Sequence, Set

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.columnar.convert_column import holds_only
from ontoweir.runtime.sources.list_pieces import find_leaf, folder_constants
from ontoweir.runtime.sources.read_source import unreadable


def find_filled(files: Sequence[str], stream: Stream, columns: Set[str]) -> frozenset[str]:
    """Those of a stream's columns in which every row of the files has a value of its type: whoever
    asks only for that need not read them.

    Raises:
        DataError: a file is not Parquet.
    """
    wanted = [c for c in stream.columns if c.name in columns]
    for file in files:
        if not wanted:
            break
        try:
            with pq.ParquetFile(file) as opened:
                metadata, schema = opened.metadata, opened.schema_arrow
        except (OSError, pa.ArrowInvalid) as error:
            raise unreadable(file, error) from error
        there = {f.name: f.type for f in schema}
        named = folder_constants(file)
        wanted = [
            c
            for c in wanted
            if c.name in there
            and c.name not in named
            and holds_only(there[c.name], c.type)
            and _is_filled(metadata, c.name)
        ]
    return frozenset(c.name for c in wanted)


def _is_filled(metadata: "pq.FileMetaData", name: str) -> bool:
    place = find_leaf(metadata, name)
    if place is None:
        return False
    for index in range(metadata.num_row_groups):
        known = metadata.row_group(index).column(place).statistics
        if known is None or not known.has_null_count or known.null_count:
            return False
    return True
