"""Which files of a folder are data: one rule, for replays and live runs.

Hidden names (`_…`, `.…`) and names that say that a file is not finished (`x.parquet.tmp`) are none.
Beside files that end in .parquet, Parquet's others are none; beside .avro, Avro's, and so
of Arrow. Where the source's options have pathGlobFilter, names that it does not have are none.
A file that a source itself names is data, whatever it is called.
"""

import fnmatch
import os
from collections.abc import Sequence
from urllib.parse import unquote

from ontoweir.errors import DataError, Source
from ontoweir.files.name_formats import NESTED_PARQUET
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.located.archive_places import find_archived_path
from ontoweir.runtime.located.spell_braces import spell_braces

_UNFINISHED = (
    *(".tmp", ".temp", ".part", ".partial", ".inprogress", ".incomplete", ".filepart"),
    *(".crdownload", ".swp", "~", "._copying_"),
)
_ENDINGS = {
    "parquet": (".parquet", ".parq", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "avro": (".avro",),
    NESTED_PARQUET: (".parquet", ".parq", ".pq"),
}


def is_finished(name: str) -> bool:
    """Whether a file's name, or a folder's, is one of data.

    >>> [is_finished(name) for name in ("a.csv", "_SUCCESS", ".a.csv.crc", "a.parquet.tmp")]
    [True, False, False, False]
    """
    if name == "lost+found":  # a file system's own, which users may not look into
        return False
    return not name.startswith(("_", ".")) and not name.lower().endswith(_UNFINISHED)


def is_asked_for(data: DataSource, file: str) -> bool:
    """Whether a source's pathGlobFilter has a file's name, as Hadoop reads it: with `*`, `?`,
    `[…]` and `{…,…}`.

    >>> data = DataSource("csv", "/in", (("pathGlobFilter", "{a,b*}.csv"),))
    >>> [is_asked_for(data, f"/in/{name}.csv") for name in ("a", "bc", "c")]
    [True, True, False]
    """
    asked = next((v for n, v in data.options if n.lower() == "pathglobfilter"), None)
    if asked is None:
        return True
    name = os.path.basename(file)
    return any(fnmatch.fnmatchcase(name, one) for one in spell_braces(asked.replace("[^", "[!")))


def name_data(data: DataSource, files: Sequence[str]) -> list[str]:
    """Those that are asked for, and end as their format does, in folders where any does, and all of
    other folders.

    >>> name_data(DataSource("parquet", "a"), ["a/1.parquet", "a/note.txt", "b/1.dat"])
    ['a/1.parquet', 'b/1.dat']
    """
    files = [f for f in files if is_asked_for(data, f)]
    endings = _ENDINGS.get(data.format)
    if endings is None:
        return list(files)
    marked = {os.path.dirname(f) for f in files if f.lower().endswith(endings)}
    return [f for f in files if f.lower().endswith(endings) or os.path.dirname(f) not in marked]


def is_data(data: DataSource, file: str) -> bool:
    """Whether a local file that a source's folder holds is data."""
    base = os.path.abspath(local_path(data.path or ""))
    if base == file:
        return True
    inner = file[len(base) :] if file.startswith(f"{base}/") else os.path.basename(file)
    if not all(map(is_finished, inner.strip("/").split("/"))) or not is_asked_for(data, file):
        return False
    endings = _ENDINGS.get(data.format)
    if endings is None or file.lower().endswith(endings):
        return True
    folder = os.path.dirname(file)
    places = [folder]
    if data.archive is not None:  # those that are read have been moved there
        places.append(os.path.dirname(find_archived_path(data, file)))
    return not any(_has_ending(place, endings) for place in places)


def _has_ending(folder: str, endings: tuple[str, ...]) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(is_finished(e.name) and e.name.lower().endswith(endings) for e in entries)
    except OSError:
        return False


def local_path(uri: str) -> str:
    """The path that a file's URI names.

    >>> local_path("file:///tmp/a%20b.parquet")
    '/tmp/a b.parquet'
    """
    path = unquote(uri.removeprefix("file:"))
    return "/" + path.lstrip("/") if uri.startswith("file:") else uri


def no_path(data: DataSource, table: str, catalog_file: str) -> DataError:
    """The error of a source that names no files."""
    topic = data.format == "kafka"
    place = f"streams.{table}.source"
    return DataError(
        f"{table} is a topic of Kafka, which only a live run reads"
        if topic
        else f"{table} has no path",
        why="what looks at data as a whole, such as a replay, reads files"
        if topic
        else f"the {data.format} reader needs to know where its data is",
        fix=f"`ontoweir run`; or name a file: --set {place}.format=json --set {place}.path=FILE"
        if topic
        else f'add path = "…" to the source of {table}',
        source=Source(catalog_file),
    )
