"""Rows of a table that is one JSON document, as pandas writes its frames."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
_NUMBER = re.compile(r"-?\d+")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?")
_EPOCH = 100_000_000
"""Whole numbers of an index from here on are times since 1970, not numbers of rows."""
_SPLIT = {"columns", "index", "data"}


def read_frame(document: object) -> list[Row] | None:
    """The rows (None: it is no frame), of each of the ways that pandas has (`orient`): `split`
    (`columns`, `index` and `data`), `columns` (by column, by index), `index` (by index, by column)
    and `values` (an array of arrays, below the names of columns where there is a line of texts
    above numbers). The index is a column of its own: `time`, where it has times, else `index`; it
    is left out where it numbers rows.

    Args:
        document: as json reads it.
    """
    if isinstance(document, list):
        return _read_values(document)
    if not isinstance(document, dict) or not document:
        return None
    if {"columns", "data"} <= document.keys() <= _SPLIT:
        return _read_split(document)
    members = list(document.values())
    if not all(isinstance(one, dict) and one for one in members):
        return None
    if any(isinstance(value, dict | list) for one in members for value in one.values()):
        return None
    if any(one.keys() != members[0].keys() for one in members):
        return None
    if _is_index(members[0]):
        index = list(members[0])
        columns = list(document)
        return _make(columns, index, [[by[key] for by in members] for key in index])
    if _is_index(document):
        columns = list(members[0])
        return _make(columns, list(document), [[one[c] for c in columns] for one in members])
    return None


def _is_index(keys: Mapping[str, Any]) -> bool:
    """Whether names are those of rows: all numbers, or all times."""
    return all(map(_NUMBER.fullmatch, keys)) or all(map(_TIME.fullmatch, keys))


def _read_split(document: Mapping[str, Any]) -> list[Row] | None:
    columns, data = document["columns"], document["data"]
    if not isinstance(columns, list) or not _is_array(data, len(columns)):
        return None
    index = document.get("index", range(len(data)))
    if len(index) != len(data) or any(isinstance(one, list) for one in index):
        return None
    return _make(columns, index, data)


def _read_values(document: list[Any]) -> list[Row] | None:
    if len(document) < 2 or not isinstance(document[0], list):
        return None
    width = len(document[0])
    if width < 2 or not _is_array(document, width):
        return None
    first, *rest = document
    texts = all(isinstance(cell, str) for cell in first) and len({*first}) == width
    numbers = any(all(isinstance(row[n], int | float) for row in rest) for n in range(width))
    if texts and numbers:
        return _make(first, range(len(rest)), rest)
    return _make([f"_c{n}" for n in range(width)], range(len(document)), document)


def _is_array(data: object, width: int) -> bool:
    """Whether there are rows of so many plain values each."""
    return (
        isinstance(data, list)
        and width > 0
        and all(isinstance(row, list) and len(row) == width for row in data)
        and not any(isinstance(cell, dict | list) for row in data for cell in row)
    )


def _make(columns: Sequence[Any], index: Sequence[Any], data: Sequence[Sequence[Any]]) -> list[Row]:
    """Rows of objects; names that come twice are told apart by a number."""
    shown = [" ".join(map(str, c)) if isinstance(c, list) else str(c) for c in columns]
    names = list(_tell_apart(shown))
    keys = [int(k) if isinstance(k, str) and _NUMBER.fullmatch(k) else k for k in index]
    if keys == list(range(len(data))):
        return [dict(zip(names, row, strict=True)) for row in data]
    called = "time" if all(map(_is_time, keys)) else "index"
    while called in names:
        called += "_"
    rows = zip(keys, data, strict=True)
    return [{called: key, **dict(zip(names, row, strict=True))} for key, row in rows]


def _tell_apart(names: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        new, number = name, 2
        while new in seen or (new != name and new in names):
            new, number = f"{name}_{number}", number + 1
        seen.add(new)
        yield new


def _is_time(key: object) -> bool:
    if isinstance(key, int):
        return abs(key) >= _EPOCH
    return isinstance(key, str) and _TIME.fullmatch(key) is not None
