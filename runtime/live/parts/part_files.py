"""The state of a part in files that all machines see: what has changed of it, step by step.

Every step of a part has one file, with the whole of small tables and what has changed of large
ones. Files of steps that were not committed are left where they are: nothing refers to them.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.checkpoint.state_tables import decode_table, encode_table
from ontoweir.runtime.live.checkpoint.sync_files import sync_file
from ontoweir.runtime.live.checkpoint.table_changes import apply_change, encode_change
from ontoweir.runtime.live.model.divided_state import Piece

_MOST_CHANGES = 32
"""A table that has changed so many times since it was written whole is written whole again."""


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A table, and where it is: whole, and what has changed since."""

    table: pa.Table
    pieces: tuple[Piece, ...]

    @property
    def is_worn(self) -> bool:
        """Whether its changes are many, or together about as long as it is."""
        changes = sum(piece.length for piece in self.pieces[1:])
        return len(self.pieces) > _MOST_CHANGES or 2 * changes > self.pieces[0].length


def write_tables(
    folder: Path, name: str, before: Mapping[str, KeptTable], tables: Mapping[str, pa.Table]
) -> dict[str, KeptTable]:
    """Write what has changed of tables to a file, which is on the disk then; where nothing has,
    there is no file.

    Args:
        folder: of all files.
        name: of the file: no other has it.
        before: the tables that were written before.
        tables: the tables now.

    Raises:
        RunError: the disk does not take it.
    """
    after: dict[str, KeptTable] = {}
    contents: list[bytes] = []
    start = 0
    for key, table in tables.items():
        content, pieces = _encode(before.get(key), table)
        digest = hashlib.sha256(content).hexdigest()
        held = before.get(key)
        if held is not None and not pieces and [p.sha256 for p in held.pieces] == [digest]:
            content, pieces = b"", held.pieces
        if content:
            pieces = (*pieces, Piece(name, start, len(content), digest))
            contents.append(content)
            start += len(content)
        after[key] = KeptTable(table, pieces)
    if contents:
        _write(folder, name, contents)
    return after


def _encode(held: KeptTable | None, table: pa.Table) -> tuple[bytes, tuple[Piece, ...]]:
    """What of a table is to be written (nothing: no byte), and the pieces that it follows."""
    if held is not None and table.num_rows >= table_changes.LARGE and not held.is_worn:
        change = encode_change(held.table, table)
        if change is not None:
            return change, held.pieces
    return encode_table(table), ()


def _write(folder: Path, name: str, contents: Sequence[bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / name, "xb") as opened:
            for content in contents:
                opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        sync_file(folder)
    except OSError as error:
        raise RunError(
            f"the state of a part cannot be written to {folder}: {error.strerror or error}",
            why="executors and the driver exchange states in a folder of the checkpoint",
            fix="make room, or mend the disk; with executors on several machines, name a "
            "--checkpoint in a file system that all of them see at one path",
        ) from error


def read_tables(folder: Path, pieces: Mapping[str, Sequence[Piece]]) -> dict[str, KeptTable]:
    """Tables as they were written.

    Raises:
        UsageError: a file is damaged, or gone.
    """
    tables = {}
    for key, (whole, *changes) in pieces.items():
        table = decode_table(_read(folder, whole))
        for change in changes:
            table = apply_change(table, _read(folder, change))
        tables[key] = KeptTable(table, (whole, *changes))
    return tables


def _read(folder: Path, piece: Piece) -> bytes:
    file = folder / piece.file
    try:
        with open(file, "rb") as opened:
            opened.seek(piece.start)
            content = opened.read(piece.length)
    except OSError as error:
        raise _damaged(file, f"it cannot be read ({error.strerror or error})") from error
    if hashlib.sha256(content).hexdigest() != piece.sha256:
        raise _damaged(file, "it is not what was written")
    return content


def _damaged(file: Path, what: str) -> UsageError:
    return UsageError(
        f"the state of a part is damaged: {what}",
        why="the state of a run is trusted only whole",
        fix="restore it from a copy; with executors on several machines, name a --checkpoint in a "
        "file system that all of them see at one path; or start with a new checkpoint and replay "
        "the history",
        source=Source(str(file)),
    )


def drop_files(folder: Path, used: frozenset[str]) -> None:
    """Remove all files of a folder but those in use; what cannot be removed stays."""
    if not folder.is_dir():
        return
    for file in folder.glob("*.part"):
        if file.name not in used:
            file.unlink(missing_ok=True)
