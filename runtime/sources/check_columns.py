"""Hold the columns of a Parquet file to what is declared, before a row of it is read."""

from collections.abc import Iterable, Set

import pyarrow as pa

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.runtime.columnar.convert_column import (
    holds_times,
    holds_type,
    wrong_type,
)
from ontoweir.runtime.sources.read_source import missing_column
from ontoweir.runtime.times.holds_written import holds_written


def check_columns(
    schema: pa.Schema,
    stream: Stream | Relation,
    names: Iterable[str],
    place: str,
    elsewhere: Set[str] = frozenset(),
) -> None:
    """Nothing, if a file has the columns wanted, each once, of types that can hold their values.

    Args:
        schema: the file's columns.
        stream: whose they are; of a relation, all columns are declared.
        names: the columns wanted, the timestamp among them.
        place: the file, for messages.
        elsewhere: columns that need not be there: in folders' names, or not asked for.

    Raises:
        DataError: a column is missing, is there twice, or cannot hold its values.
    """
    for name in names:
        indices = schema.get_all_field_indices(name)
        if not indices:
            if name in elsewhere:
                continue
            raise missing_column(name, schema.names, place, stream.data)
        if len(indices) > 1:
            raise DataError(
                f"there are {len(indices)} columns {name!r}",
                why="which of them is meant is not said",
                fix="write the file again with one column of this name",
                source=Source(place),
            )
        column, kind = stream.column(name), schema.field(indices[0]).type
        if column is None:
            written = stream.written if isinstance(stream, Stream) else None
            if not (holds_times(kind) if written is None else holds_written(kind, written)):
                raise wrong_type(f"{stream.name}.{name}", kind, None, place)
        elif not holds_type(kind, column.type):
            raise wrong_type(f"{stream.name}.{name}", kind, column.type, place)
