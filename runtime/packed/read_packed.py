"""Read local files of Arrow and Avro, tables of Delta and Iceberg, and Parquet with what is nested
in it, as Arrow tables."""

from collections.abc import Collection, Iterator
from importlib.util import find_spec

import pyarrow as pa

from ontoweir.files.name_formats import NESTED_PARQUET
from ontoweir.mappings.model.catalog import LIVE_OPTIONS, DataSource
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.packed.lead_paths import lead_paths
from ontoweir.runtime.packed.packed_file import PackedFile
from ontoweir.runtime.packed.read_arrow import read_arrow
from ontoweir.runtime.packed.read_nested_parquet import read_nested_parquet
from ontoweir.runtime.sources.list_pieces import folder_constants
from ontoweir.runtime.sources.read_source import drop_empty

PACKAGES = {
    "arrow": "pyarrow",
    "avro": "fastavro",
    "delta": "deltalake",
    "iceberg": "pyiceberg",
    NESTED_PARQUET: "pyarrow",
}
"""By format, the package that reads it; the extra of ontoweir is called as the format is."""
_OPTIONS = {
    "arrow": (),
    "avro": (),
    "delta": ("versionasof", "timestampasof"),
    "iceberg": ("snapshot-id", "as-of-timestamp"),
    NESTED_PARQUET: (),
}


def is_packed(data: DataSource, located: Located) -> bool:
    """Whether a source is read here: a local one, with options that are known here, whose package
    is installed. Spark may have one of its own for it."""
    package = PACKAGES.get(data.format)
    if package is None or located.files is None or find_spec(package) is None:
        return False
    known = LIVE_OPTIONS.union(_OPTIONS[data.format])
    if data.format not in ("delta", "iceberg"):
        known |= {"pathglobfilter"}
    return all(name.lower() in known for name, _ in data.options)


def read_packed(
    data: DataSource, located: Located, names: Collection[str], *, deep: bool = False
) -> Iterator[PackedFile]:
    """The files of a source, in order, with the columns wanted, as far as they have them, those by
    a path among them; what folders' names say is text.

    Args:
        data: format and options.
        located: where it is.
        names: the columns wanted.
        deep: nested ones, too, as they are, of a source without paths.

    Raises:
        DataError: one of them is none of its format, or cannot be read.
    """
    if not data.paths and data.unnest is None:
        yield from _read_files(data, located, names, deep=deep)
        return
    paths = {name: name for name in names} | {n: p for n, p in data.paths if n in names}
    roots = {part for path in paths.values() for part in (path, path.split(".")[0])}
    if data.unnest is not None:
        roots |= {data.unnest, data.unnest.split(".")[0]}
    for found in _read_files(data, located, roots, deep=True):
        yield lead_paths(found, paths, data.unnest)


def _read_files(
    data: DataSource, located: Located, names: Collection[str], *, deep: bool
) -> Iterator[PackedFile]:
    """As read_packed, of columns as files have them; `deep`: also nested ones."""
    match data.format:
        case "delta":
            from ontoweir.runtime.packed.read_delta import read_delta

            yield read_delta(located.path, data.options, names, deep=deep)
            return
        case "iceberg":
            from ontoweir.runtime.packed.read_iceberg import read_iceberg

            yield read_iceberg(located.path, data.options, names, deep=deep)
            return
        case "arrow":
            read = read_arrow
        case "avro":
            from ontoweir.runtime.packed.read_avro import read_avro

            read = read_avro
        case _:
            read = read_nested_parquet
    for file in drop_empty(data, located.files or ()):
        found = read(file, names, deep=deep)
        constants = {
            name: text
            for name, text in folder_constants(file).items()
            if name in names and name not in found.schema.names
        }
        yield _add_constants(found, constants) if constants else found


def _add_constants(found: PackedFile, constants: dict[str, str | None]) -> PackedFile:
    def add(table: pa.Table) -> pa.Table:
        for name, text in constants.items():
            cells = pa.repeat(pa.scalar(text, pa.string()), table.num_rows)
            table = table.append_column(name, cells)
        return table

    schema = found.schema
    for name in constants:
        schema = schema.append(pa.field(name, pa.string()))
    return PackedFile(found.shown, schema, found.nested, (add(table) for table in found.rows))
