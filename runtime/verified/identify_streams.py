"""Say what the verification of a stream's files rests on: the files, and all that is declared."""

import os
import time
from collections.abc import Iterable
from hashlib import sha256
from typing import TypeAlias

import pyarrow as pa

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Catalog, DataSource, Relation, Stream
from ontoweir.runtime.sources.read_source import locate_source
from ontoweir.runtime.spark.read_view import VIEW

Identity: TypeAlias = tuple[object, ...]
"""What changes with whatever could change which rows are rejected; made of texts and numbers."""

_TAIL = 1 << 16
"""So many bytes at a file's end are looked at: the footer of a Parquet file says what is in it."""
_SETTLED = 2_000_000_000
"""Nanoseconds since a file changed after which another change shows: clocks of file systems count
in steps of up to two seconds."""


def identify_streams(catalog: Catalog, names: Iterable[str]) -> dict[str, Identity]:
    """The identities of those streams, by name, whose rows need not be verified twice.

    A stream has one if its history is local Parquet files that are read as they are, if the
    relations that it references are local files too (or views of such), and if none of them changed
    within the last two seconds. A file is known by device, inode, size, the times of its last write
    and of its last change, and the bytes at its end: whoever writes into a file and sets its time
    back leaves the time of the change.

    Args:
        catalog: the declarations.
        names: the streams wanted.
    """
    found: dict[str, Identity] = {}
    for name in names:
        stream = catalog.streams[name]
        if stream.data.format != "parquet" or stream.data.sort:
            continue
        files = _identify_files(catalog, stream, stream.data)
        tables = _identify_relations(catalog, stream)
        if files is not None and tables is not None:
            found[name] = (pa.__version__, repr(stream), files, tables)
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
    if data.path is None or data.format == VIEW:
        return None
    try:
        files = locate_source(data, table.name, catalog.file).files
        return None if files is None else tuple(map(_identify_file, files))
    except (OSError, DataError, _TooNew):
        return None


class _TooNew(Exception):
    """A file changed so lately that another change may not show."""


def _identify_file(file: str) -> Identity:
    with open(file, "rb") as opened:
        known = os.fstat(opened.fileno())
        if time.time_ns() - max(known.st_ctime_ns, known.st_mtime_ns) < _SETTLED:
            raise _TooNew
        opened.seek(max(known.st_size - _TAIL, 0))
        end = sha256(opened.read()).hexdigest()
    place = os.path.abspath(file)
    numbers = (known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns)
    return (place, *numbers, end)
