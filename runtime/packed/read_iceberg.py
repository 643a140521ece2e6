"""Read an Iceberg table as Arrow tables, by pyiceberg."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ontoweir.runtime.packed.packed_file import PackedFile, split_fields
from ontoweir.runtime.packed.plain_type import plain_type
from ontoweir.runtime.sources.read_source import unreadable

if TYPE_CHECKING:
    from pyiceberg.table import DataScan, StaticTable

_VERSION = re.compile(r"v?(\d+)(?:-[^.]*)?(?:\.gz)?\.metadata\.json(?:\.gz)?")


def read_iceberg(
    path: str, options: Sequence[tuple[str, str]], names: Collection[str], *, deep: bool = False
) -> PackedFile:
    """An Iceberg table, its current snapshot or the one that the options name, with the columns
    wanted, as far as it has them. Its rows have no order.

    Args:
        path: the table's folder, or one of its metadata files.
        options: `snapshot-id`, or `as-of-timestamp` in milliseconds, as Spark has them.
        names: the columns wanted.

    Raises:
        DataError: it is no Iceberg table, nothing says which of its metadata is current, or it has
            what pyiceberg does not read.
    """
    from pyiceberg.table import StaticTable

    given = {name.lower(): value for name, value in options}
    try:
        table = StaticTable.from_metadata(f"file://{os.path.abspath(_find_metadata(path))}")
        snapshot = _find_snapshot(table, given)
        scan = table.scan(snapshot_id=snapshot)
        fields = {f.name: plain_type(f.type) for f in _arrow_schema(scan)}
        held, nested = split_fields(fields, deep=deep)
        wanted = pa.schema([field for field in held if field.name in names])
    except Exception as error:  # of wrong metadata, whatever its parser raises
        raise unreadable(path, error) from error
    return PackedFile(path, held, nested, _read_rows(path, scan, wanted))


def _read_rows(path: str, scan: "DataScan", schema: pa.Schema) -> Iterator[pa.Table]:
    try:
        if not schema.names:  # a table without columns has no rows
            yield pa.table({"": pa.nulls(scan.count())})
            return
        for batch in scan.select(*schema.names).to_arrow_batch_reader():
            yield pa.Table.from_batches([batch]).select(schema.names).cast(schema)
    except Exception as error:  # of a broken file, whatever its reader raises
        raise unreadable(path, error) from error


def _arrow_schema(scan: "DataScan") -> pa.Schema:
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    return schema_to_pyarrow(scan.projection(), include_field_ids=False)


def _find_metadata(path: str) -> str:
    """The metadata file that is current: the one that `version-hint.text` says, or else the one of
    the highest version."""
    if os.path.isfile(path):
        return path
    folder = os.path.join(path, "metadata")
    hint = os.path.join(folder, "version-hint.text")
    if os.path.isfile(hint):
        with open(hint, encoding="utf-8") as opened:
            said = opened.read().strip()
        ends = said if said.endswith(".metadata.json") else f"{said}.metadata.json"
        return os.path.join(folder, f"v{ends}" if said.isdecimal() else ends)
    found = [(int(m[1]), n) for n in os.listdir(folder) if (m := _VERSION.fullmatch(n))]
    latest = [name for version, name in found if version == max(found)[0]]
    if len(latest) != 1:
        many = " and ".join(sorted(latest)) or "none"
        raise ValueError(f"which of its metadata is current cannot be told: {many}; name the file")
    return os.path.join(folder, latest[0])


def _find_snapshot(table: "StaticTable", given: dict[str, str]) -> int | None:
    """The snapshot that is asked for (None: the current one)."""
    if (asked := given.get("snapshot-id")) is not None:
        if table.snapshot_by_id(int(asked)) is None:
            raise ValueError(f"it has no snapshot {asked}")
        return int(asked)
    if (moment := given.get("as-of-timestamp")) is not None:
        found = table.snapshot_as_of_timestamp(int(moment))
        if found is None:
            raise ValueError(f"it had no snapshot yet at {moment}")
        return found.snapshot_id
    return None
