"""Read a file of Parquet as Arrow tables, with its nested columns."""

from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.runtime.packed.packed_file import PackedFile, split_fields
from ontoweir.runtime.packed.plain_type import plain_type
from ontoweir.runtime.sources.read_source import unreadable

_ROWS = 65_536


def read_nested_parquet(file: str, names: Collection[str], *, deep: bool = True) -> PackedFile:
    """A file of Parquet, with the columns wanted, as far as it has them.

    Args:
        file: a local file.
        names: the columns wanted.
        deep: nested ones, too.

    Raises:
        DataError: it is none, has two columns of one name that is wanted, or cannot be read.
    """
    try:
        schema = pq.read_schema(file)
        twice = next((n for n in names if schema.names.count(n) > 1), None)
        if twice is not None:
            raise ValueError(f"it has the column {twice} twice")
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(file, error) from error
    held, nested = split_fields({f.name: plain_type(f.type) for f in schema}, deep=deep)
    wanted = pa.schema([field for field in held if field.name in names])
    return PackedFile(file, held, nested, _read_rows(file, wanted))


def _read_rows(file: str, schema: pa.Schema) -> Iterator[pa.Table]:
    try:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(_ROWS, columns=schema.names):
                if schema.names:  # a name with dots is that of a path, too: its whole column comes
                    yield pa.Table.from_batches([batch]).select(schema.names).cast(schema)
                else:
                    yield pa.table({"": pa.nulls(batch.num_rows)})
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(file, error) from error
