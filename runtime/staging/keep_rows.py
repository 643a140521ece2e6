"""Keep the rows that were made of a stream's files beside the project, for the next replay.

They are used again if the files, what is declared of the stream, the program, and the kept rows
themselves are as they were. That is seen by the identities of files (describe_files); where one is
another, or was too new, contents are compared, by SHA-256.
"""

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
from ontoweir.runtime.located.locate_source import Located
from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.identify_file import (
    FileIdentity,
    await_tick,
    describe_files,
    identify_files,
)
from ontoweir.runtime.sources.read_source import drop_empty, unreadable
from ontoweir.runtime.staging.kept_manifest import (
    Manifest,
    describe_pieces,
    read_manifest,
    write_manifest,
)
from ontoweir.runtime.staging.map_rows import MappedRows, map_rows

_Make = Callable[[Path, Sequence[str], Set[str]], tuple[Piece, ...] | None]
_FOLDER = Path(".ontoweir") / "kept"
_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """Pieces; how their files were when they were compared with what an earlier replay has written
    (none: this one has); and the columns without a NULL, as far as that is known."""

    pieces: tuple[Piece, ...]
    files: tuple[FileIdentity, ...] = ()
    filled: frozenset[str] = frozenset()


def keep_rows(
    stream: Stream,
    located: Located,
    columns: Sequence[str],
    spare: Set[str],
    project: Path,
    make: _Make,
) -> Kept | None:
    """The row groups of a stream's kept rows, which are made if there are none that are valid. Rows
    that are made again for more columns have those that were kept, too.

    Args:
        stream: whose rows they are.
        located: its local files.
        columns: those in use, without the timestamp.
        spare: of these, those that are NULL where a file lacks them.
        project: the folder of the project, in which they are kept.
        make: writes the rows to Parquet files in a folder to be, with some columns, of which those
            that are spare may be missing. They are kept as mapped files (map_rows).

    Returns:
        None: `make` makes none.

    Raises:
        DataError: a file cannot be read.
        RunError: the disk does not take them.
    """
    files = drop_empty(stream.data, located.files or ())
    place = project / _FOLDER / f"{stream.name}-{_digest_declared(stream)[:20]}"
    known = read_manifest(place / _MANIFEST)
    sources: tuple[tuple[str, str], ...] | None = None
    if known is not None and known.holds(columns, spare):
        held = _list_parts(place, known)
        now = describe_files([*files, *held])
        if now is not None and now == known.seen:
            return Kept(known.list_pieces(place, columns), now, frozenset(known.filled))
        sources = _digest(files)
        if now is not None and known.sources == sources and _is_whole(place, known):
            if now == identify_files([*files, *held]):
                with suppress(OSError):
                    write_manifest(place / _MANIFEST, replace(known, seen=now))
            return Kept(known.list_pieces(place, columns), now, frozenset(known.filled))
    if known is not None:
        more = [c.name for c in stream.columns if c.name in {*known.columns, *columns}]
        spare = {c for c in more if c not in columns or c in spare}
        columns = more
    try:
        place.mkdir(parents=True, exist_ok=True)
        sources = _digest(files) if sources is None else sources
        mapped = _keep_anew(stream, (place, files, sources), (columns, spare), make)
        if mapped is not None and known is not None:
            shutil.rmtree(place / known.folder, ignore_errors=True)
        return None if mapped is None else Kept(mapped.pieces, filled=mapped.filled)
    except OSError as error:
        raise RunError(
            f"{place} cannot be written: {error.strerror or error}",
            why=f"the source of {stream.name} has keep = true, so its rows are kept beside the "
            "project",
            fix="make room there, or remove keep",
            source=Source(str(place)),
        ) from error


def _keep_anew(
    stream: Stream,
    origin: tuple[Path, Sequence[str], tuple[tuple[str, str], ...]],
    wanted: tuple[Sequence[str], Set[str]],
    make: _Make,
) -> MappedRows | None:
    """Make rows, and write down what they are (None: `make` makes none); `origin`: where they are
    kept, the files, and their hashes; `wanted`: the columns, and those that are spare."""
    place, files, sources = origin
    folder = place / uuid.uuid4().hex
    before = identify_files(files)
    try:
        pieces = make(folder, *wanted)
        if pieces is None:
            return None
        mapped = map_rows(pieces, stream)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shown = {os.path.basename(piece.file): piece.shown for piece in mapped.pieces}
    written = [str(folder / name) for name in shown]
    for file in folder.iterdir():  # of files without rows
        if file.name not in shown:
            file.unlink()
    waited = written and before is not None and await_tick(folder, written)
    seen = describe_files([*files, *written]) if waited else None
    parts = tuple(
        (name, file, digest)
        for (name, file), (_, digest) in zip(shown.items(), _digest(written), strict=True)
    )
    # of files that changed while they were read, nothing is used again
    made_of = sources if _digest(files) == sources else ()
    if seen is not None and (made_of != sources or not _stays(seen, before or (), written)):
        seen = None
    columns, spare = wanted
    made = Manifest(
        folder.name,
        made_of,
        parts,
        describe_pieces(mapped.pieces),
        tuple(columns),
        tuple(sorted(spare)),
        tuple(sorted(mapped.filled & {*columns})),
        seen,
    )
    write_manifest(place / _MANIFEST, made)
    return mapped


def _digest_declared(stream: Stream) -> str:
    """A text that changes with whatever decides what is made of the files."""
    said = [digest_program(), pa.__version__, repr(stream.data), stream.timestamp]
    said += [repr(stream.written), *map(repr, stream.columns)]
    return sha256("\n".join(said).encode()).hexdigest()


def _stays(
    seen: tuple[FileIdentity, ...], before: tuple[FileIdentity, ...], written: Sequence[str]
) -> bool:
    """Whether files are still as they were: those that were read since before they were, and those
    that were written since before they were hashed."""
    return seen[: len(before)] == before and describe_files(written) == seen[len(before) :]


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


def _is_whole(place: Path, known: Manifest) -> bool:
    """Whether the kept files are as they were written."""
    files = _list_parts(place, known)
    if not known.sources or not all(map(os.path.isfile, files)):
        return False
    found = _digest(files)
    return [held for _, held in found] == [held for _, _, held in known.parts]


def _list_parts(place: Path, known: Manifest) -> list[str]:
    return [str(place / known.folder / os.path.basename(name)) for name, _, _ in known.parts]
