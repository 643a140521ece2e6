"""Copy a file from a URL, or from standard input, into a folder."""

import re
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from ontoweir.errors import Source, UsageError

_STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file")
"""Schemes that Arrow's file systems read."""
_KINDS = {
    "text/csv": ".csv",
    "application/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/vnd.apache.parquet": ".parquet",
    "application/vnd.apache.arrow.file": ".arrow",
    "application/vnd.apache.arrow.stream": ".arrows",
}
"""The endings of what servers say that they send, where the name has none."""
_HEADS = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"Obj\x01", ".avro"), (b"{", ".jsonl"))
_SECONDS = 30
"""For which a server may be silent."""


def fetch_file(url: str, folder: Path) -> Path:
    """The copy of a file, which is called as it is there.

    Args:
        url: http, https, or of a store that Arrow's file systems read; `-` is standard input.
        folder: for the file.

    Raises:
        UsageError: it is not there, or not to be had; or standard input has nothing.
    """
    if url == "-":
        return _copy_input(folder)
    scheme = urlsplit(url).scheme.lower()
    if scheme in ("http", "https"):
        return _copy_web(url, folder)
    if scheme in _STORES:
        return _copy_stored(url, folder)
    if scheme == "mysql":
        raise _refuse(
            url,
            "nothing here reads mysql://",
            "write what it declares by mysqldump --no-data … > tables.sql, and name that; or its "
            "tables as CSV",
        )
    raise _refuse(
        url,
        f"nothing here reads {scheme}://",
        "write http, https, mqtt, kafka, postgresql, s3, gs, abfs or hdfs, or name a local file",
    )


def _copy_web(url: str, folder: Path) -> Path:
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    asked = Request(url, headers={"User-Agent": "ontoweir"})
    try:
        with urlopen(asked, timeout=_SECONDS) as answer:
            kind = _KINDS.get(answer.headers.get_content_type(), "")
            made = _copy(answer, folder / _name(urlsplit(answer.url).path, kind))
            size = answer.headers.get("Content-Length")
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        said = getattr(reason, "strerror", None) or str(reason) or "it breaks off"
        raise _refuse(url, said, "correct the URL") from error
    if size is not None and int(size) != made.stat().st_size:
        raise _refuse(url, "it was cut off", "try again")
    return made


def _copy_stored(url: str, folder: Path) -> Path:
    import pyarrow as pa
    from pyarrow.fs import FileSystem, FileType

    try:
        store, path = FileSystem.from_uri(url)
        found = store.get_file_info(path)
        if found.type != FileType.File:
            what = "nothing is there" if found.type == FileType.NotFound else "it is a folder"
            raise _refuse(url, what, "name one of its files")
        with store.open_input_stream(path) as opened:
            return _copy(opened, folder / _name(path, ""))
    except (OSError, pa.ArrowException, ImportError) as error:
        said = next(iter(str(error).splitlines()), "it cannot be read")
        raise _refuse(
            url, said[:300], "correct the URL, or what the store's credentials are"
        ) from error


def _copy_input(folder: Path) -> Path:
    if sys.stdin is None:
        raise _refuse("-", "standard input is closed", "pipe data in, or name a file")
    source = sys.stdin.buffer
    head = source.read(64)
    ends = next((e for begin, e in _HEADS if head.lstrip().startswith(begin)), ".csv")
    ends = ".json" if head.lstrip().startswith(b"[") else ends
    if not head.strip():
        raise _refuse("-", "standard input has nothing", "pipe data in, or name a file")
    made = folder / f"rows{ends}"
    with made.open("wb") as written:
        written.write(head)
        shutil.copyfileobj(source, written)
    return made


def _name(path: str, kind: str) -> str:
    """The name of a file that a URL's path ends with; `kind`: its ending, if the name has none."""
    name = Path(unquote(path)).name or "rows"
    return name if Path(name).suffix or not kind else f"{name}{kind}"


def _copy(source: "IO[bytes]", made: Path) -> Path:
    with closing(source), made.open("wb") as written:
        shutil.copyfileobj(source, written)
    return made


def hide_login(url: str) -> str:
    """A URL without a name and a password in it.

    >>> hide_login("kafka://me:secret@broker/topic")
    'kafka://broker/topic'
    """
    return re.sub("://[^/]*@", "://", url, count=1)


def _refuse(url: str, what: str, fix: str) -> UsageError:
    return UsageError(
        f"{hide_login(url)} cannot be read: {what}",
        why="what is not here is copied into the project",
        fix=fix,
        source=Source("--from"),
    )
