"""Say what the verification of a table's files rests on: the files, and all that is declared."""

from collections.abc import Iterable
from typing import TypeAlias

import pyarrow as pa

from ontoweir.errors import DataError
from ontoweir.files.name_formats import LOGGED, NESTED_PARQUET
from ontoweir.mappings.model.catalog import Catalog, DataSource, Relation, Stream
from ontoweir.runtime.located.locate_source import locate_source
from ontoweir.runtime.sources.identify_file import identify_files
from ontoweir.runtime.spark.read_view import VIEW

Identity: TypeAlias = tuple[object, ...]
"""What changes with whatever could change which rows are rejected; made of texts and numbers."""
_READ_HERE = ("parquet", "csv", "json", "arrow", "avro", NESTED_PARQUET)


def identify_streams(catalog: Catalog, names: Iterable[str]) -> dict[str, Identity]:
    """The identities of those streams, by name, whose rows need not be verified twice.

    A stream has one if its history is local files that are read without Spark, if the relations
    that it references are local files too (or views of such), and if none of them changed within
    the last two seconds (identify_files). Rows that are sorted, or are text, are written to other
    files first, and rows that come late are put into order: their places are the same for each
    replay of all of them.

    Args:
        catalog: the declarations.
        names: the streams wanted.
    """
    found: dict[str, Identity] = {}
    for name in names:
        stream = catalog.streams[name]
        if stream.data.format not in _READ_HERE:
            continue
        files = _identify_files(catalog, stream, stream.data)
        tables = _identify_relations(catalog, stream)
        if files is not None and tables is not None:
            found[name] = (pa.__version__, repr(stream), files, tables)
    return found


def identify_relations(catalog: Catalog, names: Iterable[str]) -> dict[str, Identity]:
    """The identities of those static relations, by name, that need not be verified twice: of local
    files, as identify_streams has them.

    Args:
        catalog: the declarations.
        names: the relations wanted.
    """
    found: dict[str, Identity] = {}
    for name in names:
        relation = catalog.relations[name]
        files = None
        if relation.data.view is None:
            files = _identify_files(catalog, relation, relation.data)
        if files is not None:
            found[name] = (pa.__version__, repr(relation), files)
    return found


def _identify_relations(catalog: Catalog, stream: Stream) -> Identity | None:
    """The relations that a stream references (None: one of them is not known by its files)."""
    wanted = {r.relation for r in stream.references}
    if any(catalog.relations[name].data.view is not None for name in wanted):
        wanted = set(catalog.relations)  # a view may be of any of them
    found: list[object] = []
    for name in sorted(wanted):
        relation = catalog.relations[name]
        found.append(repr(relation))
        if relation.data.view is None:
            files = _identify_files(catalog, relation, relation.data)
            if files is None:
                return None
            found.append(files)
    return tuple(found)


def _identify_files(
    catalog: Catalog, table: Stream | Relation, data: DataSource
) -> Identity | None:
    """The files of a source (None: they are not local, not there, or too new to tell)."""
    if data.path is None or data.format in (VIEW, *LOGGED):
        return None
    try:
        files = locate_source(data, table.name, catalog.file).files
    except (OSError, DataError):
        return None
    return None if files is None else identify_files(files)
