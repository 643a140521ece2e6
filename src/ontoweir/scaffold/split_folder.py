"""Which tables the files of a folder are."""

import csv
import glob
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from ontoweir.errors import DataError, Source
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.open_packed import open_packed
from ontoweir.scaffold.read_sample import form_of, list_files

_HEAD = 1 << 16
_LINES = 200
_SEPARATORS = ",;\t|"
_VALUE = re.compile(r"\s*[+-]?[0-9][0-9.,:/TZ+-]*\s*")
_ALIKE = 0.5
"""Lines of JSON are of one table that have so much of their members' names in common."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A format, and the names of the columns (of CSV without a header: numbers for them)."""

    form: str
    names: frozenset[str]

    def is_like(self, first: "_Shape") -> bool:
        """Whether a file goes with the first one of a table, whose columns are the table's: of
        lines of JSON, each of which may lack members, most are alike. Nothing is known of an empty
        file."""
        if self.form != first.form:
            return False
        both = self.names | first.names
        if not self.names or self.form != "jsonl":
            return not self.names or first.names <= self.names
        return len(self.names & first.names) >= _ALIKE * len(both)


def split_folder(folder: Path) -> Sequence[Path]:
    """The tables of a folder: itself, if all its files have one format and, most of them, the same
    columns; else its files, and folders; of several files that are alike a pattern of their names,
    or, where none has them and no others, each.
    Of folders of partitions, `day=1` and `day=2`, in each of which several tables are, those that
    are called alike are one.

    Args:
        folder: of files of data; or of a table that has a log.

    Raises:
        DataError: a file cannot be read.
    """
    if any((folder / log).is_dir() for log in ("_delta_log", "metadata")):
        return [folder]
    shapes = {file: _read_shape(file) for file in list_files(folder)}
    if not shapes or len(_group(shapes)) == 1:
        return [folder]
    tables: list[Path] = []
    parts: dict[tuple[str, str], list[Path]] = {}
    for inner in sorted(p for p in folder.iterdir() if p.is_dir()):
        if not any(inner in file.parents for file in shapes):
            continue
        key, mark, _ = inner.name.partition("=")
        for table in split_folder(inner):
            if mark:
                parts.setdefault((key, _locate(table, inner)), []).append(table)
            else:
                tables.append(table)
    for (key, place), found in parts.items():
        whole = Path(f"{glob.escape(str(folder / key))}=*", place)
        tables.append(found[0] if len(found) == 1 else whole)
    own = {file: shape for file, shape in shapes.items() if file.parent == folder}
    for group in _group(own):
        pattern = group[0] if len(group) == 1 else _find_pattern(group, folder)
        tables.extend(group if pattern is None else [pattern])
    return tables


def list_others(folder: Path) -> list[Path]:
    """The files of a folder that are no files of data by their names; of a table that has a log
    none."""
    if any((folder / log).is_dir() for log in ("_delta_log", "metadata")):
        return []
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file()
        and not form_of(file)
        and not any(part[0] in "._" for part in file.relative_to(folder).parts)
    )


def _group(shapes: dict[Path, _Shape]) -> list[list[Path]]:
    groups: list[tuple[_Shape, list[Path]]] = []
    for file, shape in sorted(shapes.items(), key=lambda one: (not one[1].names, one[0])):
        known = next((files for first, files in groups if shape.is_like(first)), None)
        if known is None:
            groups.append((shape, [file]))
        else:
            known.append(file)
    return [sorted(files) for _, files in groups]


def _locate(table: Path, folder: Path) -> str:
    """Where the files of a table are in the folder of a partition: a pattern."""
    place = str(table.relative_to(folder))
    if table == folder or not table.is_dir():
        return place if glob.has_magic(place) else glob.escape(place)
    first = list_files(table)[0]
    return f"{glob.escape(place)}/**/*{''.join(first.suffixes)}"


def _find_pattern(group: Sequence[Path], folder: Path) -> Path | None:
    """A pattern that has these files of a folder, and no others (None: there is none)."""
    names = [file.name for file in group]
    before = _common(names)
    after = _common([n[len(before) :][::-1] for n in names])[::-1]
    for rest in ("*", "[0-9]*"):  # s000.csv to s299.csv, beside site.csv
        made = folder / f"{glob.escape(before)}{rest}{glob.escape(after)}"
        if {Path(p) for p in glob.glob(str(made))} == set(group):
            return made
    return None


def _common(texts: Sequence[str]) -> str:
    """How all begin."""
    letters = zip(*texts, strict=False)
    return "".join(one[0] for one in takewhile(lambda one: len({*one}) == 1, letters))


def _read_shape(file: Path) -> _Shape:
    form = form_of(file)
    match form:
        case "csv":
            return _Shape(form, _read_header(_head(file)))
        case "jsonl":
            return _Shape(form, _read_members(_head(file)))
        case "parquet":
            import pyarrow.parquet as pq

            try:
                return _Shape(form, frozenset(pq.read_schema(file).names))
            except (OSError, ValueError):  # which is said where it is read
                return _Shape(form, frozenset())
        case _:
            return _Shape(form, frozenset())


def _head(file: Path) -> str:
    try:
        with open_packed(str(file)) as opened:
            return str(opened.read(_HEAD).decode("utf-8-sig", "replace"))
    except (OSError, NotPlain) as error:
        raise DataError(
            f"{file} cannot be read: {error}",
            why="which files of a folder are one table is seen in how they begin",
            fix="correct it, or move it out of the folder",
            source=Source(str(file)),
        ) from error


def _read_header(head: str) -> frozenset[str]:
    first = head.partition("\n")[0].rstrip("\r")
    separator = max(_SEPARATORS, key=first.count)
    separator = separator if separator in first else " "
    cells = next(csv.reader(io.StringIO(first), delimiter=separator), [])
    if any(_VALUE.fullmatch(cell) for cell in cells):
        return frozenset(f"_c{n}" for n in range(len(cells)))
    return frozenset(cell.strip() for cell in cells)


def _read_members(head: str) -> frozenset[str]:
    names = set[str]()
    for line in head.split("\n")[:_LINES]:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        names |= row.keys() if isinstance(row, dict) else set()
    return frozenset(names)
