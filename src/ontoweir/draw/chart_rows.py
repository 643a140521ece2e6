"""Answers as lines over time: a number of each, such as the average of an hour."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ontoweir.draw.draw_chart import COLOURS, Chart, Series

if TYPE_CHECKING:
    import pyarrow as pa

_SEVERAL = 4
"""Of more answers than these it is asked whether they are told apart by a column."""
_HIDDEN = ("at", "until", "op", "multiplicity")


def list_numbers(rows: "pa.Table") -> list[str]:
    """The columns of numbers that can be charted."""
    import pyarrow.types as pt

    return [
        f.name
        for f in rows.schema
        if f.name not in _HIDDEN
        and (pt.is_integer(f.type) or pt.is_floating(f.type) or pt.is_decimal(f.type))
    ]


def guess_number(rows: "pa.Table", numbers: Sequence[str]) -> str | None:
    """Which of some columns of numbers is charted where nobody says: the first one with fractions,
    else the first whole number, which may be a key (None: there are none).

    >>> import pyarrow as pa
    >>> guess_number(pa.table({"device": [1], "n": [2], "mean": [0.5]}), ["device", "n", "mean"])
    'mean'
    """
    import pyarrow.types as pt

    whole = {n for n in numbers if pt.is_integer(rows.schema.field(n).type)}
    return next(iter([*(n for n in numbers if n not in whole), *numbers]), None)


def chart_rows(
    rows: "pa.Table", name: str, value: str, groups: Collection[str] | None = None
) -> Chart | None:
    """Chart a number of answers over time (None: there is no answer that has both).

    Time is the first column with times, such as the hour of a bucket, else `at`; there is a line
    for each combination of `groups`, and those with the most answers are drawn. Where nobody says
    `groups`, columns that tell most answers apart, as names of events do, make no lines.

    Args:
        rows: answers.
        name: of the query, for the title.
        value: a column of numbers.
        groups: columns that tell lines apart (None: all that are no numbers).
    """
    times = [f.name for f in rows.schema if str(f.type).startswith("timestamp")]
    time = next((n for n in times if n not in _HIDDEN), "at")
    if time not in rows.column_names:
        return None
    apart = set(rows.column_names) - set(list_numbers(rows)) if groups is None else groups
    others = [n for n in rows.column_names if n in apart and n not in (*_HIDDEN, *times)]
    timed = [row for row in rows.to_pylist() if row[time] is not None and row[value] is not None]
    timed = [row for row in timed if row.get("op") != "-"]
    if not timed:
        return None
    if groups is None:
        others = _leave_single(others, timed)
    lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in timed:
        line = ", ".join(_name(row[n]) for n in others) or value
        lines[line].append((_seconds(row[time]), float(row[value])))
    drawn = sorted(lines, key=lambda n: (-len(lines[n]), n))[:COLOURS]
    few = f"the {len(drawn)} with the most answers of {len(lines):,}"
    return Chart(
        name if len(drawn) == len(lines) else f"{name}: {few}",
        f"{value} of {rows.num_rows:,} answers over {time}; a line for each "
        f"{' and '.join(others) or 'query'}.",
        f"{time} (UTC)",
        value,
        tuple(
            Series(line, tuple(sorted(lines[line])), n, dots=len(lines[line]) <= 60)
            for n, line in enumerate(sorted(drawn))
        ),
        times=True,
    )


def _leave_single(groups: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns without those, one by one, that have the most values, while more than half of several
    rows would be alone in a line."""
    kept = list(groups)
    while kept and len(rows) > _SEVERAL:
        if 2 * len({tuple(str(row[n]) for n in kept) for row in rows}) <= len(rows):
            break
        kept.remove(max(kept, key=lambda n: len({str(row[n]) for row in rows})))
    return kept


def _name(value: Any) -> str:
    """A value in a legend: of an IRI its last part."""
    text = str(value)
    if "://" not in text:
        return text
    return unquote(text.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1])


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
