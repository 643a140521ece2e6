"""Put a file into an object store, by Arrow's file systems."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ontoweir.errors import RunError, Source, UsageError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_WHOLE = ("s3", "gs", "gcs")
"""Stores where an object appears when all of it is there, in the place of the one before."""
_RENAMED = ("abfs", "abfss", "hdfs")
"""Stores where it grows, and is put into its place by a name."""
_SECRETS = re.compile(r"(?<=://)[^/@]*@|\?.*")


def is_address(text: str) -> bool:
    """Whether a text is an address of an object store.

    >>> [is_address(t) for t in ("s3://b/a.csv", "file:///a.csv", "s3/a.csv", "-")]
    [True, False, False, False]
    """
    scheme, colon, _ = text.partition("://")
    return bool(colon) and scheme in (*_WHOLE, *_RENAMED)


def refuse_address(place: Path, option: str, fix: str) -> None:
    """Refuse an object store where a folder or file of this machine is needed.

    Args:
        place: what was made of the address: a path that has its scheme as a folder.
        option: what names it.
        fix: what to name.

    Raises:
        UsageError: it is one.
    """
    if any(f"{scheme}:" in place.parts for scheme in (*_WHOLE, *_RENAMED)):
        raise UsageError(
            f"{option} names an object store",
            why="what is written there is renamed, compared and removed, as only a disk allows",
            fix=fix,
            source=Source(option),
        )


@contextmanager
def putting_object(output: str) -> Iterator[str]:
    """What is to be written in the place of an output: a file of this machine that is put into the
    object store when it is whole, if that is what the output names; else the output.

    Raises:
        UsageError: there is no such store, or Arrow has none of this kind here.
        RunError: the file cannot be put there; what was there before is intact.
    """
    if not is_address(output):
        yield output
        return
    store, path = _open(output)
    with tempfile.TemporaryDirectory(prefix="ontoweir-object-") as folder:
        file = Path(folder, unquote(urlsplit(output).path).rpartition("/")[2])
        yield str(file)
        _put(file, store, path, output)


def _open(output: str) -> "tuple[FileSystem, str]":
    """The store of an address, and the path in it."""
    import pyarrow as pa
    from pyarrow.fs import FileType

    try:
        store, path = find_store(output)
        folder, _, name = path.rpartition("/")
        held = store.get_file_info(path)
        above = store.get_file_info(folder.partition("/")[0] or "/")
    except (OSError, pa.ArrowException, ImportError, ValueError) as error:
        said = next(iter(str(error).splitlines()), "it cannot be reached")[:300]
        raise _refused(output, said, "correct the address, or the store's credentials") from error
    if not folder or not name or held.type == FileType.Directory:
        raise _refused(output, "that names a folder", "name a file in it")
    if above.type == FileType.NotFound:
        raise _refused(output, "there is no such bucket or container", "make it, or correct it")
    return store, path


def find_store(output: str) -> "tuple[FileSystem, str]":
    """The store of an address, and the path in it, as Arrow has them."""
    from pyarrow.fs import FileSystem

    store, path = FileSystem.from_uri(output)
    return store, path


def _put(file: Path, store: "FileSystem", path: str, output: str) -> None:
    import pyarrow as pa

    scheme = output.partition(":")[0]
    folder, _, name = path.rpartition("/")
    place = path if scheme in _WHOLE else f"{folder}/.{name}.writing"
    try:
        with file.open("rb") as source, store.open_output_stream(place) as target:
            shutil.copyfileobj(source, target, 8 << 20)
        found, wanted = store.get_file_info(place).size, file.stat().st_size
        if found != wanted:
            raise OSError(f"it has {found} bytes there, and {wanted:,} here")
        if place != path:
            store.move(place, path)
    except (OSError, pa.ArrowException, NotImplementedError) as error:
        if place != path:
            with suppress(OSError, pa.ArrowException):
                store.delete_file(place)
        said = next(iter(str(error).splitlines()), "it breaks off")[:300]
        raise RunError(
            f"{show_address(output)} cannot be written: {said}",
            why="the answers were whole, and are put there as a whole",
            fix="check the store, and run it again; or name a file of this machine",
            source=Source("--output"),
        ) from error


def _refused(output: str, why: str, fix: str) -> UsageError:
    shown = f"cannot write {show_address(output)}"
    return UsageError(shown, why=why, fix=fix, source=Source("--output"))


def show_address(output: str) -> str:
    """An output, where it is an address without what may be secret in it."""
    return _SECRETS.sub("", output) if is_address(output) else output
