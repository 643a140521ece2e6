"""Read a Delta table as Arrow tables, by deltalake."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.runtime.packed.packed_file import PackedFile, split_fields
from ontoweir.runtime.packed.plain_type import plain_type
from ontoweir.runtime.sources.read_source import unreadable

if TYPE_CHECKING:
    import pyarrow.dataset as ds


def read_delta(
    path: str, options: Sequence[tuple[str, str]], names: Collection[str], *, deep: bool = False
) -> PackedFile:
    """A Delta table, its latest version or the one that the options name, with the columns wanted,
    as far as it has them. Its rows have no order.

    Raises:
        DataError: it is no Delta table, has features that are not read here, or cannot be read.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    given = {name.lower(): value for name, value in options}
    try:
        version = given.get("versionasof")
        table = DeltaTable(path, version=None if version is None else int(version))
        if (moment := given.get("timestampasof")) is not None:
            table.load_as_version(moment)
        mode = table.metadata().configuration.get("delta.columnMapping.mode") or "none"
        if mode != "none":  # files have other names of columns, which would be NULL
            raise ValueError(f"its columns are mapped by {mode}, which deltalake does not read")
        dataset = table.to_pyarrow_dataset()
    except (DeltaError, OSError, ValueError, TypeError, pa.ArrowException) as error:
        raise unreadable(path, error) from error
    fields = {f.name: plain_type(f.type) for f in dataset.schema}
    held, nested = split_fields(fields, deep=deep)
    wanted = pa.schema([field for field in held if field.name in names])
    return PackedFile(path, held, nested, _read_rows(path, dataset, wanted))


def _read_rows(path: str, dataset: "ds.Dataset", schema: pa.Schema) -> Iterator[pa.Table]:
    try:
        for batch in dataset.to_batches(columns=schema.names):
            if schema.names:
                yield pa.Table.from_batches([batch]).cast(schema)
            else:  # a table without columns has no rows
                yield pa.table({"": pa.nulls(batch.num_rows)})
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) from error
