"""Points in the annotated CSV that InfluxDB exports."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from ontoweir.errors import DataError, Source
from ontoweir.mappings.model.column_types import epoch_us, parse_instant
from ontoweir.scaffold.texts.points import Point, Value

_NOT_TAGS = {"", "result", "table", "_start", "_stop", "_time", "_value", "_field", "_measurement"}
_NUMBERS = {"double": float, "long": int, "unsignedLong": int}


def read_annotated(file: Path) -> list[Point]:
    """The points of a file: the fields of one measurement, time and tags are one.

    Raises:
        DataError: a table has no time, measurement, field or value.
    """
    points: dict[tuple[str, int, tuple[tuple[str, str], ...]], dict[str, Value]] = {}
    for number, row, types in _list_rows(file):
        try:
            time = epoch_us(parse_instant(row["_time"]))
            tags = tuple((n, v) for n, v in row.items() if n not in _NOT_TAGS and v)
            fields = points.setdefault((row["_measurement"], time, tags), {})
            fields[row["_field"]] = _read(row["_value"], types["_value"])
        except (KeyError, ValueError):
            raise DataError(
                "the row is no point",
                why="a point has _time, _measurement, _field and _value",
                fix="export a query without pivot and aggregates of several series",
                source=Source(str(file), number),
            ) from None
    return [
        Point(series, time, {**dict(tags), **fields})
        for (series, time, tags), fields in points.items()
    ]


def _list_rows(file: Path) -> Iterator[tuple[int, Mapping[str, str], Mapping[str, str]]]:
    """The rows with their columns by name, and the types of these."""
    types: list[str] = []
    defaults: list[str] = []
    names: list[str] | None = None
    with file.open(encoding="utf-8-sig", newline="") as opened:
        reader = csv.reader(opened)
        for row in reader:
            if not any(row):
                continue
            if row[0].startswith("#"):
                names = None
                if row[0] == "#datatype":
                    types = row
                elif row[0] == "#default":
                    defaults = row
            elif names is None:
                names = row
            else:
                padded = [*defaults, *[""] * (len(names) - len(defaults))]
                cells = (cell or other for cell, other in zip(row, padded, strict=False))
                given = dict(zip(names, cells, strict=False))
                yield reader.line_num, given, dict(zip(names, types, strict=False))


def _read(text: str, kind: str) -> Value:
    if kind == "boolean":
        return text == "true"
    return None if not text else _NUMBERS.get(kind, str)(text)
