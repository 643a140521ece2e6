"""What is written down of the rows that are kept of a stream, and read by the next replay."""

import json
import os
import uuid
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from ontoweir.runtime.sources.history import Piece
from ontoweir.runtime.sources.identify_file import FileIdentity

_Place = tuple[str, int, int, int, int | None, int | None, int]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which folder has the rows, of what they were made, and what their files are.

    `sources`: (path, hash); `parts`: (name, the file that messages name, hash), in order;
    `pieces`: (name, and of a Piece in it `group`, `rows`, `first`, `low`, `high`, `size`), in
    order; `columns`: those that the rows have; `spare`: of these, those that a file may lack;
    `filled`: those without a NULL; `seen`: how all of the files were when their hashes were
    compared, if whatever changes them later shows.
    """

    folder: str
    sources: tuple[tuple[str, str], ...]
    parts: tuple[tuple[str, str, str], ...]
    pieces: tuple[_Place, ...]
    columns: tuple[str, ...]
    spare: tuple[str, ...]
    filled: tuple[str, ...]
    seen: tuple[FileIdentity, ...] | None = None

    def list_pieces(self, place: Path, columns: Sequence[str]) -> tuple[Piece, ...]:
        """The pieces, with their sizes for some of the columns; `place`: where the folder is."""
        shown = {name: file for name, file, _ in self.parts}
        pieces = []
        for name, group, rows, first, low, high, size in self.pieces:
            used = size * (len(columns) + 1) // (len(self.columns) + 1)
            file = str(place / self.folder / os.path.basename(name))
            pieces.append(Piece(file, group, rows, shown[name], first, {}, low, high, used))
        return tuple(pieces)

    def holds(self, columns: Sequence[str], spare: Set[str]) -> bool:
        """Whether the rows have some columns, and every file has those that are not spare."""
        return {*columns} <= {*self.columns} and {*self.spare} & {*columns} <= spare


def read_manifest(file: Path) -> Manifest | None:
    """What is kept (None: nothing, or it cannot be read)."""
    try:
        held = json.loads(file.read_bytes())
        sources = tuple((str(path), str(digest)) for path, digest in held["sources"])
        parts = tuple((str(n), str(shown), str(digest)) for n, shown, digest in held["parts"])
        pieces = tuple(_read_place(piece) for piece in held["pieces"])
        seen = None
        if held.get("seen") is not None:
            seen = tuple(
                (str(path), int(device), int(node), int(size), int(written), int(changed), str(end))
                for path, device, node, size, written, changed, end in held["seen"]
            )
        columns, spare, filled = (
            tuple(map(str, held[names])) for names in ("columns", "spare", "filled")
        )
        folder = os.path.basename(held["folder"])
        return Manifest(folder, sources, parts, pieces, columns, spare, filled, seen)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def describe_pieces(pieces: Sequence[Piece]) -> tuple[_Place, ...]:
    """Pieces as a manifest has them."""
    return tuple(
        (os.path.basename(p.file), p.group, p.rows, p.first, p.low, p.high, p.size) for p in pieces
    )


def _read_place(held: Sequence[object]) -> _Place:
    """
    Raises:
        ValueError, TypeError: it is none.
    """
    name, *numbers = held
    group, rows, first, low, high, size = (None if n is None else int(str(n)) for n in numbers)
    if group is None or rows is None or first is None or size is None:
        raise ValueError("a piece is cut off")
    return str(name), group, rows, first, low, high, size


def write_manifest(file: Path, manifest: Manifest) -> None:
    held = {
        "folder": manifest.folder,
        "sources": manifest.sources,
        "parts": manifest.parts,
        "pieces": manifest.pieces,
        "columns": manifest.columns,
        "spare": manifest.spare,
        "filled": manifest.filled,
        "seen": manifest.seen,
    }
    new = file.with_name(f"{file.name}.{uuid.uuid4().hex}.tmp")
    new.write_text(json.dumps(held), encoding="utf-8")
    new.replace(file)
