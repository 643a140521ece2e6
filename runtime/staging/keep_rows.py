"""Keep the rows that were made of a stream's files beside the project, for the next replay.

They are used again if the files, what is declared of the stream, the program, and the kept rows
themselves are as they were. That is seen by the identities of files (identify_files); where one is
another, or too new, contents are compared, by SHA-256.
"""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path

import pyarrow as pa

from ontoweir.cache.digest_file import digest_program
from ontoweir.errors import RunError, Source
from ontoweir.mappings.model.catalog import Stream
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.identify_file import FileIdentity, identify_files
from ontoweir.runtime.sources.read_source import Located, drop_empty, unreadable
from ontoweir.runtime.staging.list_staged import list_staged

_FOLDER = Path(".ontoweir") / "kept"
_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class _Manifest:
    """Which folder has the rows, of what they were made, and what their files are.

    `sources`: (path, hash); `parts`: (name, the file that messages name, hash), in order; `seen`:
    how all of them were when their hashes were compared, if that was long enough after they had
    changed.
    """

    folder: str
    sources: tuple[tuple[str, str], ...]
    parts: tuple[tuple[str, str, str], ...]
    seen: tuple[FileIdentity, ...] | None = None


def keep_rows(
    stream: Stream,
    located: Located,
    columns: Sequence[str],
    spare: Set[str],
    project: Path,
    make: Callable[[Path], tuple[Piece, ...] | None],
) -> tuple[Piece, ...] | None:
    """The row groups of a stream's kept rows, which are made if there are none that are valid.

    Args:
        stream: whose rows they are.
        located: its local files.
        columns: those in use, without the timestamp.
        spare: of these, those that are NULL where a file lacks them.
        project: the folder of the project, in which they are kept.
        make: writes the rows to Parquet files in a folder to be.

    Returns:
        None: `make` makes none.

    Raises:
        DataError: a file cannot be read.
        RunError: the disk does not take them.
    """
    files = drop_empty(stream.data, located.files or ())
    place = project / _FOLDER / f"{stream.name}-{_digest_declared(stream, columns, spare)[:20]}"
    known = _read_manifest(place / _MANIFEST)
    now = None if known is None else identify_files([*files, *_list_parts(place, known)])
    if known is not None and now is not None and known.seen == now:
        return _list(stream, columns, place, known)
    sources = _digest(files)
    if known is not None and known.sources == sources and _is_whole(place, known):
        if now is not None and now == identify_files([*files, *_list_parts(place, known)]):
            with suppress(OSError):
                _write_manifest(place / _MANIFEST, replace(known, seen=now))
        return _list(stream, columns, place, known)
    folder = place / uuid.uuid4().hex
    try:
        place.mkdir(parents=True, exist_ok=True)
        pieces = make(folder)
        if pieces is not None:
            shown = {os.path.basename(piece.file): piece.shown for piece in pieces}
            hashes = _digest([str(folder / name) for name in shown])
            parts = tuple(
                (name, file, held)
                for (name, file), (_, held) in zip(shown.items(), hashes, strict=True)
            )
            # of files that changed while they were read, nothing is used again
            made_of = sources if _digest(files) == sources else ()
            _write_manifest(place / _MANIFEST, _Manifest(folder.name, made_of, parts))
            if known is not None:
                shutil.rmtree(place / known.folder, ignore_errors=True)
        return pieces
    except OSError as error:
        raise RunError(
            f"{place} cannot be written: {error.strerror or error}",
            why=f"the source of {stream.name} has keep = true, so its rows are kept beside the "
            "project",
            fix="make room there, or remove keep",
            source=Source(str(place)),
        ) from error


def _digest_declared(stream: Stream, columns: Sequence[str], spare: Set[str]) -> str:
    """A text that changes with whatever decides what is made of the files."""
    types = [repr(c) for c in stream.columns if c.name in columns]
    said = [digest_program(), pa.__version__, repr(stream.data), stream.timestamp]
    said += [repr(stream.written), *types]
    return sha256("\n".join([*said, repr(sorted(spare))]).encode()).hexdigest()


def _digest(files: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """
    Raises:
        DataError: a file cannot be read.
    """
    with ThreadPoolExecutor(max_workers=2) as pool:
        return tuple(zip(files, pool.map(_digest_one, files), strict=True))


def _digest_one(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            return file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(file, error) from error


def _read_manifest(file: Path) -> _Manifest | None:
    """What is kept (None: nothing, or it cannot be read)."""
    try:
        held = json.loads(file.read_bytes())
        sources = tuple((str(path), str(digest)) for path, digest in held["sources"])
        parts = tuple((str(n), str(shown), str(digest)) for n, shown, digest in held["parts"])
        seen = None
        if held.get("seen") is not None:
            seen = tuple(
                (str(path), int(device), int(node), int(size), int(written), int(changed), str(end))
                for path, device, node, size, written, changed, end in held["seen"]
            )
        return _Manifest(os.path.basename(held["folder"]), sources, parts, seen)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write_manifest(file: Path, manifest: _Manifest) -> None:
    held = {
        "folder": manifest.folder,
        "sources": manifest.sources,
        "parts": manifest.parts,
        "seen": manifest.seen,
    }
    new = file.with_name(f"{file.name}.{uuid.uuid4().hex}.tmp")
    new.write_text(json.dumps(held), encoding="utf-8")
    new.replace(file)


def _is_whole(place: Path, known: _Manifest) -> bool:
    """Whether the kept files are as they were written."""
    files = _list_parts(place, known)
    if not known.sources or not all(map(os.path.isfile, files)):
        return False
    found = _digest(files)
    return [held for _, held in found] == [held for _, _, held in known.parts]


def _list_parts(place: Path, known: _Manifest) -> list[str]:
    return [str(place / known.folder / os.path.basename(name)) for name, _, _ in known.parts]


def _list(
    stream: Stream, columns: Sequence[str], place: Path, known: _Manifest
) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for name, shown, _ in known.parts:
        pieces += list_staged([place / known.folder / name], stream, columns, shown)
    return tuple(pieces)
