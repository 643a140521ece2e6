"""Find a time that is in several columns: a date and a time of day, or year, month, day, hour."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from ontoweir.mappings.model.catalog import FloatType, IntType, StringType, TimeFormat
from ontoweir.runtime.times.read_times import read_times
from ontoweir.runtime.times.suggest_format import find_turned, suggest_format

if TYPE_CHECKING:
    import pyarrow as pa

    from ontoweir.mappings.model.catalog import ColumnType

_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?: ?[AaPp][Mm])?")
_PARTS = (
    ("Y", "years", {"year", "yr", "yyyy", "yy", "jahr", "annee", "ano", "anno", "jaar"}),
    ("m", "months", {"month", "mon", "mo", "mm", "monat", "mois", "mes", "mese", "maand"}),
    ("d", "days", {"day", "dy", "dd", "tag", "jour", "dia", "giorno", "dag", "mday"}),
    ("H", "hours", {"hour", "hr", "hh", "stunde", "heure", "hora", "ora", "uur"}),
    ("M", "minutes", {"minute", "min", "mi", "mn", "mm"}),
    ("S", "seconds", {"second", "sec", "ss", "sekunde"}),
)
"""Directives of patterns, what a column of each has, and what such a column is called."""
_DAYS = 3
"""Of them the first, which make a day; a year alone, or with a month, may be no time of rows."""
_WITH_ZERO = re.compile(r"[0-9]{1,4}\.0")
"""A whole number, as pandas writes those of columns in which some are missing."""
T = TypeVar("T")
_SEEN = 1000
"""So many values say how times are written."""


def join_clock(
    types: "Sequence[tuple[str, ColumnType]]", rows: "pa.Table", day: str
) -> Iterator[tuple[TimeFormat, list[int], str]]:
    """Times of which a column has the day, and one other the time of day: how they are written, the
    times in µs, and why.

    Args:
        types: of the columns.
        rows: of a file of text.
        day: the column of days.
    """
    import pyarrow as pa

    if rows.column(day).null_count:
        return
    days = [str(v) for v in rows.column(day).to_pylist()]
    for name, kind in types:
        column = rows.column(name)
        if name == day or not isinstance(kind, StringType) or column.null_count:
            continue
        clocks = column.to_pylist()
        if not all(_CLOCK.fullmatch(c) for c in clocks):
            continue
        parts = [pa.chunked_array([pa.array(days)]), column]
        texts = spread([f"{d} {c}" for d, c in zip(days, clocks, strict=True)])
        form = suggest_format(texts)
        for wanted in ("iso", form):
            written = TimeFormat(wanted or "iso", (day, name))
            times, wrong = read_times(parts, written)
            if wrong is None:
                turned = tell_turned(texts, wanted or "iso")
                why = f"{day} has days, and {name} times of day{turned}"
                yield written, times.to_pylist(), why


def tell_turned(texts: Sequence[str], form: str) -> str:
    """What to say where day and month may be the other way round (else nothing)."""
    turned = find_turned(texts, form)
    return "" if turned is None else f"; they may as well be {turned}: see which"


def join_parts(
    types: "Sequence[tuple[str, ColumnType]]",
    rows: "pa.Table",
    least: int,
    read_texts: "Callable[[str], pa.ChunkedArray | None]",
) -> tuple[TimeFormat, list[int], str] | None:
    """The same of a year, a month and a day, and what there is of hour, minute and second, each in
    a column of its own that is called so (None: there are none).

    Args:
        types: of the columns.
        rows: of a file.
        least: so many of them there are; 1: a year is enough.
        read_texts: what is written in a column of the file (None: it is no text), as 1950.0 may be
            for the year 1950.
    """
    import pyarrow as pa

    found: list[tuple[str, str, str]] = []
    zeros: dict[str, pa.ChunkedArray] = {}
    for n, kind in types:
        if isinstance(kind, FloatType) and _is_part(n) and (texts := read_texts(n)) is not None:
            cells = texts.to_pylist()
            if cells and all(cell is not None and _WITH_ZERO.fullmatch(cell) for cell in cells):
                zeros[n] = texts
    for directive, said, called in _PARTS:
        taken = {column for _, _, column in found}
        kinds = (IntType, StringType)
        whole = (n for n, k in types if n not in taken and (n in zeros or isinstance(k, kinds)))
        # of names that differ in their case, as MM and mm do, each has its place behind it
        name = next((n for n in whole if n.strip().lower().rstrip("0123456789") in called), None)
        if name is None:
            break
        found.append((directive, said, name))
    columns = [zeros.get(name, rows.column(name)) for _, _, name in found]
    if len(found) < least or any(column.null_count for column in columns):
        return None
    rows_seen = min(map(len, columns), default=0)
    columns = [column.slice(0, rows_seen) for column in columns]
    form = " ".join(f"%{d}{'.0' if name in zeros else ''}" for d, _, name in found)
    written = TimeFormat(form, tuple(name for _, _, name in found))
    times, wrong = read_times([column.cast(pa.string()) for column in columns], written)
    if wrong is not None:
        return None
    why = ", ".join(f"{name} has {said}" for _, said, name in found)
    return written, times.to_pylist(), why


def _is_part(name: str) -> bool:
    """Whether a column is called like a part of a time."""
    return any(name.strip().lower() in called for _, _, called in _PARTS)


def spread(values: "list[T]") -> "list[T]":
    """Some of the values, from the first to the last."""
    return [*values[:: -(-len(values) // _SEEN)], *values[-1:]]
