"""How often selected columns are NULL in the data, where such rows are no results."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.sources.list_pieces import find_leaf
from ontoweir.runtime.sources.read_source import locate_source


def count_hidden(union: SpjUnion, catalog: Catalog) -> Iterator[tuple[str, str, int]]:
    """The tables and columns (SpjUnion.hidden) that are NULL in some rows, and in how many, as
    the statistics of local Parquet files say; of other files nothing is said."""
    for name, column in union.hidden:
        table = catalog.streams.get(name) or catalog.relations.get(name)
        if table is None or table.data.format != "parquet":
            continue
        try:
            files = locate_source(table.data, name, catalog.file).files or ()
            rows = sum(_count(file, column) for file in files)
        except (DataError, OSError, pa.ArrowException):  # the replay says what is wrong
            continue
        if rows:
            yield name, column, rows


def _count(file: str, column: str) -> int:
    metadata = pq.read_metadata(file)
    place = find_leaf(metadata, column)
    if place is None:
        return 0
    groups = (metadata.row_group(n).column(place) for n in range(metadata.num_row_groups))
    known = (group.statistics for group in groups)
    return sum(s.null_count or 0 for s in known if s is not None and s.has_null_count)
