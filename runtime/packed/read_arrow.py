"""Read a file of Arrow's own format (IPC, or Feather's second version) as Arrow tables."""

from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.runtime.packed.packed_file import PackedFile, split_fields
from ontoweir.runtime.packed.plain_type import plain_type
from ontoweir.runtime.sources.read_source import unreadable

_FILE, _OLD = b"ARROW1", b"FEA1"
_END = b"\xff\xff\xff\xff\0\0\0\0"
"""With what a stream ends."""


def read_arrow(file: str, names: Collection[str], *, deep: bool = False) -> PackedFile:
    """A file of record batches, one that can be read at any place or one that was written as a
    stream, with the columns wanted, as far as it has them.

    Raises:
        DataError: it is none, has two columns of one name that is wanted, or cannot be read.
    """
    try:
        with open(file, "rb") as opened:
            begins = opened.read(len(_FILE))
        if begins.startswith(_OLD):
            raise ValueError("it is of Feather's first version, which nothing writes any more")
        with pa.OSFile(file) as source:
            whole = begins == _FILE
            schema = (pa.ipc.open_file if whole else pa.ipc.open_stream)(source).schema
        twice = next((n for n in names if schema.names.count(n) > 1), None)
        if twice is not None:
            raise ValueError(f"it has the column {twice} twice")
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(file, error) from error
    fields = {f.name: plain_type(f.type) for f in schema}
    held, nested = split_fields(fields, deep=deep)
    wanted = pa.schema([field for field in held if field.name in names])
    return PackedFile(file, held, nested, _read_rows(file, wanted, whole=whole))


def _read_rows(file: str, schema: pa.Schema, *, whole: bool) -> Iterator[pa.Table]:
    try:
        with pa.OSFile(file) as source:
            for batch in read_batches(source, whole=whole):
                if schema.names:
                    columns = [_decode(batch.column(name)) for name in schema.names]
                    yield pa.table(columns, names=schema.names).cast(schema)
                else:  # a table without columns has no rows
                    yield pa.table({"": pa.nulls(batch.num_rows)})
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(file, error) from error


def _decode(column: pa.Array) -> pa.Array:
    """Values, each for its row."""
    return pc.run_end_decode(column) if pa.types.is_run_end_encoded(column.type) else column


def read_batches(source: pa.NativeFile, *, whole: bool) -> Iterator[pa.RecordBatch]:
    """The batches of a file (`whole`), or of what was written as a stream.

    Raises:
        ValueError: the stream does not end, or something is behind its end.
    """
    if not whole:
        size = source.size()
        if source.read_at(len(_END), max(0, size - len(_END))) != _END:
            raise ValueError("it is a stream that does not say that it ends, or is more than one")
        source.seek(0)
        yield from pa.ipc.open_stream(source)
        if source.tell() < size:
            raise ValueError(f"there are {size - source.tell():,} bytes behind its end")
        return
    reader = pa.ipc.open_file(source)
    for place in range(reader.num_record_batches):
        yield reader.get_batch(place)
