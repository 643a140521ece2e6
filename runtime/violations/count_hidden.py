"""How often selected columns are NULL in the data, where such rows are no results."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion
from ontoweir.runtime.located.locate_source import locate_source
from ontoweir.runtime.sources.list_pieces import find_leaf


@dataclass(frozen=True, slots=True)
class HiddenRows:
    """A column that is NULL in some rows. `alone`: it is shown itself, so that all of these are no
    results; else in the answers of a subquery, or of a join, as which others may have a value."""

    table: str
    column: str
    rows: int
    alone: bool


def count_hidden(union: SpjUnion, catalog: Catalog) -> Iterator[HiddenRows]:
    """The tables and columns (SpjUnion.hidden), also those that answers are made of, that are NULL
    in some rows, as the statistics of local Parquet files say; of other files nothing is said."""
    found = dict[tuple[str, str], bool]()
    for name, column in union.hidden:
        for place in _trace(name, column, union):
            found.setdefault(place, place == (name, column))
    for (name, column), alone in found.items():
        table = catalog.streams.get(name) or catalog.relations.get(name)
        if table is None or table.data.format != "parquet":
            continue
        declared = table.column(column)
        if declared is None or declared.nullable:
            continue
        try:
            files = locate_source(table.data, name, catalog.file).files or ()
            rows = sum(_count(file, column) for file in files)
        except (DataError, OSError, pa.ArrowException):  # the replay says what is wrong
            continue
        if rows:
            yield HiddenRows(name, column, rows, alone)


def _trace(name: str, column: str, union: SpjUnion) -> Iterator[tuple[str, str]]:
    """The columns of tables that a column of answers shows; one of a table is that."""
    block = next((b for b in union.blocks if b.stream.name == name), None)
    if block is None:
        yield name, column
        return
    for disjunct in block.union.disjuncts:
        tables = {o.alias: o.table for o in disjunct.occurrences}
        for shown, output in disjunct.outputs:
            if shown != column or not isinstance(output, LiteralOutput | NullOutput):
                continue
            if isinstance(output, LiteralOutput) and not output.optional:
                continue  # where it is NULL, there is no row of the answers
            table, inner = tables[output.value.alias], block.union
            if table != name:
                inner = replace(inner, blocks=(*union.blocks, *inner.blocks))
                yield from _trace(table, output.value.column, inner)


def _count(file: str, column: str) -> int:
    metadata = pq.read_metadata(file)
    place = find_leaf(metadata, column)
    if place is None:
        return 0
    groups = (metadata.row_group(n).column(place) for n in range(metadata.num_row_groups))
    known = (group.statistics for group in groups)
    return sum(s.null_count or 0 for s in known if s is not None and s.has_null_count)
