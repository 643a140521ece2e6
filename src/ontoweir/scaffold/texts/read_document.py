"""Rows in one JSON document: an array, what Prometheus answers, series by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from ontoweir.scaffold.copies.read_frame import read_frame

Row = Mapping[str, Any]


def read_document(document: object) -> list[Row] | None:
    """The rows (None: it is no such document): of an array of objects, also as the one such member
    of an object, or of the object in it; the samples of what Prometheus answers to a query, each
    with its labels, `ts` and `value`; of series by name, `{"temp": [{"ts": …, "value": …}]}`, each
    row with its `key`; of a frame of pandas (`read_frame`).

    Args:
        document: as json reads it.
    """
    if (framed := read_frame(document)) is not None:
        return framed
    if _is_rows(document):
        assert isinstance(document, list)
        rows: list[Row] = document
        return rows
    if not isinstance(document, dict):
        return None
    data = document.get("data")
    if isinstance(data, dict) and data.get("resultType") in ("matrix", "vector"):
        return list(_list_samples(data["result"]))
    lists = {name: value for name, value in document.items() if _is_rows(value)}
    if len(lists) == len(document) > 0 and all("ts" in r for rows in lists.values() for r in rows):
        return [{"key": n, **_number(row)} for n, rows in lists.items() for row in rows]
    if len(lists) == 1:
        return list[Row](*lists.values())
    objects = [value for value in document.values() if isinstance(value, dict)]
    return read_document(objects[0]) if len(objects) == 1 and not lists else None


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _list_samples(result: list[Any]) -> Iterator[Row]:
    for series in result:
        samples = series["values"] if "values" in series else [series["value"]]
        for time, value in samples:
            yield {**series["metric"], "ts": time, "value": _finite(value)}


def _finite(text: str) -> float | None:
    number = float(text)
    return number if abs(number) != float("inf") and number == number else None


def _number(row: Row) -> Row:
    """A row whose value, if it is text that is a number, is the number."""
    value = row.get("value")
    try:
        return {**row, "value": float(value)} if isinstance(value, str) else row
    except ValueError:
        return row
