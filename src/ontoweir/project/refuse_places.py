"""Refuse to write where a project's data is read: into object stores, and tables."""

import fnmatch
import glob
import os
import re
from urllib.parse import urlsplit

from ontoweir.errors import Source, UsageError
from ontoweir.mappings.model.catalog import Relation, Stream
from ontoweir.project.project import Project


def refuse_places(project: Project, place: str) -> None:
    """Refuse an object or a table that is data of the project, or would be read as such.

    Args:
        project: whose catalog says what is read.
        place: an address, or a folder.

    Raises:
        UsageError: it is.
    """
    streams, relations = project.catalog.streams.values(), project.catalog.relations.values()
    tables: list[Stream | Relation] = [*streams, *relations]
    for table in tables:
        if table.data.path is None or table.data.format == "view":
            continue
        if _overlap(_plain(table.data.path), _plain(place)):
            raise UsageError(
                f"cannot write {re.sub(r'(?<=://)[^/@]*@|[?].*', '', place)}",
                why=f"it is read as data of {table.name}",
                fix="name another place",
                source=Source("--output"),
            )


def _plain(place: str) -> str:
    """A place without logins and options, by the one name of its kind of store."""
    if "://" not in place or place.startswith("file://"):
        return os.path.realpath(place.removeprefix("file://"))
    parts = urlsplit(place)
    scheme = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}.get(parts.scheme)
    login, _, host = parts.netloc.rpartition("@")
    store = f"{login}@{host}" if parts.scheme.startswith("abfs") else host
    return f"{scheme or parts.scheme}://{store}{parts.path}".rstrip("/")


def _overlap(data: str, place: str) -> bool:
    if glob.has_magic(data):
        return fnmatch.fnmatch(place, data) or fnmatch.fnmatch(f"{place}/x", data)
    return data == place or place.startswith(f"{data}/") or data.startswith(f"{place}/")
